"""For transformers.Trainer: each evaluation ends an epoch of the study.

trainer = Trainer(..., callbacks=[ScalestudyCallback()])
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from typing import Any

from transformers import TrainerCallback

from scalestudy.adapters.metrics import ACCURACY, LOSS, TRAIN_LOSS, Metrics
from scalestudy.recorder import Recorder

USUAL = {ACCURACY: ("eval_accuracy", "eval_acc"), LOSS: ("eval_loss",), TRAIN_LOSS: ("loss",)}


class ScalestudyCallback(TrainerCallback):
    """Reports validation accuracy and losses, and the time of logging.

    accuracy, loss: names of metrics in `compute_metrics` or the Trainer, such as `eval_accuracy`.
    """

    def __init__(self, accuracy: str | None = None, loss: str | None = None) -> None:
        self._recorder = Recorder()
        self._metrics = Metrics(
            "ScalestudyCallback", USUAL, accuracy=_evaluated(accuracy), loss=_evaluated(loss), train_loss=None
        )
        self._logging = contextlib.ExitStack()
        self._evaluated = False
        self._last_step = 0
        self._train_loss: dict[str, float] = {}

    def on_step_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Check the metrics after all evaluations of a step; each of several data sets has its own evaluation."""
        self._refuse()

    def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Start timing the logging, if this step logs."""
        if control.should_log:
            self._logging.enter_context(self._recorder.part("logging"))

    def on_log(
        self, args: Any, state: Any, control: Any, logs: Mapping[str, Any] | None = None, **kwargs: Any
    ) -> None:
        """Stop timing the logging: this callback is the last, so all others have logged."""
        self._logging.close()
        if self._recorder.active and logs and "loss" in logs:
            self._train_loss = {TRAIN_LOSS: float(logs["loss"])}

    def on_evaluate(self, args: Any, state: Any, control: Any, metrics: Any = None, **kwargs: Any) -> None:
        """End an epoch of the study. All ranks have the same metrics."""
        self._logging.close()
        if not self._recorder.active or not metrics:
            return
        self._evaluated = True
        found = self._metrics.of(metrics)
        if found and state.global_step > self._last_step:  # neither before training nor a second time after it
            self._last_step = state.global_step
            self._recorder.epoch(**self._train_loss, **found)
            self._train_loss = {}

    def on_train_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Check the metrics a last time."""
        self._logging.close()
        self._refuse()

    def _refuse(self) -> None:
        if self._evaluated:
            self._evaluated = False
            self._metrics.refuse_missing("accuracy", "loss")


def _evaluated(name: str | None) -> str | None:
    """Return the Trainer's name of a metric of compute_metrics."""
    return f"eval_{name}" if name and not name.startswith("eval_") else name
