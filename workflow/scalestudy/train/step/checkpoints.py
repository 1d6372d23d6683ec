"""Checkpoints as training scripts write them, so that their cost is part of the step in which they are written.

With one process or DDP, rank 0 writes a file and the others continue. With FSDP, and with every strategy if
checkpoints are asynchronous, all ranks take part in torch's distributed checkpoint. The checkpoints are written
only to measure their cost: a run removes them at its end.
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
            # Importing it is slow and most runs do not need it; no timed step should wait for the import.
            self._dcp = importlib.import_module("torch.distributed.checkpoint")
            importlib.import_module("torch.distributed.checkpoint.state_dict")
        # Background coordination must not mix with the messages of training.
        grouped = self._distributed and dist.is_initialized()
        self._group = dist.new_group(backend="gloo") if grouped else None
        self._among = self._whom_to_ask()
        self._pending: Future[object] | None = None
        self._written: list[Path] = []

    def save(self, step: int, model: nn.Module, optimizer: torch.optim.Optimizer) -> None:
        """Write a checkpoint of this step. All ranks must call this with the same step."""
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
        """Wait for unfinished checkpoints, then remove all."""
        self._wait()
        if self._rank == 0:
            shutil.rmtree(self._folder, ignore_errors=True)

    def _save_distributed(self, step: int, model: nn.Module, optimizer: torch.optim.Optimizer) -> None:
        self._wait()  # one at a time: each waits for the one before, as in a training script
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
        """Return arguments for a distributed checkpoint: the ranks that write it, or a flag for a single process.

        torch 2.8 detects a single process by itself and has no such argument.
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
