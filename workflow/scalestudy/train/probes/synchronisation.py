"""Blocks with and without gradient synchronisation, and for DDP blocks in which its logger is read at every step.

The difference of the first two is what synchronisation really costs a step. The logger says what of it is visible
as communication after the backward pass; it has blocks of its own, so that reading it does not slow the others.
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
    """Record blocks `probe-sync` and `probe-no-sync`, and `probe-logger` where DDP's logger can be read.

    With a communication hook, or several synchronisations a step, the logger does not say what a step has.
    """
    ddp = trainer.stepper.model
    assert isinstance(ddp, DistributedDataParallel)
    kinds = [Kind("probe-sync"), Kind("probe-no-sync", around=ddp.no_sync)]
    if logger:
        log = _Logger(ddp)
        kinds.append(Kind("probe-logger", around=log.sampling, after_step=log.read, ddp_s=log.rows))
    run_rounds(trainer, kinds, settle=SETTLE_STEPS)


def bucket_bytes(trainer: Trainer) -> list[int]:
    """Bytes of each gradient bucket as DDP itself says, before compression."""
    facts = _facts(trainer.stepper.model)
    sizes = facts.get("rebuilt_bucket_sizes") or facts.get("initial_bucket_sizes") or ""
    return [int(size) for size in str(sizes).replace(",", " ").split()]


def unused_parameter_bytes(trainer: Trainer) -> int | None:
    """Bytes of parameters that got no gradient in the last step; None where DDP was not told to look for them."""
    if not trainer.spec.ddp.find_unused_parameters:
        return None
    return int(_facts(trainer.stepper.model)["unused_parameter_size"])


def _facts(model: nn.Module) -> dict[str, Any]:
    """What DDP's logger says of the last steps."""
    assert isinstance(model, DistributedDataParallel)
    facts: dict[str, Any] = model._get_ddp_logging_data()
    return facts


def probe_fsdp(trainer: Trainer) -> None:
    """Record blocks `probe-sync` and `probe-no-sync`.

    Without synchronisation FSDP leaves out the reduce-scatter of gradients; parameters are gathered all the same,
    and the optimizer has nothing to do. What the gathers cost has no blocks to be told by. Each rank holds the
    gradients of the whole model meanwhile: room.py says whether it can.
    """
    from torch.distributed.fsdp import FSDPModule  # there already; the other strategies do without it

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
    """Bytes of the parameters of each unit of FSDP."""
    from torch.distributed.fsdp import FSDPModule

    model = trainer.stepper.model
    assert isinstance(model, FSDPModule)
    units = [module for module in model.modules() if isinstance(module, FSDPModule)]
    if len(units) > 1:
        units.remove(model)  # what is left of it in the root is small
    return [sum(p.numel() * p.element_size() for p in unit.parameters()) for unit in units]


class _Logger:
    """DDP's runtime statistics: nanoseconds; those of a step appear in the forward pass after it."""

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
        """Seconds, one row a step: what was read in the step after it; that of the last is not known."""
        seconds = np.array(self._rows, dtype=float) * 1e-9
        return np.vstack([seconds[1:], np.full((1, len(FIELDS)), np.nan)])
