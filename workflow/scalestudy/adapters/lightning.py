"""For Lightning's Trainer: each validation during fitting ends an epoch of the study.

    trainer = L.Trainer(..., callbacks=[ScalestudyCallback(accuracy="val_acc")])

It is a callback for the package that the script has imported, `lightning` or `pytorch_lightning`.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Mapping
from typing import Any

from scalestudy.adapters.metrics import ACCURACY, LOSS, TRAIN_LOSS, Metrics
from scalestudy.recorder import Recorder

if "pytorch_lightning" in sys.modules and "lightning.pytorch" not in sys.modules:
    from pytorch_lightning import Callback
else:
    try:
        from lightning.pytorch import Callback
    except ModuleNotFoundError:
        from pytorch_lightning import Callback

USUAL = {
    ACCURACY: ("val_acc", "val_accuracy", "val/acc", "val/accuracy", "valid_acc"),
    LOSS: ("val_loss", "val/loss", "valid_loss"),
    TRAIN_LOSS: ("train_loss_epoch", "train_loss", "train/loss_epoch", "train/loss"),
}


class ScalestudyCallback(Callback):
    """Reports validation accuracy and losses, and the time in which batches are copied to the device.

    accuracy, loss, train_loss: names of metrics in `self.log`. For a metric that was logged without `sync_dist`,
    the mean over ranks is reported.
    """

    def __init__(
        self, accuracy: str | None = None, loss: str | None = None, train_loss: str | None = None
    ) -> None:
        self._recorder = Recorder()
        self._metrics = Metrics("ScalestudyCallback", USUAL, accuracy=accuracy, loss=loss, train_loss=train_loss)
        self._validated: dict[str, float] = {}

    def setup(self, trainer: Any, pl_module: Any, stage: str) -> None:
        """Time the copies of training batches to the device."""
        if not self._recorder.active or stage != "fit":
            return
        transfer = trainer.strategy.batch_to_device

        @functools.wraps(transfer)
        def timed(*arguments: Any, **named: Any) -> Any:
            if not trainer.training:
                return transfer(*arguments, **named)
            with self._recorder.part("h2d"):
                return transfer(*arguments, **named)

        trainer.strategy.batch_to_device = timed

    def teardown(self, trainer: Any, pl_module: Any, stage: str) -> None:
        """Restore the strategy."""
        vars(trainer.strategy).pop("batch_to_device", None)

    def on_train_batch_start(self, trainer: Any, pl_module: Any, *arguments: Any) -> None:
        """Report a validation within an epoch, after which training continues."""
        self._epoch({})

    def on_validation_end(self, trainer: Any, pl_module: Any) -> None:
        """Keep the validation metrics, except the sanity check's before training. Collective over all ranks."""
        if self._recorder.active and trainer.training is False and trainer.state.fn == "fit":
            if trainer.sanity_checking:
                return
            found = self._over_ranks(trainer, pl_module)
            self._metrics.refuse_missing("accuracy", "loss")
            self._validated = {name: value for name, value in found.items() if name != TRAIN_LOSS}

    def on_train_epoch_end(self, trainer: Any, pl_module: Any) -> None:
        """Report the epoch with its training loss, which is known only here. Collective over all ranks."""
        if self._recorder.active and self._validated:
            found = self._over_ranks(trainer, pl_module)
            self._epoch({name: value for name, value in found.items() if name == TRAIN_LOSS})

    def on_fit_end(self, trainer: Any, pl_module: Any) -> None:
        """Report a last validation, if training ended within an epoch."""
        self._epoch({})

    def _epoch(self, trained: Mapping[str, float]) -> None:
        if self._validated:
            self._recorder.epoch(**trained, **self._validated)
            self._validated = {}

    def _over_ranks(self, trainer: Any, pl_module: Any) -> dict[str, float]:
        """Return each number of an epoch, as the mean over the ranks that have it."""
        mine = self._metrics.of(trainer.callback_metrics)
        if trainer.world_size == 1:
            return mine
        names = (ACCURACY, LOSS, TRAIN_LOSS)
        gathered = pl_module.all_gather([mine.get(name, float("nan")) for name in names])
        means = {name: float(values.nanmean()) for name, values in zip(names, gathered)}
        return {name: mean for name, mean in means.items() if mean == mean}
