"""Checkpoints as training scripts write them, so that their price is part of the step that pays it.

One process and DDP: rank 0 writes a file and the others go on. FSDP, and every strategy where it is to happen
while training goes on: torch's distributed checkpoint, in which every rank takes part. They are written to be
paid for: a launch removes them at its end.
"""

import importlib
import inspect
import shutil
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from torch import nn

from scalestudy.study.spec import TrainSpec


class Checkpoints:
    """Writes the state of a model and its optimizer, and keeps the last few."""

    def __init__(self, spec: TrainSpec, directory: Path, *, rank: int) -> None:
        self._folder = directory / "checkpoints"
        self._rank, self._kept, self._async = rank, spec.checkpoints_kept, spec.checkpoint_async
        self._distributed = (spec.strategy == "fsdp" or spec.checkpoint_async) and bool(
            spec.checkpoint_every_steps
        )
        if self._distributed:
            # It takes long to load, most runs do without it, and no step that is timed is to wait for it.
            self._dcp = importlib.import_module("torch.distributed.checkpoint")
            importlib.import_module("torch.distributed.checkpoint.state_dict")
        # What is agreed upon in the background must not come between the messages of training.
        grouped = self._distributed and dist.is_initialized()
        self._group = dist.new_group(backend="gloo") if grouped else None
        self._among = self._whom_to_ask()
        self._pending: Future[object] | None = None
        self._written: list[Path] = []

    def save(self, step: int, model: nn.Module, optimizer: torch.optim.Optimizer) -> None:
        """Write a checkpoint of this step; all ranks call it with the same step."""
        if self._distributed:
            self._save_distributed(step, model, optimizer)
        elif self._rank == 0:
            path = self._folder / f"step-{step}.pt"
            path.parent.mkdir(exist_ok=True)
            temporary = path.with_suffix(".tmp")
            torch.save({"step": step, "model": model.state_dict(), "optimizer": optimizer.state_dict()}, temporary)
            temporary.replace(path)
            self._remember(path)

    def close(self) -> None:
        """Wait for what is still being written, and remove what was."""
        self._wait()
        if self._rank == 0:
            shutil.rmtree(self._folder, ignore_errors=True)

    def _save_distributed(self, step: int, model: nn.Module, optimizer: torch.optim.Optimizer) -> None:
        self._wait()  # one at a time: the next waits for the one before, as it has to in a script
        dcp = self._dcp
        parameters, moments = dcp.state_dict.get_state_dict(model, optimizer)
        state: dict[str, Any] = {"model": parameters, "optimizer": moments, "step": step}
        path = self._folder / f"step-{step}"
        if self._async:
            self._pending = dcp.async_save(state, checkpoint_id=path, **self._among)
        else:
            dcp.save(state, checkpoint_id=path, **self._among)
        if self._rank == 0:
            self._remember(path)

    def _whom_to_ask(self) -> dict[str, Any]:
        """Arguments of a distributed checkpoint: the ranks that write it, or that there is one process only.

        Torch 2.8 sees the latter by itself, and has no argument that says so.
        """
        if dist.is_initialized():
            return {"process_group": self._group}
        if not self._distributed:
            return {}
        save = self._dcp.async_save if self._async else self._dcp.save
        return {"no_dist": True} if "no_dist" in inspect.signature(save).parameters else {}

    def _wait(self) -> None:
        if self._pending is not None:
            self._pending.result()
            self._pending = None

    def _remember(self, path: Path) -> None:
        self._written.append(path)
        for old in self._written[: -self._kept]:
            shutil.rmtree(old) if old.is_dir() else old.unlink()
        self._written = self._written[-self._kept :]
