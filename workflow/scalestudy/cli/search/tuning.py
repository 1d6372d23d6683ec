"""Runs a search from its options to its files. Recorded runs are not repeated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isnan, nan
from pathlib import Path
from typing import Any

import pandas as pd

from scalestudy.analyse.statistics.intervals import NOTHING, Interval
from scalestudy.cli.naming import home, results_of
from scalestudy.cli.results.inputs import table_of
from scalestudy.cli.search.tune_costs import recorded_device_s
from scalestudy.cli.search.tune_launches import LiveLaunches
from scalestudy.errors import UserError
from scalestudy.publish.cells import csv_text
from scalestudy.record.document import write_document
from scalestudy.record.files import write_text
from scalestudy.registry.results import RESULTS
from scalestudy.study.config.commands import CommandWorkload
from scalestudy.study.config.tune import BATCH
from scalestudy.tune.answer import answer_text, launches_frame
from scalestudy.tune.final import decides, judge, winner
from scalestudy.tune.model import Goal, Launched, Level, TuneFile
from scalestudy.tune.prior import Models, hopeful, largest_batch_in, noise_scale_in, predictions
from scalestudy.tune.race import ENDING_S, Race
from scalestudy.tune.sampler import Chooser, Sampler
from scalestudy.tune.space import Space, make_space
from scalestudy.tune.target import Target, short_name
from scalestudy.tune.words import answer_lines, cost_lines, launch_line, sentence_of, space_lines, tried_settings

FOUND, TABLE, TEXT, ANSWER = "tuning.json", "tuning.csv", "tuning.txt", "tuned.yaml"


@dataclass
class Tuning:
    """A search, with what is known before it starts."""

    target: Target
    goal: Goal
    budget_device_hours: float
    seed: int
    sampler: Sampler
    levels: Mapping[str, Sequence[Any]]
    hold: Sequence[str]
    data: Path
    results: Path | None = None
    """Results folder of the study, if it is not the usual one."""

    def __post_init__(self) -> None:
        study = self.target.study
        folder = self.results or results_of(study)
        self.summary: pd.DataFrame | None = None
        self.launch_device_s = nan
        if (folder / RESULTS["summary"]).exists():
            self.summary = table_of(folder, "summary")
            self.launch_device_s = _mean_device_s(table_of(folder, "runs"), self.target)
        goal = self.goal.replace("_", "-")
        self.name = short_name(
            f"{study.name}-tune-{self.target.workload}-{self.target.variant}-{self.target.scale}-{goal}"
        )
        self.folder = home() / "results" / self.name
        known = noise_scale_in(self.summary, self.target)
        self.noise = Interval(**known) if known else NOTHING
        self.space = self._space(self._why_batch_held())

    @property
    def looks(self) -> bool:
        """Return whether the search begins with a run that measures the gradient noise scale."""
        return self.goal == "goodput" and self._has_batch and isnan(self.noise.value) and self._can_look

    @property
    def _has_batch(self) -> bool:
        return any(knob.key == BATCH for knob in self.space.knobs)

    @property
    def _can_look(self) -> bool:
        workload = self.target.study.workloads[self.target.workload]
        ddp = self.target.study.variants[self.target.variant].strategy != "fsdp"
        return bool(workload.epochs) and ddp and not isinstance(workload, CommandWorkload)

    @property
    def _trains_whole(self) -> bool:
        """Return whether the final runs have epochs and therefore an accuracy."""
        workload = self.target.study.workloads[self.target.workload]
        return workload.run_to_end if isinstance(workload, CommandWorkload) else bool(workload.epochs)

    def _why_batch_held(self) -> str:
        workload = self.target.study.workloads[self.target.workload]
        if isinstance(workload, CommandWorkload):
            return (
                "the script's accuracy at another batch is not known; to search the batch, give values with --try"
            )
        if not workload.epochs:
            return "with epochs: 0 neither accuracy nor the gradient noise scale is measured"
        if self.goal == "goodput" and isnan(self.noise.value) and not self._can_look:
            return "the gradient noise scale is not known, and FSDP does not measure it"
        return ""

    def _space(self, hold_batch: str) -> Space:
        from scalestudy.tune.devices import runs_on_cuda

        return make_space(
            self.target,
            levels=self.levels,
            hold=self.hold,
            hold_batch=hold_batch,
            largest_batch=largest_batch_in(self.summary, self.target),
            cuda=runs_on_cuda(self.target.study.host),
        )

    def opening(self) -> list[str]:
        """Return lines on the search space and the cost, before any run."""
        space, models = self.space, Models.of(self.target, self.summary)
        hopeless = hopeful(space, models, predictions(space, models, self._weighs)).count(False)
        lines = space_lines(space, hopeless=hopeless, weighed=self._weighed())
        return [
            *lines,
            *cost_lines(space, self.budget_device_hours, self.launch_device_s),
            f"folder: {self.folder}",
        ]

    @property
    def _weighs(self) -> float:
        """Return the gradient noise scale that batches are weighted with, in samples; nan if they are not."""
        return self.noise.value if self.goal == "goodput" else nan

    def _weighed(self) -> str:
        if not self._has_batch:
            return ""
        if self.goal == "epoch_time" and not self._trains_whole:
            return "accuracy is not measured, so its value at another batch is not known"
        if self.goal == "epoch_time":
            return "another batch can be the answer only if its accuracy is shown to be kept"
        if self.looks:
            return "batches are weighted with the gradient noise scale, which a first run measures"
        if isnan(self.noise.value):
            return "batches are not weighted: the gradient noise scale is not known"
        return f"batches are weighted with the gradient noise scale, {self.noise.value:.3g} samples"

    def run(self) -> tuple[TuneFile, list[str]]:
        """Search, write the files, and return the result with its lines. Raises UserError and Interrupted."""
        recorded_s = recorded_device_s(self.folder)
        made: list[Launched] = []
        if self.looks:
            live = LiveLaunches(self.space, self.name, self.folder, self.data)
            budget_s = self.budget_device_hours * 3600 / self.target.ranks
            look = live.make(
                self.space.present, "look", 1, left_s=max(1.0, budget_s - ENDING_S), rung=-1, block=-1
            )
            made.append(look)
            print(launch_line(self.space, look, look.throughput_samples_per_s), flush=True)
            if look.cut_off:
                raise UserError(
                    f"--budget {self.budget_device_hours:g}: spent within the first run, after"
                    f" {look.device_time_s:.0f} device-seconds; a search needs some tens of runs"
                )
            if look.outcome != "ok":
                raise UserError(
                    f"the present setting ended as {look.outcome}: {look.reason}; see the log of run {look.run_id}"
                    f" in {self.folder / 'runs'}"
                )
            self.noise = look.noise_scale_samples
            if isnan(self.noise.value) or self.noise.value <= 0:
                self.noise = NOTHING
                self.space = self._space("the gradient noise scale could not be measured")
        race = self._race(made, recorded_s)
        race.run()
        return self._finish(race, recorded_s)

    def _race(self, made: list[Launched], recorded_s: float) -> Race:
        space, models = self.space, Models.of(self.target, self.summary)
        predicted = predictions(space, models, self._weighs)
        race = Race(
            space=space,
            launches=LiveLaunches(space, self.name, self.folder, self.data),
            goal=self.goal,
            chooser=Chooser(
                space, predicted, hopeful(space, models, predicted), sampler=self.sampler, seed=self.seed
            ),
            noise_scale=self._weighs,
            budget_s=self.budget_device_hours * 3600,
            seed=self.seed,
            recorded_s=recorded_s,
            made=made,
        )
        race.decided = decides(lambda: race, self.noise)
        race.told = lambda one: print(launch_line(space, one, race.per_s(one)), flush=True)
        return race

    def _finish(self, race: Race, recorded_s: float) -> tuple[TuneFile, list[str]]:
        space, target = race.space, self.target
        finalists = judge(race, self.noise)
        won = None if race.ended and not finalists else winner(finalists)
        answer = None if race.ended and won is None else (won.setting if won else dict(space.present))
        sentence = sentence_of(space, self.goal, won, race.ended)
        found = TuneFile(
            study=target.study.name,
            workload=target.workload,
            variant=target.variant,
            scale=target.scale,
            scaling=target.scaling,
            goal=self.goal,
            seed=self.seed,
            budget_device_hours=self.budget_device_hours,
            space=tuple(Level(key=one.key, values=one.levels, present=one.present) for one in space.knobs),
            settings=len(space.settings),
            held=dict(space.held),
            noise_scale_samples=Interval(race.noise_scale, self.noise.low, self.noise.high),
            launches=tuple(race.made),
            device_time_s=race.spent_s,
            finalists=finalists,
            answer=answer,
            sentence=sentence,
        )
        write_document(self.folder / FOUND, found)
        table = launches_frame(space, found.launches, race.noise_scale)
        write_text(self.folder / TABLE, csv_text(table))
        never = len(space.settings) - tried_settings(found.launches)
        lines = answer_lines(found, space, never_tried=never, recorded_s=recorded_s)
        if won:
            path = write_beside(self.folder / ANSWER, answer_text(space, self.name, won, sentence))
            lines += ["", f"study file: {path}", f"to run the whole study: scalestudy run --study {path}"]
        write_text(self.folder / TEXT, "\n".join(lines) + "\n")
        return found, lines


def write_beside(path: Path, text: str) -> Path:
    """Write a text to PATH, or to PATH-2 and so on if another text is there. Returns the path of the file."""
    number = 1
    place = path
    while place.exists() and place.read_text(encoding="utf-8") != text:
        number += 1
        place = path.with_name(f"{path.stem}-{number}{path.suffix}")
    if not place.exists():
        write_text(place, text)
    return place


def _mean_device_s(runs: pd.DataFrame, target: Target) -> float:
    from scalestudy.analyse.study.effort import device_time_s

    mine = (runs["workload"] == target.workload) & (runs["world_size"] == target.ranks)
    mine &= runs["outcome"] == "ok"
    return float(device_time_s(runs[mine]).mean()) if mine.any() else nan
