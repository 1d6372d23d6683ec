"""Reads the steps of a script while it runs. When enough are measured, rank 0 is notified to choose the last."""

from __future__ import annotations

import csv
import time
from pathlib import Path

import numpy as np

from scalestudy.launch.foreign.files import AllReportedError, parse_step, read_reports
from scalestudy.launch.foreign.start import ATTACHED
from scalestudy.measure.stopping import Look, StepRule
from scalestudy.record.files import write_json
from scalestudy.study.spec import CommandSpec

FIRST_S, EVERY_S = 0.02, 0.5
"""Seconds between two reads of rank 0's steps: FIRST_S once they begin, growing to EVERY_S in a long training. All
ranks are checked every EVERY_S from the beginning."""
UNTIL_BEGUN_S = 0.05
GROWTH = 1.05
TEARDOWN_S = 20.0
"""Seconds that ranks may take to end after their report. gloo may never return from its destruction."""
STOP = "stop"


class CommandWatch:
    """Watches one run. Each call of `check` returns the seconds until the next one."""

    def __init__(self, spec: CommandSpec, directory: Path, *, stall_limit_s: float) -> None:
        self.rule = StepRule(**spec.measure.step_rule)
        self._spec, self._directory = spec, directory
        self._stall_limit_s = stall_limit_s
        self._folder = directory / ATTACHED
        self._looks = self.rule.looks()
        self._times: list[float] = []
        """Step times without the time for reading the journal, so that their mean is known after fewer steps."""
        self._path: Path | None = None
        self._read = 0
        self._header: list[str] = []
        self._next_s, self._wait_s = 0.0, FIRST_S
        self._next_of_all_s = 0.0
        self._told = False
        self._reported_at: float | None = None
        self.look: Look | None = None
        """The last evaluation of the stopping rule; None before the first."""

    def check(self) -> float:
        """Read new steps. Returns the seconds until the next call.

        Raises AllReportedError where all ranks have reported, but do not end.
        """
        now = time.monotonic()
        if now >= self._next_of_all_s:
            self._next_of_all_s = now + EVERY_S
            self._wait_for_the_end(now)
            self._show_progress()
        if now >= self._next_s:
            self._path = self._path or self._of_rank_0()
            wait_s = UNTIL_BEGUN_S if self._path is None else self._wait_s
            self._next_s = now + wait_s
            if self._path is not None:
                self._wait_s = min(EVERY_S, GROWTH * self._wait_s)
                if self._read_on() and not self._spec.run_to_end and not self._told:
                    self._judge()
        return max(0.0, min(self._next_s, self._next_of_all_s) - time.monotonic())

    def _show_progress(self) -> None:
        if self._times:
            done, most = len(self._times), self.rule.max_warmup_steps + self.rule.max_steps
            write_json(self._directory / "progress.json", {"done": done, "total": max(done, most)}, lasting=False)

    def _of_rank_0(self) -> Path | None:
        """The file with rank 0's steps, once it has made one."""
        for path, report in read_reports(self._folder).items():
            if report["rank"] == 0 and report["steps"] and path.with_suffix(".csv").exists():
                return path.with_suffix(".csv")
        return None

    def _read_on(self) -> bool:
        """Read new rows. Returns whether there were any."""
        assert self._path is not None
        with self._path.open(encoding="utf-8") as file:
            file.seek(self._read)
            text = file.read()
        whole = text[: text.rfind("\n") + 1]
        self._read += len(whole.encode())
        rows = list(csv.reader(whole.splitlines()))
        if rows and not self._header:
            self._header = rows.pop(0)
        for row in rows:
            step = parse_step(dict(zip(self._header, row, strict=True)))
            if not (step.extra or step.exhausted or step.phase):
                self._times.append(step.time_s - step.reading_s)
        return bool(rows)

    def _judge(self) -> None:
        series = np.array(self._times)
        if not self._looks or len(series) - self.rule.warmup(series) < self._looks[0]:
            return
        self.look = self.rule.look(series)
        while self._looks and self.look.steps - self.look.warmup_steps >= self._looks[0]:
            self._looks.pop(0)
        if self.look.enough:
            (self._folder / STOP).touch()
            self._told = True

    def _wait_for_the_end(self, now: float) -> None:
        """Raise AllReportedError where all ranks have reported and do not end in time.

        A script may hang after its training, when gloo frees the resources of a model.
        """
        ranks = set(range(self._spec.world_size))
        reports = read_reports(self._folder).values()
        closing = {report["rank"] for report in reports if report["enough"] or report.get("closed")}
        final = {report["rank"] for report in reports if report["final"]}
        if final != ranks:
            self._reported_at = None
            return
        self._reported_at = self._reported_at or now
        if now - self._reported_at > (TEARDOWN_S if closing == ranks else self._stall_limit_s):
            raise AllReportedError
