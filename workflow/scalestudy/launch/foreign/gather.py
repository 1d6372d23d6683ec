"""Converts the files of a script's processes to the parts of an observation, as our own ranks write them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import isnan, nan
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from scalestudy.launch.foreign.environment import environment_of
from scalestudy.launch.foreign.files import PARTS, Process, Step, read_processes, reason_of_error
from scalestudy.launch.foreign.start import ATTACHED
from scalestudy.record.observation import (
    DDP_COLUMNS,
    EPOCH_COLUMNS,
    STEP_PARTS,
    TABLES,
    Memory,
    Outcome,
    RankReport,
    Stopping,
)
from scalestudy.record.parts import Parts, tables_together
from scalestudy.record.recorder import Recorder
from scalestudy.study.spec import CommandSpec

if TYPE_CHECKING:
    from scalestudy.measure.stopping import Look

OF_EPOCHS = ("train_loss", "validation_loss", "validation_accuracy")
SETTLE = "settle"
"""Phase of steps in which ranks settle before the probes (attach/probes.py)."""
LOST = (
    "connection closed by peer",
    "connection reset by peer",
    "socket closed",
    "remote process exited",
    "timed out",
)
"""Parts of error messages of a rank that lost its peer."""
OF_A_HELPER = ("ConnectionResetError", "BrokenPipeError", "ConnectionRefusedError")
"""Errors of Python's own connections, such as to a killed loader worker. Process groups raise other errors."""


def gather(spec: CommandSpec, directory: Path, look: Look | None) -> tuple[Parts, list[Process]]:
    """Return (parts of the observation, the processes). look: the last evaluation of the stopping rule."""
    processes = read_processes(directory / ATTACHED)
    reporting = [process for process in processes if process.ended]
    facts = processes[0].report if processes else {}
    tables, epochs = _tables(spec, processes)
    return Parts(
        reports=tuple(_report(process, common_steps(processes)) for process in reporting),
        environment=environment_of(spec, facts, processes) if facts else {},
        stopping=_stopping(spec, look, len(processes[0].own_steps)) if processes else None,
        tables=tables,
        epochs=epochs,
    ), processes


def usual_samples(process: Process) -> int:
    """The most common number of samples of a rank's ordinary steps; 0 where no loader was seen."""
    counts = Counter(process.samples(step) for step in process.own_steps if process.is_ordinary(step))
    return counts.most_common(1)[0][0] if counts else 0


def _tables(spec: CommandSpec, processes: Sequence[Process]) -> tuple[dict[str, pa.Table], list[dict[str, float]]]:
    """Return (tables of all ranks with the steps that every rank made, epochs)."""
    common = common_steps(processes)
    if not common:
        return Recorder(rank=0).tables(), []
    usual = [usual_samples(process) for process in processes]
    ordinary = [
        all(
            process.is_ordinary(process.steps[at]) and process.samples(process.steps[at]) == samples
            for process, samples in zip(processes, usual, strict=True)
        )
        for at in range(common)
    ]
    # Of the probes only ordinary steps are kept, without those in which the ranks settle.
    said = [step.phase for step in processes[0].steps[:common]]
    kept = [at for at in range(common) if not said[at] or (said[at] != SETTLE and ordinary[at])]
    epochs = _epochs_of_steps(processes[0], common)
    blocks = _blocks([ordinary[at] for at in kept], [said[at] for at in kept], spec)
    of_ranks = []
    for process in processes:
        recorder = Recorder(rank=process.rank)
        for first, phases in blocks:
            steps = kept[first : first + len(phases)]
            _add_block(recorder, process, steps, phases, epoch=0 if said[steps[0]] else epochs[steps[0]])
        recorder.add_rows("collectives", list(process.collectives))
        of_ranks.append(recorder.tables())
    tables = {name: tables_together([of[name] for of in of_ranks], columns) for name, columns in TABLES.items()}
    return tables, _epochs(processes, epochs)


def _add_block(
    recorder: Recorder, process: Process, numbers: Sequence[int], phases: Sequence[str], *, epoch: int
) -> None:
    """Record a block of a process's steps. DDP's logger reports on a step in the following step."""
    steps = [process.steps[at] for at in numbers]
    following = [process.steps[at + 1].logged if at + 1 < len(process.steps) else () for at in numbers]
    recorder.add_block(
        epoch=epoch,
        phases=phases,
        times_s=np.array([_parts(process, step) for step in steps]),
        step_times_s=np.array([step.time_s for step in steps]),
        samples=process.samples(steps[0]),
        losses=None,
        ddp_s=np.array([logged or (nan,) * len(DDP_COLUMNS) for logged in following]),
        state=dict(zip(("resident_gib", "allocated_gib"), _memory(steps), strict=True)),
    )


def common_steps(processes: Sequence[Process]) -> int:
    """Number of steps that every rank made. A rank with more data than the others makes its last steps alone."""
    return min((len(process.steps) for process in processes), default=0)


def _memory(steps: Sequence[Step]) -> tuple[float, float]:
    """(resident, allocated) at the last step of a block in which they were read; nan if in none."""
    read = [step.memory_gib for step in steps if not isnan(step.memory_gib[0])]
    return read[-1] if read else (nan, nan)


def _parts(process: Process, step: Step) -> list[float]:
    """Seconds of STEP_PARTS; nan for parts that the hooks cannot see.

    A part that the script marks in other steps takes 0 s in a step in which it does not.
    """
    nothing = {part: 0.0 if part in process.parts_seen else nan for part in PARTS}
    seen = {part: nothing[part] if isnan(step.parts[part]) else step.parts[part] for part in PARTS}
    rest = max(0.0, step.time_s - sum(seconds for seconds in step.parts.values() if not isnan(seconds)))
    return [seen.get(part, rest) for part in STEP_PARTS]


def _epochs_of_steps(process: Process, common: int) -> list[int]:
    """Epoch of each step, from 1. A new epoch begins where a training loader was exhausted before the step."""
    epoch, found = 1, []
    for at, step in enumerate(process.steps[:common]):
        epoch += at > 0 and any(loader in process.training_loaders for loader in step.exhausted)
        found.append(epoch)
    return found


def _blocks(ordinary: Sequence[bool], said: Sequence[str], spec: CommandSpec) -> list[tuple[int, list[str]]]:
    """Return (first step, phases of its steps) of each block.

    A step with another event is a separate block, a `tail`, so that all steps of a block belong to one epoch and
    have the same number of samples. said: the phases of probes, '' for the script's own steps.
    """
    blocks: list[tuple[int, list[str]]] = []
    trained = 0
    for at, plain in enumerate(ordinary):
        begins = at == 0 or not plain or not ordinary[at - 1] or said[at] != said[at - 1]
        if begins or (not said[at] and len(blocks[-1][1]) == spec.measure.block_steps):
            blocks.append((at, []))
        trained += plain
        own = "tail" if not plain else "warmup" if trained <= spec.measure.warmup_steps else "measured"
        blocks[-1][1].append(said[at] or own)
    return blocks


def _epochs(processes: Sequence[Process], epochs: Sequence[int]) -> list[dict[str, float]]:
    """Complete epochs: seconds (maximum over ranks), and samples of all ranks.

    An epoch ends where the script reports its end with scalestudy.Recorder; the reported values are in its row.
    Without such reports it ends where a training loader was exhausted, and losses are unknown.
    """
    common, own = len(epochs), len(processes[0].own_steps)
    said = processes[0].epochs
    ends = [int(epoch["after_step"]) for epoch in said] or [
        at for at in range(1, min(own, common)) if epochs[at] != epochs[at - 1]
    ]
    rows, begin, elapsed = [], 0, 0.0
    for number, end in enumerate(ends):
        steps = [process.steps[begin : min(end, common)] for process in processes]
        time_s = max(sum(step.time_s for step in mine) for mine in steps)
        samples = sum(
            process.samples(step) for process, mine in zip(processes, steps, strict=True) for step in mine
        )
        begin, elapsed = end, elapsed + time_s
        known: dict[str, float] = {"epoch": number + 1, "epoch_time_s": time_s, "elapsed_s": elapsed}
        known |= {
            "samples": samples,
            **{k: v for k, v in (said[number] if said else {}).items() if k in OF_EPOCHS},
        }
        rows.append({name: known.get(name, nan) for name in EPOCH_COLUMNS})
    return rows


def _report(process: Process, steps: int) -> RankReport:
    said = process.report
    outcome, reason, waited = end_of(process)
    memory = dict.fromkeys(Memory.model_fields) | said["memory"]
    return RankReport(
        rank=process.rank,
        host=said["host"],
        node=said["host"],
        device=said.get("device_name") or said.get("device") or "cpu",
        cores=tuple(said["cores"]),
        threads=said["threads"],
        outcome=outcome,
        reason=reason,
        waited=waited,
        steps=steps,
        memory=Memory(**memory),
    )


def end_of(process: Process) -> tuple[Outcome, str, bool]:
    """Return (outcome, reason, whether it only waited for another rank) of a process that reported at its end."""
    said = process.report
    if "error" in said:
        reason = reason_of_error(process.rank, said)
        own = said["error"].startswith(OF_A_HELPER)
        waited = not own and any(words in said["error"].lower() for words in LOST)
        return ("oom" if said["out_of_memory"] else "failed"), reason, waited
    if said.get("told_to_end") and not said["enough"]:
        return "timeout", "stopped by SIGTERM", False
    return "ok", "", False


def _stopping(spec: CommandSpec, look: Look | None, steps: int) -> Stopping:
    if spec.run_to_end or look is None or not look.enough:
        return Stopping(steps=steps, warmup_steps=0, half_width=None, reason="the script ended by itself")
    width = look.half_width if look.half_width != float("inf") else None
    return Stopping(steps=steps, warmup_steps=look.warmup_steps, half_width=width, reason=look.reason)
