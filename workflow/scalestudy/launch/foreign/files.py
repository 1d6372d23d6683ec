"""What the processes of a script left, read back: a report each, and a row for each step."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from math import isnan, nan
from pathlib import Path
from typing import Any


class AllReportedError(RuntimeError):
    """Every rank has reported its end, and some processes do not end."""


@dataclass(frozen=True)
class Step:
    """A row of attach/report.py."""

    begin_s: float
    """Since the first step of the process began."""
    time_s: float
    parts: dict[str, float]
    """Seconds; nan for what was not seen."""
    samples: dict[str, int]
    """By the number of the loader."""
    exhausted: tuple[str, ...]
    """Loaders that had no batch left."""
    extra: tuple[str, ...]
    """What else happened since the step before: an evaluation, a checkpoint, a loader that began."""
    phase: str
    """Of a step that was made for the probes of communication; '' for the script's own."""
    logged: tuple[float, ...]
    """Seconds that DDP's logger gave at the end of this step, of the one before it; DDP_COLUMNS, or none."""
    reading_s: float
    """Of the step's time, in which what was noted was read (attach/journal.py)."""
    memory_gib: tuple[float, float]
    """(resident, allocated on the device) at the end of this step; nan where they were not read."""


PARTS = ("data", "h2d", "forward", "backward", "optimizer", "logging", "checkpoint")


@dataclass(frozen=True)
class Process:
    """One process that reported."""

    report: dict[str, Any]
    steps: tuple[Step, ...]
    collectives: tuple[dict[str, Any], ...] = ()
    """Calls of collectives after the last step: collective, bytes, call, time_s."""
    epochs: tuple[dict[str, float], ...] = ()
    """What the script itself said of its epochs."""

    @property
    def rank(self) -> int:
        return int(self.report["rank"])

    @property
    def ended(self) -> bool:
        """Whether it reported at its end. One that did not was killed, or left in a way that nobody sees."""
        return bool(self.report["final"])

    @cached_property
    def own_steps(self) -> tuple[Step, ...]:
        """Without those of the probes, which come last."""
        return tuple(step for step in self.steps if not step.phase)

    @cached_property
    def training_loaders(self) -> frozenset[str]:
        """Loaders that it trains on: most of their batches were followed by a backward pass."""
        loaders = self.report["loaders"].items()
        return frozenset(
            number for number, seen in loaders if seen["own"] or 2 * seen["backward_after"] >= seen["fetches"] > 0
        )

    @cached_property
    def parts_seen(self) -> frozenset[str]:
        """Parts that were seen in any of its steps: in a step without one that part took no time."""
        return frozenset(part for part in PARTS if any(not isnan(step.parts[part]) for step in self.steps))

    def samples(self, step: Step) -> int:
        """Training samples of a step; 0 where no loader was seen."""
        return sum(count for loader, count in step.samples.items() if loader in self.training_loaders)

    def is_ordinary(self, step: Step) -> bool:
        """Whether nothing but training happened in a step."""
        return not step.extra and not step.exhausted and set(step.samples) <= self.training_loaders


ASKED = "asked.json"
"""What the launcher asks for, in the same folder."""


def report_paths(folder: Path) -> list[Path]:
    """Reports of the processes in the folder `attached` of a launch."""
    return sorted(path for path in folder.glob("*.json") if path.name != ASKED)


def read_processes(folder: Path) -> list[Process]:
    """Of the folder `attached` of a launch: the process of each rank, the one that made most steps."""
    found: dict[int, Process] = {}
    for path in report_paths(folder):
        report = json.loads(path.read_text(encoding="utf-8"))
        calls = tuple(_read_calls(path.with_suffix(".collectives")))
        epochs = tuple(_read_said(path.with_suffix(".epochs")))
        process = Process(report, tuple(read_steps(path.with_suffix(".csv"))), calls, epochs)
        known = found.get(process.rank)
        if known is None or len(process.steps) > len(known.steps):
            found[process.rank] = process
    return [found[rank] for rank in sorted(found)]


def read_early_error(folder: Path) -> str | None:
    """The error that ended a rank before it had imported torch, in the folder `attached`; None for none."""
    for path in sorted(folder.glob("*.error")):
        said = json.loads(path.read_text(encoding="utf-8"))
        return reason_of_error(said["rank"], said)
    return None


def reason_of_error(rank: int, told: dict[str, Any]) -> str:
    """The reason of a launch that ended by the error of a rank. told: as attach/failure.py has it."""
    where = f" ({told['error_at']})" if told["error_at"] else ""
    return f"rank {rank}: {told['error'].splitlines()[0]}{where}"


def read_steps(path: Path) -> Iterator[Step]:
    """Rows of a file; a last one that is cut off is left out."""
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
    """A row by its names."""
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
