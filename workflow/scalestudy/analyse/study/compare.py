"""Points of several studies side by side, each against the same point of the first study."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isnan
from typing import Any, NamedTuple

import pandas as pd

from scalestudy.analyse.point.accuracy import compare_accuracy
from scalestudy.analyse.point.protocols import are_comparable, of_one_protocol
from scalestudy.analyse.point.summary import SEEN, launches_of
from scalestudy.analyse.statistics.intervals import NOTHING, Interval, less, ratio_on_logs
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

    @property
    def points(self) -> dict[Question, tuple[Point, pd.Series]]:
        """Point and row of each question; the base case before a reference at the same batch."""
        found: dict[Question, tuple[Point, pd.Series]] = {}
        for point, (_, row) in zip(self.plan.points, self.summary.iterrows(), strict=True):
            found.setdefault(self._question(point), (point, row))
        return found

    def _question(self, point: Point) -> Question:
        alone = self.plan.study.variants[point.variant].strategy == "single"
        content = point.model_dump(include=set(Question._fields))
        return Question(**content | ({"scaling": ONE_PROCESS} if alone else {}))

    def launches(self, point: Point) -> pd.DataFrame:
        """Rows of runs.csv of the launches of a point."""
        return self.runs[self.runs["run_id"].isin(point.runs)]

    def good(self, point: Point) -> pd.DataFrame:
        """Those of them that came to their end with steady steps, of one measurement protocol."""
        mine = self.launches(point)
        return of_one_protocol(mine[(mine["outcome"] == "ok") & mine["step_time_s"].notna()])


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
    asked = [source.points for source in sources]
    refusals = [
        refusal
        for source, points in zip(sources[1:], asked[1:], strict=True)
        for refusal in _refusals(sources[0], asked[0], source, points)
    ]
    refused = {(item.letter, item.workload, item.variant) for item in refusals}
    rows = []
    for question in dict.fromkeys(question for points in asked for question in points):
        mine = [
            _row(sources[0], source, question, points[question], asked[0].get(question), refused)
            for source, points in zip(sources, asked, strict=True)
            if question in points
        ]
        if question in asked[0]:
            mine[0]["not_compared"] = _together([row["not_compared"] for row in mine[1:]])
        alone = question.scaling == ONE_PROCESS and not any(row["is_base"] for row in mine)
        rows += [row | {"is_reference": alone} for row in mine]
    return Comparison(pd.DataFrame(rows), tuple(refusals))


def _together(others: Sequence[NotCompared]) -> NotCompared:
    """Why the first study is compared with none of those that have its point, if it is with none."""
    reasons = set(others)
    if not reasons:
        return NotCompared.ONLY_IN_FIRST
    if NotCompared.NONE in reasons:
        return NotCompared.NONE
    return reasons.pop() if len(reasons) == 1 else NotCompared.SEVERAL_REASONS


def _refusals(
    first: Source,
    mine: dict[Question, tuple[Point, pd.Series]],
    other: Source,
    theirs: dict[Question, tuple[Point, pd.Series]],
) -> list[Refusal]:
    """Variants of workloads that are not the same in two studies, with every key that differs at any point."""
    found: dict[tuple[str, str], dict[str, Difference]] = {}
    for question in mine:
        if question in theirs:
            (point, row), (same, counterpart) = mine[question], theirs[question]
            differences = question_differences((first.plan, point), (other.plan, same))
            differences = differences or _built_differently(question, row, counterpart)
            found.setdefault((question.workload, question.variant), {}).update(
                {difference.key: difference for difference in differences}
            )
    return [
        Refusal(other.letter, workload, variant, tuple(differences.values()))
        for (workload, variant), differences in found.items()
        if differences
    ]


def _built_differently(question: Question, row: pd.Series, other: pd.Series) -> list[Difference]:
    """Models of the same settings that have not as many parameters: libraries differ in what they build."""
    counts = (row["parameters"], other["parameters"])
    if counts[0] == counts[1] or any(map(isnan, counts)):
        return []
    return [Difference(f"parameters of {question.workload} as it was built", tuple(map(int, counts)))]


def _row(
    first: Source,
    source: Source,
    question: Question,
    mine: tuple[Point, pd.Series],
    base: tuple[Point, pd.Series] | None,
    refused: set[tuple[str, str, str]],
) -> dict[str, Any]:
    point, row = mine
    why_not = NotCompared.NONE
    if source is first:
        base = None
    elif base is None:
        why_not = NotCompared.NOT_IN_FIRST
    elif (source.letter, question.workload, question.variant) in refused:
        why_not = NotCompared.OTHER_QUESTION
    elif _shared(first.launches(base[0]), source.launches(point)):
        why_not = NotCompared.SAME_LAUNCHES
    elif not are_comparable(source.good(point), first.good(base[0])):
        why_not = NotCompared.OTHER_PROTOCOL
    held = base if why_not is NotCompared.NONE else None
    compared = _against(first, source, held, mine) if held else _against_nothing()
    return {
        "study": source.letter,
        **question._asdict(),
        "world_size": point.world_size,
        "is_base": bool(row["is_base"]),
        "base_variant": source.plan.study.base_of(point.variant),
        **{name: row[name] for name in MEASURED},
        **compared,
        "not_compared": why_not,
    }


def _against(
    first: Source, source: Source, base: tuple[Point, pd.Series], mine: tuple[Point, pd.Series]
) -> dict[str, Any]:
    """The columns of a comparison with the first study."""
    report, column = first.plan.study.report, "throughput_samples_per_s"
    good, theirs = source.good(mine[0]), first.good(base[0])
    ratio = ratio_on_logs(
        launches_of(good, column, source.plan.study),
        launches_of(theirs, column, first.plan.study),
        confidence=report.confidence,
    )
    # A base case has an efficiency of 1 by what the word means.
    by_definition = bool(mine[1]["is_base"]) or bool(base[1]["is_base"])
    difference = (
        NOTHING if by_definition else less(Interval.of(mine[1], "efficiency"), Interval.of(base[1], "efficiency"))
    )
    accuracies = [
        _accuracies(source, good),
        _accuracies(first, theirs),
    ]
    accuracy, kept = compare_accuracy(*accuracies, margin=report.accuracy_margin, confidence=report.confidence)
    pairs = int((accuracies[0] - accuracies[1]).notna().sum())
    return {
        **ratio.columns("throughput_ratio"),
        "throughput_shows": shows(ratio, than=1, below=Shows.SLOWER, above=Shows.FASTER),
        **difference.columns("efficiency_difference"),
        "efficiency_shows": shows(difference, than=0, below=Shows.LOWER, above=Shows.HIGHER),
        **accuracy.columns("accuracy_difference"),
        "accuracy_shows": kept if pairs else AccuracyKept.NONE,
        "pairs": pairs,
    }


def _against_nothing() -> dict[str, Any]:
    names = ("throughput_ratio", "efficiency_difference", "accuracy_difference")
    empty = {key: value for name in names for key, value in NOTHING.columns(name).items()}
    shown = {"throughput_shows": Shows.NONE, "efficiency_shows": Shows.NONE, "accuracy_shows": AccuracyKept.NONE}
    return {**empty, **shown, "pairs": 0}


def shows(interval: Interval, *, than: float, below: Shows, above: Shows) -> Shows:
    """What an interval shows of a quantity beside a number."""
    if isnan(interval.value):
        return Shows.NONE
    if isnan(interval.low):
        return Shows.NO_INTERVAL
    if interval.high < than:
        return below
    return above if interval.low > than else Shows.NO_DIFFERENCE


def _accuracies(source: Source, good: pd.DataFrame) -> pd.Series:
    """Validation accuracy of launches, by their seed."""
    seeds = [source.plan.runs[run_id].seed for run_id in good["run_id"]]
    return pd.Series(good["validation_accuracy"].to_numpy(float), index=seeds, dtype=float)


def _shared(first: pd.DataFrame, second: pd.DataFrame) -> bool:
    """Whether a launch is in both: a copied folder, or a study that was edited and has kept it."""
    if not all(name in frame for name in OF_A_RECORD for frame in (first, second)):
        return False
    records = [set(zip(*(frame[name].map(str) for name in OF_A_RECORD), strict=True)) for frame in (first, second)]
    return bool(records[0] & records[1])
