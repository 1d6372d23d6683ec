"""Blocks with and without gradient synchronisation, and for DDP also blocks that read its logger at every step.

The difference of the first two is the total cost of synchronisation in a step. The logger shows the part of it
that is visible as communication after the backward pass. It has blocks of its own, so that reading it does not
slow the other blocks.
"""

import contextlib
from collections.abc import Iterator
from typing import Any

import numpy as np
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from scalestudy.train.loop import Trainer
from scalestudy.train.probes.rounds import Kind, run_rounds

SETTLE_STEPS = 3
FIELDS = ("backward_compute_time", "backward_comm_time", "backward_compute_comm_overlap_time")
USUAL_SAMPLE_RATE = 100  # torch's own


def probe_ddp(trainer: Trainer, *, logger: bool) -> None:
    """Record blocks `probe-sync` and `probe-no-sync`, and `probe-logger` blocks if `logger` is true.

    With a communication hook, or several synchronisations per step, the logger's times are not those of a step.
    """
    ddp = trainer.stepper.model
    assert isinstance(ddp, DistributedDataParallel)
    kinds = [Kind("probe-sync"), Kind("probe-no-sync", around=ddp.no_sync)]
    if logger:
        log = _Logger(ddp)
        kinds.append(Kind("probe-logger", around=log.sampling, after_step=log.read, ddp_s=log.rows))
    run_rounds(trainer, kinds, settle=SETTLE_STEPS)


def bucket_bytes(trainer: Trainer) -> list[int]:
    """Return the bytes of each gradient bucket as DDP reports them, before compression."""
    facts = _facts(trainer.stepper.model)
    sizes = facts.get("rebuilt_bucket_sizes") or facts.get("initial_bucket_sizes") or ""
    return [int(size) for size in str(sizes).replace(",", " ").split()]


def unused_parameter_bytes(trainer: Trainer) -> int | None:
    """Return the bytes of parameters without a gradient in the last step; None if DDP was not set to find them."""
    if not trainer.spec.ddp.find_unused_parameters:
        return None
    return int(_facts(trainer.stepper.model)["unused_parameter_size"])


def _facts(model: nn.Module) -> dict[str, Any]:
    """Return the data of DDP's logger for the last steps."""
    assert isinstance(model, DistributedDataParallel)
    facts: dict[str, Any] = model._get_ddp_logging_data()
    return facts


def probe_fsdp(trainer: Trainer) -> None:
    """Record blocks `probe-sync` and `probe-no-sync`.

    Without synchronisation FSDP omits the reduce-scatter of gradients. It still gathers the parameters, and the
    optimizer has nothing to do. So these blocks do not show the cost of the all-gathers. Each rank holds the
    gradients of the complete model in the meantime: room.py checks that they fit.
    """
    from torch.distributed.fsdp import FSDPModule  # already imported with FSDP; other strategies do not need it

    model = trainer.stepper.model
    assert isinstance(model, FSDPModule)
    run_rounds(
        trainer,
        [
            Kind("probe-sync"),
            Kind("probe-no-sync", around=lambda: trainer.strategy.no_sync(model)),
        ],
        settle=SETTLE_STEPS,
    )


def unit_bytes(trainer: Trainer) -> list[int]:
    """Return the bytes of the parameters of each FSDP unit."""
    from torch.distributed.fsdp import FSDPModule

    model = trainer.stepper.model
    assert isinstance(model, FSDPModule)
    units = [module for module in model.modules() if isinstance(module, FSDPModule)]
    if len(units) > 1:
        units.remove(model)  # the root's own parameters are few
    return [sum(p.numel() * p.element_size() for p in unit.parameters()) for unit in units]


class _Logger:
    """DDP's runtime statistics, in nanoseconds. Those of a step appear in the forward pass after it."""

    def __init__(self, ddp: DistributedDataParallel) -> None:
        self._ddp = ddp
        self._rows: list[list[float]] = []

    @contextlib.contextmanager
    def sampling(self) -> Iterator[None]:
        self._rows = []
        self._ddp._set_ddp_runtime_logging_sample_rate(1)
        try:
            yield
        finally:
            self._ddp._set_ddp_runtime_logging_sample_rate(USUAL_SAMPLE_RATE)

    def read(self) -> None:
        facts = _facts(self._ddp)
        self._rows.append([facts.get(field, np.nan) for field in FIELDS])

    def rows(self) -> np.ndarray:
        """Return seconds, one row per step, as read in the step after it. The last step's row is unknown."""
        seconds = np.array(self._rows, dtype=float) * 1e-9
        return np.vstack([seconds[1:], np.full((1, len(FIELDS)), np.nan)])
