"""The text files that a process leaves for the launcher, written while it runs.

    PID.csv   a row per step, appended twice a second: a process that is killed loses the last half second
    PID.json  its rank, facts of its model and data, and how it ended; written again at the end

`PID.json` is written to a temporary name and renamed. A process without a step that is not a rank leaves no files.
"""

from __future__ import annotations

import json
import os
import time
from typing import Any, Callable, Sequence, TextIO

from .pace import Pace
from .row import Row
from .steps import Steps

COLUMNS = (
    *("step", "ended_s", "step_time_s", "data_time_s", "h2d_time_s", "forward_time_s", "backward_time_s"),
    *(
        "optimizer_time_s",
        "logging_time_s",
        "checkpoint_time_s",
        "updates",
        "samples",
        "exhausted",
        "extra",
        "phase",
        "logged",
        "reading_time_s",
        "resident_gib",
        "allocated_gib",
    ),
)
PAGE = os.sysconf("SC_PAGE_SIZE")
PARTS = ("data", "h2d", "forward", "backward", "optimizer", "logging", "checkpoint")
"""Parts of a step. The time of a part that was not seen is empty."""
OWN = -1
"""Id of a pseudo-loader for samples that the script counts itself (said.py)."""
FIRST_S, EVERY_S = 0.01, 0.5
"""Seconds between two writes, at first and later."""


class Report:
    """The report of one process. folder: `attached` of the run."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.pid = os.getpid()
        self.facts: dict[str, Any] = {"pid": self.pid, "began_at": time.time()}
        self.steps = 0
        """Number of steps that have ended."""
        self._rows: list[tuple[int, Row, str, Sequence[float]]] = []
        self._first: Any = None
        self._file: TextIO | None = None
        self._next_s, self._pace = 0.0, Pace(FIRST_S, EVERY_S)
        self.step_time_s = 0.0
        """Mean time of the steps that were written last."""
        self._loaders: dict[int, int] = {}
        self._resident: list[int] = []
        self.allocated: Callable[[], int] | None = None
        """Returns the bytes that are allocated on a CUDA device; None on another device."""

    @property
    def mean_resident_gib(self) -> float | None:
        """Mean resident memory of the process, sampled when steps are written; None before the first sample."""
        return sum(self._resident) / len(self._resident) * PAGE / 2**30 if self._resident else None

    @property
    def peak_resident_gib(self) -> float:
        """Peak of the process's resident memory. That of getrusage includes the process that started this one."""
        with open("/proc/self/status", encoding="ascii", errors="replace") as status:
            (peak,) = [line.split()[1] for line in status if line.startswith("VmHWM:")]
        return int(peak) / 2**20  # it is in KiB

    def path(self, ending: str) -> str:
        """The path of one of its files."""
        return os.path.join(self.folder, f"{self.pid}.{ending}")

    def add(self, row: Row, steps: Steps, *, phase: str, logged: Sequence[float]) -> None:
        """Add a step that has ended. It is written once the device has passed it.

        phase: of the probes; '' for the script's own training. logged: values of DDP's logger.
        """
        self.steps += 1
        self._rows.append((self.steps, row, phase, logged))
        now = time.monotonic()
        if now >= self._next_s:
            self._next_s = now + self._pace.next_s()
            self.flush(steps)

    def flush(self, steps: Steps) -> None:
        """Append the rows of the steps that the device has passed."""
        clock, done, lines = steps.clock, 0, []
        for number, row, phase, logged in self._rows:
            if not clock.has_passed(row.end):
                break
            if self._first is None:
                self._first = row.begin
                self.facts["trained_from"] = time.time()
            lines.append(self._line(number, row, phase, logged, clock))
            done += 1
        if not lines:
            return
        self.step_time_s = clock.between(self._rows[0][1].begin, self._rows[done - 1][1].end) / done
        del self._rows[:done]
        with open("/proc/self/statm", encoding="ascii") as memory:
            self._resident.append(int(memory.read().split()[1]))
        allocated = "%.9g" % (self.allocated() / 2**30) if self.allocated is not None else ""
        lines = [f"{line},,\n" for line in lines]  # memory is known for the last one
        lines[-1] = "%s%.9g,%s\n" % (lines[-1][:-2], self._resident[-1] * PAGE / 2**30, allocated)
        if self._file is None:
            self._file = open(self.path("csv"), "w", encoding="utf-8")
            self._file.write(",".join(COLUMNS) + "\n")
        self._file.write("".join(lines))
        self._file.flush()

    def _line(self, number: int, row: Row, phase: str, logged: Sequence[float], clock: Any) -> str:
        times = {"checkpoint": row.checkpoint_s}
        if (row.loaders or row.exhausted) and not row.ahead:
            times["data"] = row.data_s
        for part, begin, end in row.passes:
            times[part] = times.get(part, 0.0) + clock.between(begin, end)
        for part, begin, end in row.nested:
            times[part] -= clock.between(begin, end)
        samples = ";".join(f"{self._loader(loader)}:{count}" for loader, count in row.loaders.items())
        ends = [f"{self._loader(loader)}" for loader in row.exhausted]
        seconds = ",".join(["%.9g" % max(0.0, times[part]) if part in times else "" for part in PARTS])
        whole = "%d,%.9g,%.9g" % (number, clock.between(self._first, row.end), clock.between(row.begin, row.end))
        words = ";".join(sorted(ends)), ";".join(sorted(row.extra)), phase
        said = ";".join(["%.9g" % value for value in logged])
        return f"{whole},{seconds},{row.updates},{samples},{','.join(words)},{said},{row.reading_s:.3g}"

    def _loader(self, loader: int) -> int:
        """A number for each loader, from 0."""
        return self._loaders.setdefault(loader, len(self._loaders))

    def write(self, steps: Steps, **facts: Any) -> None:
        """Write all facts to PID.json."""
        self.facts.update(facts)
        loaders = {
            str(number): {
                "own": loader == OWN,
                **self.facts.get("loaders", {}).get(loader, {}),
                "fetches": steps.fetches.get(loader, 0),
                "backward_after": steps.backward_after.get(loader, 0),
            }
            for loader, number in self._loaders.items()
        }
        content = {**self.facts, "loaders": loaders, "steps": self.steps, "skipped": steps.skipped}
        path = self.path("json")
        with open(path + ".tmp", "w", encoding="utf-8") as file:
            json.dump(content, file)
        os.replace(path + ".tmp", path)
