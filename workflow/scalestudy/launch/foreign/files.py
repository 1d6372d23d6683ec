"""Reads the files that the processes of a script left: a report of each process, and a row for each step."""

from __future__ import annotations

import contextlib
import csv
import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import zip_longest
from math import isnan, nan
from pathlib import Path
from typing import Any


class AllReportedError(RuntimeError):
    """Every rank has reported its end, but some processes do not end."""


@dataclass(frozen=True)
class Step:
    """A row of attach/report.py."""

    begin_s: float
    """Seconds since the first step of the process began."""
    time_s: float
    parts: dict[str, float]
    """Seconds of each part; nan for a part that was not seen."""
    samples: dict[str, int]
    """Number of a loader -> samples."""
    exhausted: tuple[str, ...]
    """Loaders that were exhausted."""
    extra: tuple[str, ...]
    """Other events since the previous step: an evaluation, a checkpoint, a new iterator of a loader."""
    phase: str
    """Phase of a step that was made for the communication probes; '' for the script's own steps."""
    logged: tuple[float, ...]
    """Seconds from DDP's logger at the end of this step, about the previous step; DDP_COLUMNS, or empty."""
    reading_s: float
    """The part of the step's time in which the journal was read (attach/journal.py)."""
    memory_gib: tuple[float, float]
    """(resident, allocated on the device) at the end of this step, GiB; nan where not read."""


PARTS = ("data", "h2d", "forward", "backward", "optimizer", "logging", "checkpoint")


@dataclass(frozen=True)
class Process:
    """One process that reported."""

    report: dict[str, Any]
    steps: tuple[Step, ...]
    collectives: tuple[dict[str, Any], ...] = ()
    """Calls of collectives after the last step: collective, bytes, call, time_s."""
    epochs: tuple[dict[str, float], ...] = ()
    """What the script itself reported about its epochs."""

    @property
    def rank(self) -> int:
        return int(self.report["rank"])

    @property
    def ended(self) -> bool:
        """Whether it reported at its end. Otherwise it was killed, or ended in a way that the hooks do not see."""
        return bool(self.report["final"])

    @cached_property
    def own_steps(self) -> tuple[Step, ...]:
        """The steps without those of the probes, which come last."""
        return tuple(step for step in self.steps if not step.phase)

    @cached_property
    def training_loaders(self) -> frozenset[str]:
        """Loaders that it trains on: a backward pass followed at least half of their batches, or most passes
        followed one of their batches, as where this process reads the batches of several ranks.
        """
        loaders = self.report["loaders"]
        passes = sum(seen["backward_after"] for seen in loaders.values())
        return frozenset(
            number
            for number, seen in loaders.items()
            if seen["own"]
            or (seen["fetches"] and 2 * seen["backward_after"] >= seen["fetches"])
            or 2 * seen["backward_after"] > passes
        )

    @cached_property
    def parts_seen(self) -> frozenset[str]:
        """Parts that were seen in any step. In a step where such a part was not seen, it took no time."""
        return frozenset(part for part in PARTS if any(not isnan(step.parts[part]) for step in self.steps))

    def samples(self, step: Step) -> int:
        """Training samples of a step; 0 where no loader was seen."""
        return sum(count for loader, count in step.samples.items() if loader in self.training_loaders)

    def is_ordinary(self, step: Step) -> bool:
        """Whether nothing but training happened in a step."""
        return not step.extra and not step.exhausted and set(step.samples) <= self.training_loaders


SENT = "sent"
"""Pseudo-loader for samples that a rank got from another rank."""
ASKED = "asked.json"
"""The launcher's settings, in the same folder."""


def report_paths(folder: Path) -> list[Path]:
    """Paths of the processes' reports in the folder `attached` of a run."""
    return sorted(path for path in folder.glob("*.json") if path.name != ASKED)


def read_reports(folder: Path) -> dict[Path, dict[str, Any]]:
    """The reports, by path, that can be read at this moment: on NFS, not one that another node is replacing."""
    found = {}
    for path in report_paths(folder):
        with contextlib.suppress(OSError):
            found[path] = json.loads(path.read_text(encoding="utf-8"))
    return found


def read_processes(folder: Path) -> list[Process]:
    """The process of each rank, from the folder `attached` of a run: the one with the most steps."""
    found: dict[int, Process] = {}
    for path in report_paths(folder):
        report = json.loads(path.read_text(encoding="utf-8"))
        calls = tuple(_read_calls(path.with_suffix(".collectives")))
        epochs = tuple(_read_said(path.with_suffix(".epochs")))
        process = Process(report, tuple(read_steps(path.with_suffix(".csv"))), calls, epochs)
        known = found.get(process.rank)
        if known is None or len(process.steps) > len(known.steps):
            found[process.rank] = process
    return with_batches_of_others([found[rank] for rank in sorted(found)])


def with_batches_of_others(processes: list[Process]) -> list[Process]:
    """The processes, with equal shares of the samples that some of them read for all.

    accelerate does so for an IterableDataset: the first rank reads all batches and sends each rank its own.
    """
    readers = [process for process in processes if process.training_loaders]
    if len(readers) in (0, len(processes)):
        return processes

    each = [
        sum(reader.samples(step) for reader, step in zip(readers, steps, strict=True) if step) // len(processes)
        for steps in zip_longest(*(reader.steps for reader in readers))
    ]

    def step_of(process: Process, step: Step, share: int) -> Step:
        others = {loader: n for loader, n in step.samples.items() if loader not in process.training_loaders}
        return replace(step, samples=others | ({SENT: share} if share else {}))

    seen = {SENT: {"own": True, "fetches": 0, "backward_after": 0, "batch_size": None}}
    return [
        replace(
            process,
            report=process.report | {"loaders": process.report["loaders"] | seen},
            steps=tuple(
                step_of(process, step, each[at] if at < len(each) else 0) for at, step in enumerate(process.steps)
            ),
        )
        for process in processes
    ]


def read_early_error(folder: Path) -> str | None:
    """The error that ended a rank before it imported torch, from the folder `attached`; None if there is none."""
    for path in sorted(folder.glob("*.error")):
        said = json.loads(path.read_text(encoding="utf-8"))
        return reason_of_error(said["rank"], said)
    return None


def reason_of_error(rank: int, told: dict[str, Any]) -> str:
    """The reason of a run that ended with the error of a rank. told: from attach/failure.py."""
    where = f" ({told['error_at']})" if told["error_at"] else ""
    return f"rank {rank}: {told['error'].splitlines()[0]}{where}"


def read_steps(path: Path) -> Iterator[Step]:
    """Rows of a file, without an incomplete last row."""
    if not path.exists():
        return
    text = path.read_text(encoding="utf-8")
    whole = text[: text.rfind("\n") + 1]
    for row in csv.DictReader(whole.splitlines()):
        yield parse_step(row)


def _read_calls(path: Path) -> Iterator[dict[str, Any]]:
    if path.exists():
        for row in csv.DictReader(path.read_text(encoding="utf-8").splitlines()):
            yield {
                "collective": row["collective"],
                "bytes": int(row["bytes"]),
                "call": int(row["call"]),
                "time_s": float(row["time_s"]),
            }


def _read_said(path: Path) -> Iterator[dict[str, float]]:
    if path.exists():
        for row in csv.DictReader(path.read_text(encoding="utf-8").splitlines()):
            yield {name: float(value or nan) for name, value in row.items()}


def parse_step(row: dict[str, str]) -> Step:
    """A step from a row of the file."""
    pairs = (pair.split(":") for pair in row["samples"].split(";") if pair)
    time_s = float(row["step_time_s"])
    return Step(
        begin_s=float(row["ended_s"]) - time_s,
        time_s=time_s,
        parts={part: float(row[f"{part}_time_s"] or nan) for part in PARTS},
        samples={loader: int(count) for loader, count in pairs},
        exhausted=tuple(filter(None, row["exhausted"].split(";"))),
        extra=tuple(filter(None, row["extra"].split(";"))),
        phase=row["phase"],
        logged=tuple(map(float, filter(None, row["logged"].split(";")))),
        reading_s=float(row["reading_time_s"]),
        memory_gib=(float(row["resident_gib"] or nan), float(row["allocated_gib"] or nan)),
    )
