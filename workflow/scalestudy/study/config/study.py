"""The config model: the keys of a study file. Schema and `config/README.md` are generated from it."""

from __future__ import annotations

from copy import deepcopy
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, model_validator

from scalestudy.study.config.conditions import Host
from scalestudy.study.config.consistent import inconsistent
from scalestudy.study.config.datasets import Data
from scalestudy.study.config.distinct import distinct
from scalestudy.study.config.entry import Entry, refuse
from scalestudy.study.config.imported import ImportedWorkload
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
"""`repeats` and `max_repeats` of a study that sets neither."""


class Study(Entry):
    """A scaling study: every workload is run with every variant at every scale, `repeats` times."""

    name: Name = Field(alias="study")
    """Name of the study; its results are in `results/<study>/`."""
    description: str = ""
    """One or two sentences for the head of the report."""
    seed: int = Field(1, ge=0, lt=SEEDS)
    """Seed of the order of runs; repeat r trains with seed + r."""
    defaults: int = Field(DEFAULTS, ge=1, le=DEFAULTS)
    """Version of the defaults of the keys that are left out; the newest if unset. A study that is already planned
    keeps the version in its `results/<study>/plan.json` unless it is set here."""
    repeats: int = Field(FIRST_REPEATS, ge=1)
    """Runs of every point before anything is decided, each in fresh processes. One run gives no interval; 3 give a
    wide one, since 3 runs are too few to estimate the spread well."""
    max_repeats: int | None = Field(None, ge=1)
    """Largest number of runs of a point. If it is above `repeats`, further repeats are run until the condition of
    `measure.until` is met; that needs at least 2 `repeats`. If unset, 12 where `repeats` is unset too, else
    `repeats`."""
    most_launches: int = Field(10_000, ge=1)
    """Runs that the plan may have. A study with more is refused, since it is usually a mistake."""
    accept_large_numbers: bool = False
    """Accept numbers that are one or two powers of ten above the largest values in use, such as a learning rate of
    20000. They are refused otherwise, since they are usually a wrong unit."""
    profile: bool = False
    """Trace a few extra steps of the first run of every point with torch.profiler, for Perfetto and TensorBoard,
    with a summary in the report. Timed steps are never traced."""
    time_limit_min: float = Field(30, gt=0)
    """Minutes after which a run is stopped, with outcome `timeout`."""
    start_limit_s: float = Field(300, gt=0)
    """Seconds for all nodes of a run to start and meet. After that it is `failed`, and the reason lists the nodes
    that were present."""
    stall_limit_s: float = Field(300, gt=0)
    """Seconds without progress after which a rank ends the run as `failed`; the reason names the rank. Ranks make
    no progress, for instance, in a collective that one rank never joins."""
    allocation_limit_min: float = Field(300, gt=0)
    """Longest time of one cluster job, in minutes. Runs share as few jobs as that allows; each job has time for
    all of its runs to reach `time_limit_min`."""
    allocations: Literal["auto", "blocks", "scales"] = "auto"
    """Which runs share a cluster job. `blocks`: all runs of a repeat, so that drift between jobs and nodes
    cancels. A job then has the devices of its largest run, and smaller runs leave some of them idle. `scales`:
    runs of one scale; no device is idle, and drift between jobs does not cancel. `auto`: blocks of all scales on
    one node, and of larger scales while at most half of the device-time is idle; the other scales have jobs of
    their own."""
    scales: Annotated[tuple[Scale, ...], AfterValidator(distinct)] = Field(min_length=1)
    """Scales of the distributed variants, NODESxDEVICES: `1x2`. The `single` variants always run at 1x1."""
    variants: dict[Name, Variant] = Field(min_length=1)
    """How the workloads are run, by name."""
    workloads: dict[Name, AnyWorkload] = Field(min_length=1)
    """What is trained, by name."""
    host: Host = Host()
    """Share of the machine that every rank gets."""
    measure: StudyMeasure = StudyMeasure()
    """How long each run measures, and the number of runs."""
    report: Report = Report()
    """Settings of the analysis and the documents."""
    verify: Verify = Verify()
    """Whether the study tries its own advice, and the budget."""
    tune: Tune = Tune()
    """Search space of `scalestudy tune`."""

    def base_of(self, variant: str) -> str:
        """Name of the single variant that is the baseline of a variant; a single variant is its own.

        Without a single variant, as in an imported study, the baseline is the variant's own smallest scale.
        """
        if self.variants[variant].strategy == "single":
            return variant
        return self.variants[variant].base or next(iter(self.singles()), variant)

    @property
    def imported(self) -> bool:
        """Whether its runs were imported from logs of other tools."""
        return any(isinstance(workload, ImportedWorkload) for workload in self.workloads.values())

    def singles(self) -> list[str]:
        """Names of the variants of one process."""
        return [name for name, variant in self.variants.items() if variant.strategy == "single"]

    @model_validator(mode="before")
    @classmethod
    def _defaults(cls, content: Any) -> Any:
        """The content with the defaults of its version; the default of `max_repeats` depends on `repeats`."""
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
        """The time limits of a run."""
        return Limits(
            time_limit_min=self.time_limit_min, start_limit_s=self.start_limit_s, stall_limit_s=self.stall_limit_s
        )

    @property
    def data_in_files(self) -> dict[str, Data]:
        """Data that must be prepared, by the folder that they are prepared in; workloads may share them."""
        found = (getattr(workload, "data", None) for workload in self.workloads.values())
        return {data.store_name: data for data in found if data and data.prepared}

    @property
    def most_repeats(self) -> int:
        """Largest number of runs of a point."""
        return self.max_repeats or self.repeats

    @property
    def until_decided(self) -> bool:
        """Whether repeats beyond `repeats` are run until verdicts are decided."""
        return self.measure.until == "decided" and self.most_repeats > self.repeats

    @property
    def looks(self) -> tuple[int, ...]:
        """Numbers of repeats at which intervals are judged; one number where no further repeats depend on it."""
        return looks(self.repeats, self.most_repeats) if self.until_decided else (self.most_repeats,)

    @property
    def decisions(self) -> tuple[int, ...]:
        """Numbers of repeats after which the next runs are chosen, for all points together.

        The first repeat is one of them only if there is a budget, which it may have used up.
        """
        first = {1} if self.measure.budget_device_hours and self.most_repeats > 1 else set()
        return tuple(sorted({*self.looks[:-1]} | first))

    @property
    def level(self) -> float:
        """Confidence level of each interval, such that all looks together have `report.confidence`."""
        return level_of_a_look(self.report.confidence, len(self.looks))

    @property
    def repeats_for_spread(self) -> int:
        """Number of repeats that intervals are computed from: `repeats` where these alone decide on further
        ones."""
        return self.most_repeats if self.until_decided else self.repeats

    def host_of(self, variant: str) -> Host:
        """The host settings of a variant: those of the study, overridden by the variant's environment and
        start."""
        mine = self.variants[variant]
        environment = self.host.environment | mine.environment
        return self.host.model_copy(update={"environment": environment, "start": mine.start or self.host.start})
