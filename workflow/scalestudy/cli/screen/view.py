"""The screen of a study: events of Snakemake in, lines out."""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from threading import Lock
from typing import TextIO

from scalestudy.analyse.study.decision_file import that_counts
from scalestudy.cli.screen.events import DOCUMENTS, STAGES, Job, Jobs, is_failed_command
from scalestudy.cli.screen.painter import Lines, Painter, Screen, is_live
from scalestudy.cli.screen.study import WatchedStudy
from scalestudy.cli.screen.words import current_line, decision_lines, duration, run_line, run_name
from scalestudy.errors import UserError
from scalestudy.registry.results import RESULTS

WIDTH = 24
"""Of the bar, in characters."""
NOT_SAID = ("", STAGES["plan_study"], "measuring")
"""Stages without a line of their own where there is no terminal: runs have their lines. Others have it once."""
MOST_CURRENT = 3
"""Runs under way that are shown; a cluster may have more."""


class StudyScreen:
    """Stage, runs done of those planned, current run, step rate, time left, and verdicts as they come."""

    def __init__(self, results: Path, *, summary: bool, stream: TextIO | None = None) -> None:
        """summary: whether verdicts and files are printed at the end. stream: standard error where not given."""
        stream = stream or sys.stderr
        self.begun = time.monotonic()
        self.study = WatchedStudy(results)
        self.jobs = Jobs()
        self.verdicts: list[str] = []
        self._said = set(NOT_SAID)
        self.failed = self._broken = False
        self._summary = summary
        self._commands: list[str] = []
        """What Snakemake said of commands that failed, until an event names the job and its log."""
        self._reading = Lock()  # the screen is painted in a thread of its own
        self.live = is_live(stream)
        self.painter: Painter = Screen(stream, self.lines) if self.live else Lines(stream, self.under_way)

    def take(self, record: logging.LogRecord) -> None:
        """Take an event, and print what stays of it."""
        with self._reading:
            lines = list(self._said_of(record))
        self.painter.say(lines)

    def fail(self, error: Exception) -> None:
        """Say once that the screen failed; the study goes on, and its log has the rest."""
        if not self._broken:
            self._broken = True
            log = "".join(f";{line}" for line in self._log_line())
            self.painter.say([f"this screen failed ({type(error).__name__}: {error}), the study goes on{log}"])

    def close(self) -> None:
        """Leave the terminal as it was, and print its outcome where the study is complete."""
        self.painter.close()
        self.painter.say(self._commands)
        self._commands = []
        complete = not self.failed and self.jobs.done == self.jobs.total
        if self._summary and complete and (self.study.results / RESULTS["numbers"]).exists():
            from scalestudy.cli.verb.results import SCREEN, summarise

            self._summary = False
            try:
                summarise(self.study.results, SCREEN)
            except UserError as error:  # the logging of Snakemake would drop it
                self.painter.say([f"error: {error}"])

    def lines(self) -> list[str]:
        """The changing part of the screen."""
        with self._reading:
            return [self._stage_line(), *self._current_lines(), *self.verdicts, *self._log_line()]

    def under_way(self) -> str:
        """One line after a long silence, where there is no terminal: stage, runs done, and what runs now."""
        try:
            with self._reading:
                parts = [f"{self.jobs.stage or 'starting'} ({duration(time.monotonic() - self.begun)})"]
                if self.jobs.stage == "measuring":
                    parts.append(f"{len(self.study.done())} of {len(self.study.planned())} runs")
                return ", ".join([*parts, *self._current()])
        except Exception as error:  # in a thread of its own, from which nothing could catch it
            self.fail(error)
            return ""

    def _said_of(self, record: logging.LogRecord) -> Iterator[str]:
        finished, failed = self.jobs.saw(record)
        self.failed = self.failed or bool(failed) or record.levelno >= logging.ERROR
        if failed:
            if failed.logs:
                self._commands.clear()
            log = f"; its log: {', '.join(failed.logs)}" if failed.logs else ""
            yield f"failed: {self._name_of(failed)}{log}"
        elif is_failed_command(record):
            self._commands += str(record.getMessage()).splitlines()
        elif record.levelno >= logging.WARNING:
            yield from str(record.getMessage()).splitlines()
        elif finished:
            yield from self._finished(finished)
        elif not self.live and self.jobs.stage not in self._said:
            self._said.add(self.jobs.stage)
            yield f"{self.jobs.stage} ({duration(time.monotonic() - self.begun)})"

    def _finished(self, job: Job) -> Iterator[str]:
        self.study.changed(job.run)
        if job.run:
            found = self.study.record(job.run)
            if found and found.outcome != "unneeded" and (found.outcome != "ok" or not self.live):
                yield run_line(found, len(self.study.done()), len(self.study.planned()))
        elif job.rule == "decide_on_launches" and (decisions := self.study.decisions()):
            before, self.verdicts = self.verdicts, decision_lines(that_counts(decisions))
            if not self.live and self.verdicts[1:] != before[1:]:  # else no run was made since
                yield from self.verdicts

    def _name_of(self, job: Job) -> str:
        """What a person calls a job: its run, or else its rule."""
        specs = self.study.plan.runs if self.study.plan else {}
        return run_name(specs[job.run]) if job.run in specs else job.rule

    def _stage_line(self) -> str:
        elapsed = duration(time.monotonic() - self.begun)
        stage = self.jobs.stage or "starting"
        if stage != "measuring":
            steps = f"  {self.jobs.done} of {self.jobs.total} steps" if stage == DOCUMENTS else ""
            return f"{stage}{steps}  {elapsed} elapsed"
        done, planned, left_s = len(self.study.done()), len(self.study.planned()), self.study.left_s()
        full = round(WIDTH * done / planned) if planned else 0
        left = f", about {duration(left_s)} left for them" if left_s else ""
        return f"{stage}  {'━' * full}{'─' * (WIDTH - full)}  {done} of {planned} runs  {elapsed} elapsed{left}"

    def _current_lines(self) -> list[str]:
        return [f"  {line}" for line in self._current()]

    def _current(self) -> list[str]:
        specs = self.study.plan.runs if self.study.plan else {}
        return [
            f"now: {current_line(one, run_name(specs[one.run_id]) if one.run_id in specs else one.run_id)}"
            for one in self.study.current(trials=self.jobs.stage == STAGES["verify"])[:MOST_CURRENT]
        ]

    def _log_line(self) -> list[str]:
        handlers = logging.getLogger("snakemake.logging").handlers
        return [f"  log: {path}" for one in handlers if (path := getattr(one, "baseFilename", None))]
