"""Points of several studies side by side, each against the same point of the first study."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import isnan
from typing import Any, NamedTuple

import pandas as pd

from scalestudy.analyse.point.accuracy import compare_accuracy
from scalestudy.analyse.point.protocols import are_comparable, of_one_protocol
from scalestudy.analyse.point.summary import SEEN, launches_of
from scalestudy.analyse.statistics.intervals import NOTHING, Interval, Sample, less, ratio_on_logs
from scalestudy.analyse.study.environment import StudyEnvironment
from scalestudy.analyse.study.questions import Difference, question_differences
from scalestudy.registry.codes import LAUNCH_ENDS, AccuracyKept, NotCompared, Shows
from scalestudy.study.plan import Plan, Point

ONE_PROCESS = "none"
"""What stands for the way of scaling of the plain model in one process: it is one question, whatever is scaled
from it."""

# Taken over from the summary of each study.
MEASURED = (
    *("launches", *(f"launches_{end}" for end in LAUNCH_ENDS)),
    *("step_time_s", "step_time_s_low", "step_time_s_high"),
    *("throughput_samples_per_s", "throughput_samples_per_s_low", "throughput_samples_per_s_high"),
    *("efficiency", "efficiency_low", "efficiency_high"),
    *("validation_accuracy", "validation_accuracy_min", "validation_accuracy_max"),
    *("launches_unsteady", "steadiness", *SEEN, "parameters"),
)
OF_A_RECORD = ("record_sha256", "step_time_s")


class Question(NamedTuple):
    """What makes points of two studies the same one."""

    workload: str
    variant: str
    scaling: str
    """`strong` or `weak`; ONE_PROCESS for the plain model."""
    nodes: int
    devices_per_node: int
    batch_per_rank: int
    global_batch: int


@dataclass(frozen=True)
class Source:
    """A study as its stages left it. The summary has a row for every point of the plan, in its order."""

    letter: str
    plan: Plan
    summary: pd.DataFrame
    runs: pd.DataFrame
    environment: StudyEnvironment

    def asked(self) -> dict[Question, Asked]:
        """The point of each question; the base case before a reference at the same batch."""
        found: dict[Question, Asked] = {}
        for point, (_, row) in zip(self.plan.points, self.summary.iterrows(), strict=True):
            alone = self.plan.study.variants[point.variant].strategy == "single"
            content = point.model_dump(include=set(Question._fields))
            question = Question(**content | ({"scaling": ONE_PROCESS} if alone else {}))
            found.setdefault(question, Asked(self, point, row))
        return found


@dataclass(frozen=True)
class Asked:
    """A point of a study, and its row of the summary."""

    source: Source
    point: Point
    row: pd.Series

    @cached_property
    def launches(self) -> pd.DataFrame:
        """Its rows of runs.csv."""
        runs = self.source.runs
        return runs[runs["run_id"].isin(self.point.runs)]

    @cached_property
    def good(self) -> pd.DataFrame:
        """Launches that came to their end with steady steps, of one measurement protocol."""
        mine = self.launches
        return of_one_protocol(mine[(mine["outcome"] == "ok") & mine["step_time_s"].notna()])

    @property
    def throughputs(self) -> Sample:
        """Samples a second of its good launches."""
        return launches_of(self.good, "throughput_samples_per_s", self.source.plan.study)

    @property
    def accuracies(self) -> pd.Series:
        """Validation accuracy of its good launches, by their seed."""
        seeds = [self.source.plan.runs[run_id].seed for run_id in self.good["run_id"]]
        return pd.Series(self.good["validation_accuracy"].to_numpy(float), index=seeds, dtype=float)


@dataclass(frozen=True)
class Refusal:
    """A workload and variant that two studies have by name, and that are not the same in them."""

    letter: str
    """Of the study that differs from the first."""
    workload: str
    variant: str
    differences: tuple[Difference, ...]


@dataclass(frozen=True)
class Comparison:
    """What compare_studies finds."""

    points: pd.DataFrame
    """A row per question and study that has it: see compare_studies."""
    refusals: tuple[Refusal, ...]

    @property
    def compared(self) -> pd.DataFrame:
        """Its rows of other studies that are held against the first, whether or not both were measured."""
        others = self.points["study"] != self.points["study"].iloc[0]
        compared: pd.DataFrame = self.points[others & (self.points["not_compared"] == NotCompared.NONE)]
        return compared


def compare_studies(sources: Sequence[Source]) -> Comparison:
    """Every question that any study asked, and the ratio of each study to the first where both asked it.

    Rows in the order of the first study, what only others have after it. Columns: `study` (its letter), the
    Question, MEASURED as the summary has it, `is_base`, `base_variant`, `is_reference` (one process at a batch
    that is nobody's base case). Against the first study: `throughput_ratio` and `efficiency_difference` with
    limits, and what they show (`throughput_shows`, `efficiency_shows`); `accuracy_difference` with limits,
    `accuracy_shows`, and `pairs`, the launches of one seed behind it. `not_compared`: why there is nothing of
    that. What words say are codes of registry/codes.py.

    All are at the confidence and accuracy margin of the first study; intervals of all have to be at that
    confidence already. Launches of two studies are independent samples.
    """
    asked = [source.asked() for source in sources]
    refusals = [refusal for others in asked[1:] for refusal in _refusals(asked[0], others)]
    refused = {(item.letter, item.workload, item.variant) for item in refusals}
    rows = []
    for question in dict.fromkeys(question for points in asked for question in points):
        first = asked[0].get(question)
        mine = [_row(question, points[question], first, refused) for points in asked if question in points]
        if first:
            others = [row["not_compared"] for row in mine[1:]] or [NotCompared.ONLY_IN_FIRST]
            mine[0]["not_compared"] = NotCompared.NONE if NotCompared.NONE in others else others[0]
        alone = question.scaling == ONE_PROCESS and not any(row["is_base"] for row in mine)
        rows += [row | {"is_reference": alone} for row in mine]
    return Comparison(pd.DataFrame(rows), tuple(refusals))


def _refusals(mine: dict[Question, Asked], theirs: dict[Question, Asked]) -> list[Refusal]:
    """Variants of workloads that are not the same in two studies, with every key that differs at any point."""
    found: dict[tuple[str, str, str], dict[str, Difference]] = {}
    for question, first in mine.items():
        if other := theirs.get(question):
            points = [(one.source.plan, one.point) for one in (first, other)]
            differences = question_differences(*points) or _built_differently(question, first.row, other.row)
            key = (other.source.letter, question.workload, question.variant)
            found.setdefault(key, {}).update({difference.key: difference for difference in differences})
    return [Refusal(*key, tuple(differences.values())) for key, differences in found.items() if differences]


def _built_differently(question: Question, row: pd.Series, other: pd.Series) -> list[Difference]:
    """Models of the same settings that have not as many parameters: libraries differ in what they build."""
    counts = (row["parameters"], other["parameters"])
    if counts[0] == counts[1] or any(map(isnan, counts)):
        return []
    return [Difference(f"parameters of {question.workload} as it was built", tuple(map(int, counts)))]


def _row(
    question: Question, mine: Asked, first: Asked | None, refused: set[tuple[str, str, str]]
) -> dict[str, Any]:
    study, why_not = mine.source.plan.study, _why_not(question, mine, first, refused)
    ratio = difference = accuracy = NOTHING
    kept, pairs = AccuracyKept.NONE, 0
    if first and first is not mine and why_not is NotCompared.NONE:
        report = first.source.plan.study.report
        ratio = ratio_on_logs(mine.throughputs, first.throughputs, confidence=report.confidence)
        if not (
            mine.row["is_base"] or first.row["is_base"]
        ):  # which have an efficiency of 1 by what the word means
            difference = less(Interval.of(mine.row, "efficiency"), Interval.of(first.row, "efficiency"))
        accuracy, shown = compare_accuracy(
            mine.accuracies, first.accuracies, margin=report.accuracy_margin, confidence=report.confidence
        )
        pairs = int((mine.accuracies - first.accuracies).notna().sum())
        kept = shown if pairs else kept
    return {
        "study": mine.source.letter,
        **question._asdict(),
        "world_size": mine.point.world_size,
        "is_base": bool(mine.row["is_base"]),
        "base_variant": study.base_of(mine.point.variant),
        **{name: mine.row[name] for name in MEASURED},
        **ratio.columns("throughput_ratio"),
        **difference.columns("efficiency_difference"),
        **accuracy.columns("accuracy_difference"),
        "throughput_shows": shows(ratio, than=1, below=Shows.SLOWER, above=Shows.FASTER),
        "efficiency_shows": shows(difference, than=0, below=Shows.LOWER, above=Shows.HIGHER),
        "accuracy_shows": kept,
        "pairs": pairs,
        "not_compared": why_not,
    }


def _why_not(
    question: Question, mine: Asked, first: Asked | None, refused: set[tuple[str, str, str]]
) -> NotCompared:
    if first is None:
        return NotCompared.NOT_IN_FIRST
    if first is mine:
        return NotCompared.NONE
    if (mine.source.letter, question.workload, question.variant) in refused:
        return NotCompared.OTHER_QUESTION
    if _shared(first.launches, mine.launches):
        return NotCompared.SAME_LAUNCHES
    return NotCompared.NONE if are_comparable(mine.good, first.good) else NotCompared.OTHER_PROTOCOL


def shows(interval: Interval, *, than: float, below: Shows, above: Shows) -> Shows:
    """What an interval shows of a quantity beside a number."""
    if isnan(interval.value):
        return Shows.NONE
    if isnan(interval.low):
        return Shows.NO_INTERVAL
    if interval.high < than:
        return below
    return above if interval.low > than else Shows.NO_DIFFERENCE


def _shared(first: pd.DataFrame, second: pd.DataFrame) -> bool:
    """Whether a launch is in both: a copied folder, or a study that was edited and has kept it."""
    if not all(name in frame for name in OF_A_RECORD for frame in (first, second)):
        return False
    records = [set(zip(*(frame[name].map(str) for name in OF_A_RECORD), strict=True)) for frame in (first, second)]
    return bool(records[0] & records[1])
