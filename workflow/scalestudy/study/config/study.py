"""The config model: what a study file may say. Schema and `config/README.md` are generated from it."""

from __future__ import annotations

from copy import deepcopy
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, model_validator

from scalestudy.study.config.conditions import Host
from scalestudy.study.config.consistent import inconsistent
from scalestudy.study.config.datasets import Data
from scalestudy.study.config.distinct import distinct
from scalestudy.study.config.entry import Entry, refuse
from scalestudy.study.config.report import Report
from scalestudy.study.config.scales import Scale
from scalestudy.study.config.stopping import StudyMeasure
from scalestudy.study.config.tune import Tune
from scalestudy.study.config.variants import Name, Variant
from scalestudy.study.config.verify import Verify
from scalestudy.study.config.workloads import AnyWorkload
from scalestudy.study.identity import DEFAULTS, SEEDS, keep_defaults
from scalestudy.study.limits import Limits
from scalestudy.study.looks import level_of_a_look, looks

FIRST_REPEATS, MOST_REPEATS = 3, 12
"""Launches of a point before it is decided on more, and at the most, in a study that names neither."""


class Study(Entry):
    """A scaling study: every workload, run by every variant at every scale, `repeats` times."""

    name: Name = Field(alias="study")
    """Name of the study; its results stand in `results/<study>/`."""
    description: str = ""
    """One or two sentences for the head of the report."""
    seed: int = Field(1, ge=0, lt=SEEDS)
    """Seed of the order of launches; launch r trains with seed + r."""
    defaults: int = Field(DEFAULTS, ge=1, le=DEFAULTS)
    """Version of the defaults of the keys that are left out; the newest if unset. A study that was planned before
    keeps the version in its `results/<study>/plan.json` unless it is set here."""
    repeats: int = Field(FIRST_REPEATS, ge=1)
    """Launches of every point before anything is decided: fresh processes each time. Fewer than 2 give no
    interval; 3 give a wide one, since the spread of 3 says little of how launches scatter."""
    max_repeats: int | None = Field(None, ge=1)
    """Launches of a point at the most. Where it is above `repeats`, more are made until `measure.until` holds;
    that needs at least 2 `repeats`. Unless given, 12 where `repeats` is not given either, else `repeats`."""
    most_launches: int = Field(10_000, ge=1)
    """Launches that the plan may hold. A study that comes to more is refused: it is usually a slip."""
    profile: bool = False
    """Trace a few extra steps of the first launch of every configuration with torch.profiler: for Perfetto and
    TensorBoard, with a summary in the report. Timed steps are never traced."""
    time_limit_min: float = Field(30, gt=0)
    """Minutes after which a launch is ended, with outcome `timeout`."""
    start_limit_s: float = Field(300, gt=0)
    """Seconds for all nodes of a launch to come up and meet; then it is `failed`, and the reason says who came."""
    stall_limit_s: float = Field(300, gt=0)
    """Seconds in which every rank has to move on. One that stands still in a single call for longer, as all do in
    a collective that a rank never comes to, ends the launch as `failed`, and the reason names the rank."""
    allocation_limit_min: float = Field(300, gt=0)
    """Minutes that one job of a cluster is asked for at the most. Launches share as few jobs as that allows; each
    job holds time for all of its launches to reach `time_limit_min`."""
    allocations: Literal["auto", "blocks", "scales"] = "auto"
    """Which launches share a job of a cluster. `blocks`: all launches of a repeat, so that drift between jobs and
    nodes cancels. A job then has the devices of its largest launch, and smaller launches leave some of them idle.
    `scales`: launches of one scale; no device is idle, and drift between jobs does not cancel. `auto`: blocks of
    all scales on one node, and of larger ones while at most half of the device-time is idle; the rest by scale."""
    scales: Annotated[tuple[Scale, ...], AfterValidator(distinct)] = Field(min_length=1)
    """Scales of the distributed variants, NODESxDEVICES: `1x2`. The `single` variants always run at 1x1."""
    variants: dict[Name, Variant] = Field(min_length=1)
    """How the workloads are run, by name."""
    workloads: dict[Name, AnyWorkload] = Field(min_length=1)
    """What is trained, by name."""
    host: Host = Host()
    """What every rank gets of the machine."""
    measure: StudyMeasure = StudyMeasure()
    """How long is measured."""
    report: Report = Report()
    """What the numbers are held to."""
    verify: Verify = Verify()
    """Whether the study tries its own advice."""
    tune: Tune = Tune()
    """What `scalestudy tune` searches."""

    def base_of(self, variant: str) -> str:
        """Name of the single variant that a variant is compared with; a single variant is its own."""
        if self.variants[variant].strategy == "single":
            return variant
        return self.variants[variant].base or self.singles()[0]

    def singles(self) -> list[str]:
        """Names of the variants of one process."""
        return [name for name, variant in self.variants.items() if variant.strategy == "single"]

    @model_validator(mode="before")
    @classmethod
    def _defaults(cls, content: Any) -> Any:
        """The defaults of the version that is asked for; that of `max_repeats` depends on what else is given."""
        if not isinstance(content, dict):
            return content
        version = content.get("defaults")
        if isinstance(version, int):
            content = keep_defaults(deepcopy(content), version)
        return content if {"repeats", "max_repeats"} & set(content) else content | {"max_repeats": MOST_REPEATS}

    @model_validator(mode="after")
    def _consistent(self) -> Study:
        """Every workload, variant and scale can be run together, and what is named exists."""
        refuse(inconsistent(self))
        return self

    @property
    def limits(self) -> Limits:
        """What ends a launch."""
        return Limits(
            time_limit_min=self.time_limit_min, start_limit_s=self.start_limit_s, stall_limit_s=self.stall_limit_s
        )

    @property
    def data_in_files(self) -> dict[str, Data]:
        """Data that have to be prepared, by the folder that they are prepared in; workloads may share them."""
        found = (getattr(workload, "data", None) for workload in self.workloads.values())
        return {data.store_name: data for data in found if data and data.prepared}

    @property
    def most_repeats(self) -> int:
        """Launches of a point at the most."""
        return self.max_repeats or self.repeats

    @property
    def until_decided(self) -> bool:
        """Whether launches beyond `repeats` are made until verdicts are decided."""
        return self.measure.until == "decided" and self.most_repeats > self.repeats

    @property
    def looks(self) -> tuple[int, ...]:
        """Numbers of repeats at which intervals may be judged; a single one where that decides nothing."""
        return looks(self.repeats, self.most_repeats) if self.until_decided else (self.most_repeats,)

    @property
    def decisions(self) -> tuple[int, ...]:
        """Numbers of repeats after which it is decided, for all points together, which launches are made next.

        After the first repeat only where there is a budget, which it may have used up.
        """
        first = {1} if self.measure.budget_device_hours and self.most_repeats > 1 else set()
        return tuple(sorted({*self.looks[:-1]} | first))

    @property
    def level(self) -> float:
        """Confidence level of each interval, at which all looks together have `report.confidence`."""
        return level_of_a_look(self.report.confidence, len(self.looks))

    @property
    def repeats_for_spread(self) -> int:
        """Repeats whose spread intervals are made of: the first ones where these alone decide on further ones."""
        return self.most_repeats if self.until_decided else self.repeats

    def host_of(self, variant: str) -> Host:
        """What a rank of a variant gets: the host's settings, with the variant's own environment and start on
        top."""
        mine = self.variants[variant]
        environment = self.host.environment | mine.environment
        return self.host.model_copy(update={"environment": environment, "start": mine.start or self.host.start})
