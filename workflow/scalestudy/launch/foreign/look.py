"""A first look at a script: runs a few steps to find its batch size, ranks and wrapper. Nothing is recorded."""

from __future__ import annotations

import contextlib
import re
import tempfile
from dataclasses import dataclass
from pathlib import Path

from scalestudy.launch.command import launch_environment, rank_command
from scalestudy.launch.foreign.files import AllReportedError, Process, read_early_error, read_processes
from scalestudy.launch.foreign.gather import end_of, usual_samples
from scalestudy.launch.foreign.judge import equal_batches, not_seen, stated_batch
from scalestudy.launch.foreign.shared import Shared, shared_files
from scalestudy.launch.foreign.start import ATTACHED, prepare, refusal
from scalestudy.launch.foreign.touched import gather_touched, remember
from scalestudy.launch.foreign.watch import CommandWatch
from scalestudy.launch.process import run_group
from scalestudy.study.config.conditions import Measure
from scalestudy.study.spec import CommandSpec

LOG_LINES = 25
COLOUR = re.compile(r"\x1b\[[0-9;]*m")
BRIEF = {"warmup_steps": 0, "max_warmup_steps": 0, "min_steps": 10, "max_steps": 10, "probe_rounds": 0}
"""Measurement settings of a look: ten ordinary steps."""


@dataclass(frozen=True)
class Seen:
    """What a script did on this number of ranks."""

    ranks: int
    samples: int
    """Samples per step on rank 0; 0 where no DataLoader was seen."""
    batches: int
    """Batches that are accumulated for a step."""
    strategies: tuple[str, ...]
    """`ddp`, `fsdp`: how the model was wrapped."""
    step_time_s: float
    problem: str
    """Why nothing was seen, or how the script failed; empty where it did not fail."""
    log: str
    """The last lines of its output, where there is a problem."""
    stated: bool = False
    """Whether the DataLoader states the batch. Otherwise it is from shapes of batches, or from the script."""
    shared: tuple[Shared, ...] = ()
    """Files that it left and that its runs would share."""
    equal_batches: str = ""
    """Which ranks read identical samples, as a sentence; empty if none do."""


def look(spec: CommandSpec, *, time_limit_s: float) -> Seen:
    """Run the script until it has made a few steps."""
    brief = spec.model_copy(update={"measure": Measure(**BRIEF), "run_to_end": False})
    if refused := refusal(brief):
        return _problem(brief, refused)
    with tempfile.TemporaryDirectory(prefix="scalestudy-") as folder:
        directory = Path(folder)
        prepare(brief, directory)
        remember(brief, directory)
        watch = CommandWatch(brief, directory, stall_limit_s=time_limit_s)
        code, late = 0, False
        with contextlib.suppress(AllReportedError):
            code, late = run_group(
                rank_command(brief, directory, directory),
                environment=launch_environment(brief, directory),
                log=directory / "log.txt",
                time_limit_s=time_limit_s,
                watch=watch.check,
                directory=brief.directory,
            )
        shared = shared_files(gather_touched(brief, directory, directory / ATTACHED))
        processes = read_processes(directory / ATTACHED)
        log = (directory / "log.txt").read_text(encoding="utf-8", errors="replace")
        problem = _what_went_wrong(brief, directory, processes, code, late=late)
    if problem:
        return _problem(brief, problem, log)
    first = processes[0]
    times = sorted(step.time_s for step in first.steps)
    return Seen(
        ranks=int(first.report["world_size"]),
        samples=usual_samples(first),
        batches=max(1, usual_samples(first) // (stated_batch(first) or usual_samples(first) or 1)),
        strategies=tuple(first.report["strategies"]),
        step_time_s=times[len(times) // 2],
        problem="",
        log="",
        stated=bool(stated_batch(first)),
        shared=tuple(shared),
        equal_batches=equal_batches(processes),
    )


def _problem(spec: CommandSpec, problem: str, log: str = "") -> Seen:
    last = "\n".join(COLOUR.sub("", log).splitlines()[-LOG_LINES:])
    return Seen(spec.world_size, samples=0, batches=1, strategies=(), step_time_s=0.0, problem=problem, log=last)


def _what_went_wrong(
    spec: CommandSpec, directory: Path, processes: list[Process], code: int, *, late: bool
) -> str:
    if early := read_early_error(directory / ATTACHED):
        return early
    for process in processes:
        outcome, reason, waited = end_of(process)
        if outcome != "ok" and not waited and not late:
            return reason
    if late:
        return f"fewer than {BRIEF['min_steps']} steps within the time limit" if not processes else ""
    if code and not any(process.steps for process in processes):
        return f"it ended with exit status {code} before its first training step"
    return not_seen(spec, directory, processes) or (f"exit code {code}" if code else "")
