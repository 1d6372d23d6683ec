"""The state of a running study, from its own files: runs planned and done, decisions, progress of the ranks."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from scalestudy.analyse.study.decision_file import DecisionFile
from scalestudy.cli.results.inputs import plan_of
from scalestudy.errors import UserError
from scalestudy.record.document import read_document
from scalestudy.record.observation import RunRecord, read_record
from scalestudy.registry.results import DECISIONS, TRIALS
from scalestudy.study.plan import Plan


@dataclass(frozen=True)
class Current:
    """A run that is under way."""

    run_id: str
    done: int
    """Steps; 0 before the first block ends."""
    total: int
    """Steps at most; 0 where it is not known yet."""
    steps_per_s: float
    """Since the screen first saw it step; 0 before that."""


@dataclass
class WatchedStudy:
    """A study in its results folder. Files that do not exist yet, or are being replaced, are simply not there.

    The screen is painted every second on the host that measures. So records and decisions are read when a job has
    ended, and only the progress of current runs is read each time.
    """

    results: Path
    _plan: Plan | None = None
    _records: dict[str, RunRecord] = field(default_factory=dict)
    _decisions: list[DecisionFile] | None = None
    """None where they must be read again; so for the two below."""
    _planned: list[str] | None = None
    _done: list[RunRecord] | None = None
    _first_seen: dict[Path, tuple[int, float]] = field(default_factory=dict)
    """Progress file -> (steps, time) when it was first read with steps."""

    @property
    def plan(self) -> Plan | None:
        """None until the first rule has written it."""
        if self._plan is None:
            try:
                self._plan = plan_of(self.results)
            except (UserError, OSError):
                return None
        return self._plan

    def record(self, run_id: str) -> RunRecord | None:
        """The record of a run; None where it has none yet."""
        if run_id not in self._records:
            try:
                self._records[run_id] = read_record(self.results / "runs" / run_id)
            except (UserError, OSError):
                return None
        return self._records[run_id]

    def changed(self, run_id: str = "") -> None:
        """Read records and decisions again, since a job has ended. run_id: the run that it measured, if any."""
        self._records.pop(run_id, None)
        self._decisions = self._planned = self._done = None

    def planned(self) -> list[str]:
        """Runs that are made as far as it is decided now."""
        if self.plan is None:
            return []
        if self._planned is None:
            needed = {run for decision in self.decisions() for run in decision.needed}
            self._planned = [run for run in self.plan.runs if run in needed or not self.plan.is_reserve(run)]
        return self._planned

    def done(self) -> list[RunRecord]:
        """Records of planned runs."""
        if self._done is None:
            found = [record for run in self.planned() if (record := self.record(run))]
            self._done = [record for record in found if record.outcome != "unneeded"]
        return self._done

    def decisions(self) -> list[DecisionFile]:
        """All decisions so far, the oldest first."""
        if self._decisions is None:
            self._decisions = list(self._read_decisions())
        return self._decisions

    def _read_decisions(self) -> Iterable[DecisionFile]:
        for after in self.plan.study.decisions if self.plan else ():
            try:
                yield read_document(self.results / DECISIONS.format(repeats=after), DecisionFile)
            except (UserError, OSError):
                return

    def left_s(self) -> float | None:
        """Seconds that the planned runs may still take, by the mean of those that were measured; None before."""
        times_s = [record.totals.wall_time_s for record in self.done()]
        if not times_s:
            return None
        return (len(self.planned()) - len(times_s)) * sum(times_s) / len(times_s)

    def current(self, *, trials: bool = False) -> list[Current]:
        """Runs under way, of this study or of the trials of its advice."""
        folders = [self.results.parent / name for name in self._trials()] if trials else [self.results]
        return [found for folder in folders for found in self._current_in(folder)]

    def _trials(self) -> Iterable[str]:
        try:
            return list(json.loads((self.results / TRIALS / "trials.json").read_text(encoding="utf-8"))["studies"])
        except (OSError, ValueError, KeyError, TypeError):
            return ()

    def _current_in(self, folder: Path) -> Iterable[Current]:
        for path in sorted(folder.glob("runs/.partial/*/attempt.json")):
            progress = path.parent / "progress.json"
            try:
                state = json.loads(progress.read_text(encoding="utf-8"))
                done, total = int(state["done"]), int(state["total"])
            except (OSError, ValueError, KeyError, TypeError):
                yield Current(path.parent.name, 0, 0, 0.0)
                continue
            now = time.monotonic()
            first, since = self._first_seen.setdefault(progress, (done, now))
            rate = (done - first) / (now - since) if done > first else 0.0
            yield Current(path.parent.name, done, total, rate)
