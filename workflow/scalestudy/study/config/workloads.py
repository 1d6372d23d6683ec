"""What is trained: model, data, optimizer, batch. `train/` builds it.

The classes hold numbers only, so that a plan can be made and refused without importing torch.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from scalestudy.study.config.datasets import Data
from scalestudy.study.config.entry import Entry
from scalestudy.study.config.models import HuggingFaceModel, Model
from scalestudy.study.config.optimizers import Optimizer


class Workload(Entry):
    """What is trained: model, data, optimizer, batch, and which scaling questions are asked of it."""

    model: Model
    """Network; `type` names it."""
    data: Data
    """Training and validation data; `type` names it."""
    optimizer: Optimizer
    """Optimizer; `type` names it."""
    batch_size: int = Field(ge=1)
    """Samples per optimizer step of the base case, that is of one process. Strong scaling keeps it as the
    global batch and divides it among the ranks; weak scaling keeps it as the batch of every rank."""
    epochs: int = Field(ge=0)
    """Passes over the training data; validation follows each. 0 asks for step times only: nothing is validated,
    and a launch ends when it has measured enough (`measure`)."""
    target_accuracy: float | None = Field(None, gt=0, le=1)
    """Validation accuracy to be reached: the report gives the training time to it and the speedup of that."""
    scaling: tuple[Literal["strong", "weak"], ...] = Field(("strong",), min_length=1)
    """`strong` (global batch fixed), `weak` (batch per rank fixed), or both."""

    @model_validator(mode="after")
    def _fit_together(self) -> Workload:
        if not self.model.takes & self.data.gives:
            chosen = f" with task: {self.model.task}" if isinstance(self.model, HuggingFaceModel) else ""
            raise ValueError(
                f"data.type: {self.model.type}{chosen} takes {_listed(self.model.takes)}; {self.data.type} gives"
                f" {_listed(self.data.gives)}"
            )
        if self.optimizer.decay != "none" and not self.epochs:
            raise ValueError("optimizer.decay: epochs: 0 has no end to decay towards; set decay: none")
        return self


def _listed(kinds: frozenset[str]) -> str:
    return " or ".join(sorted(kinds))
