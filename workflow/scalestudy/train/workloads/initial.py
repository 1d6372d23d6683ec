"""Models that set their parameters after all of their modules were constructed, one by one and by name."""

from __future__ import annotations

from torch import Tensor, nn


class InitialisedByName(nn.Module):
    """A model whose parameters get their final initial values by name, in the order of `named_parameters`."""

    def initialise_parameter(self, name: str, parameter: Tensor) -> bool:
        """Set a whole parameter in place, from torch's current seed; False where its module's values stay.

        parameter: of the shape that the model's own one has; it need not belong to the model.
        """
        raise NotImplementedError

    def initialise(self) -> None:
        """Set all parameters; called at the end of the constructor."""
        for name, parameter in self.named_parameters():
            self.initialise_parameter(name, parameter)
