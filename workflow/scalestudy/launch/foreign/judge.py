"""Checks of a script's run that ended normally: whether steps were seen, on the planned ranks and batches."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from pathlib import Path

from scalestudy.launch.foreign.files import Process
from scalestudy.launch.foreign.gather import usual_samples
from scalestudy.launch.foreign.start import ATTACHED
from scalestudy.study.spec import CommandSpec

NO_STEP = (
    "no training step was seen: no optimizer of torch.optim made a step. A script that updates its parameters"
    " itself, or with other optimizers, must mark the end of its steps (scalestudy.Recorder). A script that trains"
    " in another process must pass PYTHONPATH and SCALESTUDY_ATTACH on to it; env -i and containers do not"
)
OTHER_BATCH = "other batch"
"""Kind of the warning about a different batch size."""


def flaw(spec: CommandSpec, directory: Path, processes: Sequence[Process]) -> str | None:
    """Why the run is not a valid measurement, as a sentence; None where it is valid."""
    if reason := not_seen(spec, directory, processes) or _other_batch(spec, processes):
        return reason
    equal = "" if spec.allow_equal_batches else equal_batches(processes)
    if not equal:
        return None
    return (
        f"{equal}. With `allow_equal_batches: true` in the workload, or with `--allow-equal-batches` for a script"
        " on the command line, such runs are accepted"
    )


def not_seen(spec: CommandSpec, directory: Path, processes: Sequence[Process]) -> str | None:
    """Why the steps of the script were not seen; None where they were."""
    return _not_attached(spec, directory, processes) or _other_ranks(spec, processes) or _no_step(processes)


def _not_attached(spec: CommandSpec, directory: Path, processes: Sequence[Process]) -> str | None:
    if processes:
        return None
    if not list((directory / ATTACHED).glob("*.started")):
        return (
            "not attached: Python did not run scalestudy's start-up file. It skips it with the options -I, -S or"
            " -E, in an empty environment (env -i), or in a container without PYTHONPATH and SCALESTUDY_ATTACH"
        )
    return "not attached: the script ended without importing torch, or without a report (os.execv, SIGKILL)"


def _other_ranks(spec: CommandSpec, processes: Sequence[Process]) -> str | None:
    seen = max(int(process.report["world_size"]) for process in processes)
    if seen == spec.world_size and len(processes) == spec.world_size:
        if seen > 1 and not any("backend" in process.report for process in processes):
            return (
                f"{seen} ranks were started, but none joined a process group: each trained by itself. The script"
                " must call torch.distributed.init_process_group, or use a framework that calls it"
            )
        return None
    if seen == spec.world_size:
        return f"only {len(processes)} of {seen} ranks made a step"
    return (
        f"the script trained on {seen} rank(s), but {spec.world_size} were planned. It must read RANK and"
        " WORLD_SIZE from the environment, as torchrun sets them; a script that starts its ranks itself needs"
        " `launcher: python` in the variant, and {ranks} in its command"
    )


def _no_step(processes: Sequence[Process]) -> str | None:
    if all(process.steps for process in processes):
        return None
    broken = next((process.report["broken"] for process in processes if "broken" in process.report), "")
    return f"{NO_STEP}. The hooks of scalestudy failed: {broken.splitlines()[-1]}" if broken else NO_STEP


def _other_batch(spec: CommandSpec, processes: Sequence[Process]) -> str | None:
    """Why the measured batch differs from the study's; None where it does not.

    A run is not refused for the shapes of its batches alone.
    """
    for process in processes:
        seen, stated = usual_samples(process), stated_batch(process)
        if not seen or not stated or seen % stated or seen == spec.batch_per_rank:
            continue
        told = "its command requests" if spec.follows_batch else "the study specifies"
        if seen == stated:
            advice = (
                "Put {batch_per_rank} where the script takes the batch size of a process, or {global_batch} where"
                " it takes the total batch size"
            )
        else:
            batches = seen // stated
            advice = f"It accumulates {batches} batches: set `batches_per_step: {batches}` in the workload"
        return (
            f"rank {process.rank} trained on {seen} samples per step (batch_size of its DataLoader: {stated}), but"
            f" {told} {spec.batch_per_rank}. {advice}"
        )
    return None


def batch_warnings(spec: CommandSpec, processes: Sequence[Process]) -> list[dict[str, str]]:
    """The warning for a run whose batches, judged by their shapes alone, differ in size from the study's."""
    for process in processes:
        seen = usual_samples(process)
        if seen and not stated_batch(process) and seen != spec.batch_per_rank:
            text = (
                f"the batches of rank {process.rank} have {seen} samples per step, but the study specifies"
                f" {spec.batch_per_rank}. Samples per second are based on the former"
            )
            return [{"kind": OTHER_BATCH, "text": text}]
    return []


def stated_batch(process: Process) -> int:
    """batch_size of the loaders that a process trains on; 0 where they do not have the attribute, or differ."""
    loaders = process.report["loaders"]
    stated = {loaders[number].get("batch_size") for number in process.training_loaders}
    return int(next(iter(stated)) or 0) if len(stated) == 1 else 0


def equal_batches(processes: Sequence[Process]) -> str:
    """Which ranks read identical samples, and why that is usually a mistake; empty if none do."""
    for first, second in combinations(processes, 2):
        mine, its = first.report["fingerprints"], second.report["fingerprints"]
        if mine and mine == its and any(mine[0]):
            return (
                f"ranks {first.rank} and {second.rank} read identical samples in their first {len(mine)} batches."
                " Is a DistributedSampler missing? If the ranks share one model (tensor or pipeline parallelism),"
                " their samples would be counted once per rank, and the speedup would be wrong"
            )
    return ""
