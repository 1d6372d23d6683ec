"""One point and the rows it is compared with: all the data that a cause may use."""

from dataclasses import dataclass, replace
from functools import cached_property
from math import isnan
from typing import Any

import pandas as pd

from scalestudy.analyse.point.protocols import measured_of, same_meaning
from scalestudy.analyse.point.rows import SERIES, WORK, alone_by_batch, base_of, distributed
from scalestudy.analyse.point.scaling import compounded_efficiency
from scalestudy.analyse.statistics.intervals import NOTHING, Interval
from scalestudy.diagnose.findings import Evidence, Recommendation
from scalestudy.diagnose.goal import noise_scale_of, progress, worth
from scalestudy.diagnose.imported import for_imported
from scalestudy.diagnose.scripts import for_script, with_seen
from scalestudy.errors import RefusedStudyError
from scalestudy.registry.codes import Goal
from scalestudy.registry.words.percent import percent
from scalestudy.study.config.commands import CommandWorkload
from scalestudy.study.config.load import merge, parse_study
from scalestudy.study.config.study import Study
from scalestudy.study.config.variants import Variant


@dataclass(frozen=True)
class Case:
    """A distributed point of the summary, its baseline, and the single-process points of the same workload."""

    study: Study
    point: pd.Series
    base: pd.Series
    alone: pd.DataFrame
    """All single-process points of the base variant: one row per batch size."""
    forecasts: pd.DataFrame
    """Rows of forecasts.csv for this variant and scaling."""
    peers: pd.DataFrame
    """Rows of other variants with the same workload, scaling, scale and batch."""
    smaller: pd.DataFrame
    """Rows of the same variant, workload and scaling on fewer ranks, but more than one."""

    @property
    def ranks(self) -> int:
        return int(self.point["world_size"])

    @property
    def target_efficiency(self) -> float:
        """The target efficiency per doubling, compounded over the doublings from the baseline to these ranks."""
        return compounded_efficiency(self.study.report.target_efficiency, self.ranks / self.base_ranks)

    @property
    def base_ranks(self) -> int:
        """Ranks of the baseline; tables of earlier releases lack the column."""
        return int(self.point.get("base_world_size", 1))

    @property
    def goal(self) -> Goal:
        return Goal(self.study.report.goal)

    @cached_property
    def noise_scale(self) -> Interval:
        """The gradient noise scale at the end of the training, in samples; NOTHING if it was not measured.

        NOTHING also without epochs: the noise scale of a hardly trained network is meaningless.
        """
        trained = self.study.workloads[self.point["workload"]].epochs
        return noise_scale_of(self.point, self.base) if trained else NOTHING

    @cached_property
    def knobs(self) -> Variant:
        """The settings of the point: from the study, and for a script from what was observed."""
        variant = self.study.variants[self.point["variant"]]
        return variant if self.script is None else with_seen(variant, self.point["seen"])

    @property
    def script(self) -> CommandWorkload | None:
        """The workload if it is the user's own script, else None."""
        workload = self.study.workloads[self.point["workload"]]
        return workload if isinstance(workload, CommandWorkload) else None

    def interval(self, column: str) -> Interval:
        """A quantity of the point with its interval."""
        return Interval.of(self.point, column)

    def variant_patch(self, change: dict[str, Any]) -> dict[str, Any]:
        """A patch of the study that changes how the point is run."""
        return {"variants": {self.point["variant"]: change}}

    def accepted(self, recommendation: Recommendation) -> Recommendation:
        """The recommendation with its worth.

        If the study would refuse the patch, the patch is removed and the warning says why. For a script, the
        recommendation names the line to change where the study has no key for it.
        """
        noise, level = self.noise_scale, self.study.level
        update: dict[str, Any] = {"worth": worth(recommendation, self.goal, self.point, noise, confidence=level)}
        if recommendation.prediction is not None:
            known = progress(recommendation, self.point, noise, confidence=level)
            update["prediction"] = recommendation.prediction.model_copy(update={"progress": known})
        recommendation = recommendation.model_copy(update=update)
        if self.study.imported:
            return for_imported(recommendation)
        if self.script is not None:
            recommendation = for_script(recommendation, self)
        if not recommendation.patch:
            return recommendation
        try:
            parse_study(merge(self.study.model_dump(mode="json"), recommendation.patch), source="patch")
        except RefusedStudyError as error:
            refused = "\n  ".join(error.problems)
            warning = f"{recommendation.warning} The study would refuse this change: {refused}.".strip()
            return recommendation.model_copy(update={"patch": None, "warning": warning})
        return recommendation

    def beyond_alone(self, column: str) -> float:
        """Seconds that a part of the step takes beyond the same part in one process at equal batch per rank.

        The whole part if no such process was run.
        """
        same = self.alone[self.alone["batch_per_rank"] == self.point["batch_per_rank"]]
        known = same[column].dropna()
        return float(self.point[column]) - (float(known.iloc[0]) if len(known) else 0.0)

    def overhead_evidence(self) -> tuple[Evidence, ...]:
        """The overhead of a step as evidence; empty if it was not measured."""
        overhead = self.interval("overhead_s")
        return () if isnan(overhead.value) else (Evidence.of("overhead", "overhead per step", overhead, "ms"),)

    def overhead_share_evidence(self) -> Evidence:
        """The overhead as a share of the step."""
        share = self.share_of_step(self.interval("overhead_s"))
        return Evidence.of("overhead_share", "overhead as a share of the step", share, "%")

    def share_of_step(self, seconds: Interval) -> Interval:
        """These seconds as a fraction of the step. They are a part of it, so the upper limit is at most 1."""
        share = seconds.scaled(1 / self.point["step_time_s"])
        return replace(share, high=min(share.high, 1.0)) if share.value <= 1 else share

    def share_evidence(self, seconds: Interval | float, threshold: float, source: str = "") -> Evidence:
        """These seconds as a percentage of the step, compared with a threshold (a fraction)."""
        share = self.share_of_step(seconds if isinstance(seconds, Interval) else Interval(seconds))
        return Evidence.of("share_of_step", "share of the step", share, "%", f">= {percent(threshold)}{source}")

    def efficiency_evidence(self, threshold: str) -> Evidence:
        """The efficiency in percent with its interval, compared with a threshold."""
        return Evidence.of("efficiency", "efficiency", self.interval("efficiency"), "%", threshold)


def make_cases(study: Study, summary: pd.DataFrame, forecasts: pd.DataFrame) -> list[Case]:
    """A case for every distributed point of the summary (world size above 1)."""
    cases = []
    of_workload = dict(list(summary.groupby("workload", sort=False)))  # a point is compared within its workload
    for _, point in distributed(summary).iterrows():
        summary = of_workload[point["workload"]]
        base, alone = base_of(summary, point).iloc[0], alone_by_batch(summary, point)
        mine = forecasts[(forecasts[SERIES] == point[SERIES]).all(axis=1)]
        peers = summary[(summary[WORK] == point[WORK]).all(axis=1)]
        peers = peers[(peers["variant"] != point["variant"]) & same_meaning(peers, measured_of(point))]
        series = summary[(summary[SERIES] == point[SERIES]).all(axis=1)]
        smaller = series[(series["world_size"] > 1) & (series["world_size"] < point["world_size"])]
        smaller = smaller[same_meaning(smaller, measured_of(point))]
        cases.append(
            Case(
                study=study,
                point=point,
                base=base,
                alone=alone,
                forecasts=mine,
                peers=peers,
                smaller=smaller,
            )
        )
    return cases
