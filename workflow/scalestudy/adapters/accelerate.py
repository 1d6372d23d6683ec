"""For accelerate.Accelerator: each call of `accelerator.log` with a validation metric ends an epoch.

accelerator = Accelerator(log_with=[ScalestudyTracker()])
accelerator.init_trackers("name")
accelerator.log({"accuracy": accuracy})
accelerator.end_training()
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from accelerate.tracking import GeneralTracker

from scalestudy.adapters.metrics import ACCURACY, LOSS, TRAIN_LOSS, Metrics
from scalestudy.recorder import Recorder

USUAL = {
    ACCURACY: ("accuracy", "eval_accuracy", "val_accuracy", "validation_accuracy"),
    LOSS: ("eval_loss", "val_loss", "validation_loss"),
    TRAIN_LOSS: ("train_loss", "loss"),
}


class ScalestudyTracker(GeneralTracker):
    """Reports validation accuracy and losses of `accelerator.log`.

    accuracy, loss, train_loss: names in `accelerator.log`. The numbers are those of the main process, so compute
    them from values gathered over ranks (`accelerator.gather_for_metrics`).
    """

    name = "scalestudy"
    requires_logging_directory = False

    def __init__(
        self, accuracy: str | None = None, loss: str | None = None, train_loss: str | None = None
    ) -> None:
        super().__init__()
        self._recorder = Recorder()
        self._metrics = Metrics("ScalestudyTracker", USUAL, accuracy=accuracy, loss=loss, train_loss=train_loss)
        self._train_loss: dict[str, float] = {}

    @property
    def tracker(self) -> Recorder:
        """Return the recorder, as the underlying tracker."""
        return self._recorder

    def log(self, values: Mapping[str, Any], step: int | None = None, **kwargs: Any) -> None:
        """End an epoch if there is a validation metric; keep a training loss alone for the next epoch's end."""
        if not self._recorder.active:
            return
        found = self._metrics.of(values)
        if set(found) & {ACCURACY, LOSS}:
            self._recorder.epoch(**{**self._train_loss, **found})
            self._train_loss = {}
        else:
            self._train_loss = found or self._train_loss

    def finish(self) -> None:
        """Raise ValueError if a given name was never logged."""
        if self._recorder.active:
            self._metrics.refuse_missing("accuracy", "loss", "train_loss")
