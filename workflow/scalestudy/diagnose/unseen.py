"""Causes that cannot be judged for a script because their evidence was not observed, and what would show it.

Only for a user's own script: our own training is observed completely. Every cause of `causes/` is in UNSEEN or in
ALWAYS_SEEN. Lines and options are quoted as they are written in a script or a study.
"""

from __future__ import annotations

from collections.abc import Callable
from math import isnan
from typing import Any

from scalestudy.analyse.communication.collectives import BUS_BANDWIDTH
from scalestudy.analyse.costs.buckets import BUCKET_CAP_MIB
from scalestudy.analyse.point.rows import in_most_launches, mostly_unsteady
from scalestudy.diagnose.case import Case
from scalestudy.diagnose.findings import NotJudged
from scalestudy.diagnose.imported import not_judged_of
from scalestudy.diagnose.scripts import LOGGING, has_place, is_unwrapped
from scalestudy.registry.codes import LateBy, Steadiness, Wrapper
from scalestudy.registry.words.percent import percent
from scalestudy.study.config.commands import BATCH

Missing = tuple[str, str] | None
"""(what was not observed, what would show it); None if the cause was judged."""


def not_judged(case: Case) -> tuple[NotJudged, ...]:
    """Causes that could not be judged, grouped by the line that would show them; empty for our own training."""
    if case.script is None or not case.point["launches_ok"]:
        return ()
    if case.study.imported:
        return not_judged_of(tuple(UNSEEN))
    found: dict[tuple[str, str], list[str]] = {}
    for cause, look in UNSEEN.items():
        missing = look(case)
        if missing is not None:
            found.setdefault(missing, []).append(cause)
    return tuple(
        NotJudged(causes=tuple(causes), unseen=unseen, shown_by=shown_by)
        for (unseen, shown_by), causes in found.items()
    )


def _lacks(case: Case, column: str) -> bool:
    value: Any = case.point[column]
    return isnan(value)


def _input(case: Case) -> Missing:
    if not _lacks(case, "data_time_s"):
        return None
    return "no DataLoader was observed in the training", "`for batch in rec.steps(loader):`"


def _logging(case: Case) -> Missing:
    if not _lacks(case, "logging_time_s"):
        return None
    outside = case.point["remainder_time_s"] / case.point["step_time_s"]
    what = "logging and communication between ranks" if is_unwrapped(case) else "logging"
    said = f"{percent(outside)} of a step is outside the observed parts, {what} included"
    return said, f"`{LOGGING}` around the lines that log"


def _checkpoints(case: Case) -> Missing:
    if case.knobs.checkpoint_every_steps is not None or case.point["checkpoint_time_s"] > 0:
        return None
    few = "fewer than three calls of torch.save were observed"
    named = '`with rec.part("checkpoint"):` around any other function that writes them'
    assert case.script is not None
    return (few, named) if case.script.run_to_end else (few, f"`run_to_end: true`, or {named}")


def _samples(case: Case) -> Missing:
    if not _lacks(case, "samples_excess"):
        return None
    return "the number of samples per rank was not observed", "`rec.samples(len(batch))`"


def _probes(case: Case) -> str:
    """The options with which communication is measured in a script."""
    assert case.script is not None
    wanted = []
    if case.script.run_to_end:
        wanted.append("`run_to_end: false`")
    if not case.study.measure.probe_rounds:
        wanted.append("`measure: {probe_rounds: 3}`")
    return " and ".join(wanted) or "a script that keeps training until it is stopped"


def _network(case: Case) -> Missing:
    if not _lacks(case, BUS_BANDWIDTH) or case.point["nodes"] > 1:
        return None
    return "communication was not measured", _probes(case)


def _straggler(case: Case) -> Missing:
    if case.point["late_by"] != LateBy.NONE:
        return None
    if case.point["wrapper"] == Wrapper.DDP:
        return "communication was not measured", _probes(case)
    return (
        "ranks wait for each other in all parts of a step, and only with DDP can this be measured separately",
        "a variant whose `arguments` wrap the model in DistributedDataParallel",
    )


def _accumulation(case: Case) -> Missing:
    assert case.script is not None
    if case.script.batches_per_step == 1 or "accumulation_steps" in case.knobs.model_fields_set:
        return None
    return (
        "it was not observed which backward passes synchronise gradients",
        "a variant whose `arguments` wrap the model in DistributedDataParallel",
    )


def _unused(case: Case) -> Missing:
    if not case.knobs.ddp.find_unused_parameters or not _lacks(case, "unused_parameter_bytes"):
        return None
    return (
        "DDP did not report whether any parameter had no gradient",
        "longer runs: larger `measure.min_steps` and `measure.max_steps`",
    )


def _buckets(case: Case) -> Missing:
    usual = case.knobs.ddp.bucket_cap_mb == BUCKET_CAP_MIB
    return None if usual or case.point["wrapper"] != Wrapper.DDP else _network(case)


def _buffers(case: Case) -> Missing:
    sends = case.point["wrapper"] == Wrapper.DDP and case.knobs.ddp.broadcast_buffers
    if not (sends and case.point["buffer_bytes"] > 0 and _lacks(case, "buffer_broadcast_s")):
        return None
    return "communication was not measured", _probes(case)


def _fsdp(case: Case) -> Missing:
    measured = (case.peers["strategy"] == "ddp") & case.peers["step_time_s"].notna()
    if case.point["strategy"] != "fsdp" or measured.any():
        return None
    return "no DDP variant was measured at this scale", "a variant with `strategy: ddp` and its `arguments`"


def _overhead(case: Case) -> Missing:
    if not _lacks(case, "overhead_s"):
        return None
    unseen = "one process at the batch per rank was not measured"
    if not has_place(case, *BATCH):
        return unseen, "`{batch_per_rank}` in the command"
    return unseen, "`report: {overhead_reference: true}`"


def _small_steps(case: Case) -> Missing:
    if case.point["scaling"] == "strong":
        return _overhead(case)
    assert case.script is not None
    if any(way == "strong" for way in case.script.scaling):
        return None  # the rows of strong scaling show it
    unseen = "one process was measured at a single batch size"
    if not has_place(case, *BATCH):
        return unseen, "`{batch_per_rank}` in the command and `scaling: [strong, weak]`"
    return unseen, "`scaling: [strong, weak]`"


def _memory(case: Case) -> Missing:
    if case.point["launches_memory_read"]:
        return None
    return (
        "memory was read fewer than eight times",
        "longer runs: larger `measure.min_steps` and `measure.max_steps`",
    )


def _accuracy(case: Case) -> Missing:
    if not _lacks(case, "validation_accuracy"):
        return None
    return "no accuracy was reported", "`rec.epoch(validation_accuracy=accuracy)` and `run_to_end: true`"


def _clock(case: Case) -> Missing:
    rises = case.point["steadiness"] == Steadiness.LEVEL_CHANGE and case.point["level_change"] > 0
    if not (rises and mostly_unsteady(case.point)) or in_most_launches(case.point, "launches_throttled"):
        return None
    host = "`grep MHz /proc/cpuinfo` on the host while the script runs"
    gpu = "`nvidia-smi --query-gpu=clocks.sm --format=csv --loop=1` while the script runs"
    return "steps became slower, and no clock was read", host if case.point["device"] == "cpu" else gpu


UNSEEN: dict[str, Callable[[Case], Missing]] = {
    "thermal": _clock,
    "input-bound": _input,
    "sync-logging": _logging,
    "checkpointing": _checkpoints,
    "imbalance": _samples,
    "straggler": _straggler,
    "transport": _network,
    "accum-no-nosync": _accumulation,
    "unused-params": _unused,
    "bucket-size": _buckets,
    "buffers": _buffers,
    "fsdp-overhead": _fsdp,
    "comm-bound": _overhead,
    "launch-bound": _small_steps,
    "memory-growth": _memory,
    "large-batch": _accuracy,
}
ALWAYS_SEEN = frozenset({"two-modes", "oversubscribed", "numa", "sync-bn", "memory-pressure", "fragmentation"})
"""From step times, threads and cores, layers, and PyTorch's own memory statistics."""
