"""Models that initialise their parameters by name after all of their modules were constructed."""

from __future__ import annotations

from torch import Tensor, nn


class InitialisedByName(nn.Module):
    """A model whose parameters get their final initial values by name, in the order of `named_parameters`."""

    def initialise_parameter(self, name: str, parameter: Tensor) -> bool:
        """Set a complete parameter in place, from torch's current seed. Returns False if it keeps its module's
        values.

        parameter: has the shape of the model's own parameter, but need not belong to the model.
        """
        raise NotImplementedError

    def initialise(self) -> None:
        """Set all parameters. Called at the end of the constructor."""
        for name, parameter in self.named_parameters():
            self.initialise_parameter(name, parameter)
