"""The runs of a search: each is a run of an ordinary study, recorded as one, and kept if it exists."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from math import nan
from pathlib import Path
from typing import TYPE_CHECKING

from scalestudy.analyse.statistics.intervals import NOTHING, Interval
from scalestudy.cli.search.tune_costs import replaced_device_s
from scalestudy.tune.model import Kind, Launched
from scalestudy.tune.race import MARGIN
from scalestudy.tune.space import Space
from scalestudy.tune.target import Setting

if TYPE_CHECKING:
    from scalestudy.study.spec import RunSpec

MOST_REPEATS = 99
"""Repeats of the study that the runs are taken from; more than any search needs."""


@dataclass(frozen=True)
class LiveLaunches:
    """Runs settings and records them in `folder`/runs. name: the study whose results folder this is."""

    space: Space
    name: str
    folder: Path
    data: Path

    def spec(self, setting: Setting, kind: Kind, repeat: int) -> RunSpec:
        """Return the spec of a run. Whole runs are those of the study with which the search ends."""
        from scalestudy.study.specs import make_spec

        target, present = self.space.target, self.space.present
        study = target.study_of(setting, present, name=self.name, repeats=MOST_REPEATS, whole=kind != "short")
        workload, variant = target.workload_name(setting), target.variant_name(setting, present)
        spec = make_spec(study, workload, variant, target.scale, target.batch_per_rank(setting), repeat)
        if kind != "look":
            return spec
        rounds = target.study.measure.probe_rounds or 2
        return spec.model_copy(update={"measure": spec.measure.model_copy(update={"probe_rounds": rounds})})

    def is_made(self, setting: Setting, kind: Kind, repeat: int) -> bool:
        """Return whether the run is already recorded."""
        from scalestudy.record.observation import read_record

        place = self.folder / "runs" / self.spec(setting, kind, repeat).run_id
        return (place / "run.json").exists() and read_record(place).outcome != "preempted"

    def make(self, setting: Setting, kind: Kind, repeat: int, *, left_s: float, rung: int, block: int) -> Launched:
        """Measure a run, which is ended after left_s seconds. Raises the errors of measure_run.
        A run that something else on the host disturbed is set aside and repeated once, when the host is quiet, if
        there is time left for it. Its device-seconds are then the sum of both, also if it was recorded before: a
        search that is repeated makes the same choices only if each run costs what it did.
        """
        from scalestudy.launch.guards.moment import better_moment_s
        from scalestudy.launch.place import set_aside

        begin = time.monotonic()
        one = self._make(setting, kind, repeat, left_s=left_s, rung=rung, block=block)
        left_s -= time.monotonic() - begin
        again = one.spoiled and one.measured_now and self.space.target.study.measure.replace_spoiled
        if again and left_s >= MARGIN * one.device_time_s / self.space.target.ranks:
            set_aside(self.folder / "runs" / one.run_id, self.folder)
            quiet_s = better_moment_s()
            one = self._make(setting, kind, repeat, left_s=left_s, rung=rung, block=block, quiet_within_s=quiet_s)
        cost_s = one.device_time_s + replaced_device_s(self.folder, one.run_id)
        return one.model_copy(update={"device_time_s": cost_s})

    def _make(
        self,
        setting: Setting,
        kind: Kind,
        repeat: int,
        *,
        left_s: float,
        rung: int,
        block: int,
        quiet_within_s: float = 0.0,
    ) -> Launched:
        from scalestudy.analyse.guard.pairs import spoiled_in
        from scalestudy.analyse.run.noise import SCALE, noise_of
        from scalestudy.analyse.run.spoiled import spoiled_of
        from scalestudy.analyse.run.steps import measured
        from scalestudy.launch.place import set_aside
        from scalestudy.launch.process import raise_on_signals
        from scalestudy.launch.run import measure_run
        from scalestudy.record.observation import HELD_DEVICES
        from scalestudy.record.tables import read_observation

        spec = self.spec(setting, kind, repeat)
        limits = self.space.target.study.limits
        limits = replace(limits, quiet_within_s=quiet_within_s)
        short = left_s / 60 < limits.time_limit_min
        if short:
            limits = replace(limits, time_limit_min=left_s / 60, cut="the search has no more budget left")
        record, anew = measure_run(spec, self.folder, limits=limits, data=self.data)
        raise_on_signals()
        cut_off = short and anew and record.outcome == "timeout"
        if cut_off:
            set_aside(self.folder / "runs" / record.run_id, self.folder)
        throughput, epoch_time_s, accuracy = nan, nan, nan
        spoiled: tuple[str, ...] = ()
        if record.outcome == "ok":
            observation = read_observation(self.folder / "runs" / record.run_id)
            found = measured(observation, confidence=0.95)
            throughput = float(found["throughput_samples_per_s"])
            limits_of_host = self.space.target.study.report.spoiled
            spoiled = spoiled_in([spoiled_of(observation, limits_of_host, warmup_steps=found["warmup_steps"])])
            if len(epochs := observation.epochs):
                epoch_time_s = float(epochs["epoch_time_s"].mean())
                accuracy = float(epochs["validation_accuracy"].iloc[-1])
        noise = Interval.of(noise_of(record, confidence=0.95), SCALE) if kind == "look" else NOTHING
        held = record.environment.get(HELD_DEVICES) or spec.world_size
        return Launched(
            setting=dict(setting),
            kind=kind,
            repeat=repeat,
            rung=rung,
            block=block,
            run_id=record.run_id,
            outcome=record.outcome,
            reason=record.reason,
            throughput_samples_per_s=throughput,
            epoch_time_s=epoch_time_s,
            validation_accuracy=accuracy,
            noise_scale_samples=noise,
            device_time_s=record.totals.wall_time_s * held,
            measured_now=anew,
            cut_off=cut_off,
            spoiled=spoiled,
        )
