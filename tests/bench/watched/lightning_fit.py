"""The same with Lightning's Trainer: it stamps at the end of its `optimizer_step`."""

from typing import Any

import lightning
import torch
from common import Stopwatch, arguments, loader, loss_of, network

told = arguments("--adapter")
stopwatch = Stopwatch()


class Module(lightning.LightningModule):
    def __init__(self) -> None:
        super().__init__()
        self.network = network(told.size)

    def training_step(self, batch: Any, _index: int) -> torch.Tensor:
        inputs, targets = batch
        return loss_of(self.network(inputs), targets)

    def configure_optimizers(self) -> torch.optim.Optimizer:
        return torch.optim.SGD(self.parameters(), lr=0.01)

    def optimizer_step(self, *given: Any, **named: Any) -> None:
        super().optimizer_step(*given, **named)
        stopwatch.stamp()


callbacks: list[Any] = []
if told.adapter:
    from scalestudy.adapters.lightning import ScalestudyCallback

    callbacks.append(ScalestudyCallback())
trainer = lightning.Trainer(
    accelerator="cpu",
    devices=1,
    max_epochs=1,
    logger=False,
    enable_checkpointing=False,
    enable_progress_bar=False,
    enable_model_summary=False,
    callbacks=callbacks,
)
trainer.fit(Module(), loader(told.size, told.steps, stopwatch))
stopwatch.write(told.stopwatch)
