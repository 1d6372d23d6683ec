"""Points of several studies, each compared with the same point of the first study."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import isnan, nan
from typing import Any

import pandas as pd

from scalestudy.analyse.point.accuracy import compare_accuracy
from scalestudy.analyse.point.launches import good_launches, launches_of
from scalestudy.analyse.point.protocols import are_comparable, of_one_protocol
from scalestudy.analyse.point.spoiled import kept
from scalestudy.analyse.point.summary import SEEN
from scalestudy.analyse.statistics.intervals import NOTHING, Interval, Sample, less, ratio_on_logs, shows
from scalestudy.analyse.study.environment import StudyEnvironment
from scalestudy.analyse.study.floors import floor_of, floors_frame
from scalestudy.analyse.study.questions import Differences, question_differences
from scalestudy.record.document import Part
from scalestudy.registry.codes import LAUNCH_ENDS, AccuracyKept, NotCompared, Shows
from scalestudy.registry.points import QUANTITIES
from scalestudy.study.plan import Plan, Point

ONE_PROCESS = "none"
"""Scaling label of single-process points of the plain model, which are the same for any kind of scaling."""

NUMBERS = ("step_time_ms", "throughput_samples_per_s", "efficiency_percent", "accuracy_percent")
"""Quantities of a point for the comparison of studies."""
# Copied from the summary of each study.
MEASURED = (
    *("launches", *(f"launches_{end}" for end in LAUNCH_ENDS)),
    *(column for name in NUMBERS for column in QUANTITIES[name].names),
    *("launches_unsteady", "steadiness", *SEEN, "parameters"),
)
OF_A_RECORD = ("record_sha256", "step_time_s")


class Question(Part):
    """The properties that make points of two studies the same. `scaling` is ONE_PROCESS for the plain model."""

    workload: str
    variant: str
    scaling: str
    nodes: int
    devices_per_node: int
    batch_per_rank: int
    global_batch: int


@dataclass(frozen=True)
class Source:
    """The results of a study's stages. The summary has a row for every point of the plan, in its order."""

    letter: str
    name: str
    """Name from the user, or the study's own."""
    folder: str
    """Path from the user."""
    plan: Plan
    summary: pd.DataFrame
    runs: pd.DataFrame
    environment: StudyEnvironment

    @cached_property
    def floors(self) -> pd.DataFrame:
        """The smallest differences that it shows; empty if no baseline was run twice."""
        return floors_frame(self.plan, self.runs)

    @property
    def answers(self) -> dict[Question, Answer]:
        """Returns its answer to each question; the baseline before a reference at the same batch."""
        found: dict[Question, Answer] = {}
        for point, (_, row) in zip(self.plan.points, self.summary.iterrows(), strict=True):
            asked = point.model_dump(include=set(Question.model_fields))
            if self.plan.study.variants[point.variant].strategy == "single":
                asked["scaling"] = ONE_PROCESS
            found.setdefault(Question(**asked), Answer(self, point, row))
        return found


@dataclass(frozen=True)
class Answer:
    """A point of a study, with its row of the summary."""

    source: Source
    point: Point
    row: pd.Series

    @property
    def launches(self) -> pd.DataFrame:
        """Rows of runs.csv of its runs."""
        return self.source.runs[self.source.runs["run_id"].isin(self.point.runs)]

    @cached_property
    def good(self) -> pd.DataFrame:
        """Returns its runs with steady steps, of one measurement protocol, without disturbed ones."""
        return kept(of_one_protocol(good_launches(self.launches)), self.source.plan.study)


class RefusedVariant(Part):
    """A variant that is another question than in the first study, with the keys that differ."""

    study: str
    workload: str
    variant: str
    keys: Differences


@dataclass(frozen=True)
class Comparison:
    """The results of compare_studies."""

    points: pd.DataFrame
    """A row per question and study that has it: see compare_studies."""
    refusals: tuple[RefusedVariant, ...]

    @property
    def compared(self) -> pd.DataFrame:
        """Its rows of other studies that are compared with the first, whether or not both were measured."""
        others = self.points["study"] != self.points["study"].iloc[0]
        compared: pd.DataFrame = self.points[others & (self.points["not_compared"] == NotCompared.NONE)]
        return compared


def compare_studies(sources: Sequence[Source]) -> Comparison:
    """Returns every question of any study, and the ratio of each study to the first if both have it.

    Rows are in the order of the first study, followed by rows that only others have. Columns: `study` (its
    letter), the Question, MEASURED as in the summary, `is_base`, `base_variant`, `is_reference` (one process at a
    batch that is not a baseline). Compared with the first study: `throughput_ratio` and `efficiency_difference`
    with limits, and what they show (`throughput_shows`, `efficiency_shows`); `accuracy_difference` with limits,
    `accuracy_shows`, and `pairs`, the number of run pairs with the same seed; `smallest_difference`, the larger of
    the two studies' values (analyse/study/floors.py). `not_compared`: the reason for a missing comparison. Columns
    of words have codes of registry/codes.py.

    All results are at the confidence and accuracy margin of the first study; the intervals of all studies must
    already be at that confidence. Runs of two studies are independent samples. If a study was checked several
    times, each interval is at the level of a look, of the study with more looks.
    """
    first, *others = answers = [source.answers for source in sources]
    refusals = [refusal for other in others for refusal in _refusals(first, other)]
    refused = {(item.study, item.workload, item.variant) for item in refusals}
    rows = []
    for question in dict.fromkeys(question for study in answers for question in study):
        mine = [
            _row(question, study[question], first.get(question), refused) for study in answers if question in study
        ]
        if question in first:
            why_not = [row["not_compared"] for row in mine[1:]] or [NotCompared.ONLY_IN_FIRST]
            mine[0]["not_compared"] = NotCompared.NONE if NotCompared.NONE in why_not else why_not[0]
        alone = question.scaling == ONE_PROCESS and not any(row["is_base"] for row in mine)
        rows += [row | {"is_reference": alone} for row in mine]
    return Comparison(pd.DataFrame(rows), tuple(refusals))


def _refusals(first: Mapping[Question, Answer], other: Mapping[Question, Answer]) -> list[RefusedVariant]:
    """Returns variants of workloads that differ between two studies, with every key that differs at any point."""
    found: dict[tuple[str, str, str], Differences] = {}
    for question, mine in first.items():
        if theirs := other.get(question):
            differences = question_differences((mine.source.plan, mine.point), (theirs.source.plan, theirs.point))
            differences = differences or _built_differently(question, mine.row, theirs.row)
            key = (theirs.source.letter, question.workload, question.variant)
            found.setdefault(key, {}).update(differences)
    return [
        RefusedVariant(study=letter, workload=workload, variant=variant, keys=differences)
        for (letter, workload, variant), differences in found.items()
        if differences
    ]


def _built_differently(question: Question, row: pd.Series, other: pd.Series) -> Differences:
    """Returns differing numbers of parameters at equal settings: libraries may build models differently."""
    counts = (row["parameters"], other["parameters"])
    if counts[0] == counts[1] or any(map(isnan, counts)):
        return {}
    return {f"parameters of {question.workload} as built": tuple(map(int, counts))}


def _row(
    question: Question, mine: Answer, first: Answer | None, refused: set[tuple[str, str, str]]
) -> dict[str, Any]:
    why_not = NotCompared.NONE
    if first is None:
        why_not = NotCompared.NOT_IN_FIRST
    elif first is mine:
        first = None
    elif (mine.source.letter, question.workload, question.variant) in refused:
        why_not = NotCompared.OTHER_QUESTION
    elif _shared(first.launches, mine.launches):
        why_not = NotCompared.SAME_LAUNCHES
    elif not are_comparable(mine.good, first.good):
        why_not = NotCompared.OTHER_PROTOCOL
    return {
        "study": mine.source.letter,
        **dict(question),
        "world_size": mine.point.world_size,
        "is_base": bool(mine.row["is_base"]),
        "base_variant": mine.source.plan.study.base_of(mine.point.variant),
        **{name: mine.row[name] for name in MEASURED},
        **_against(first if why_not is NotCompared.NONE else None, mine),
        "not_compared": why_not,
    }


def _against(first: Answer | None, mine: Answer) -> dict[str, Any]:
    """Returns the columns of a comparison with the first study; empty values without it."""
    ratio, difference, accuracy, kept, pairs = NOTHING, NOTHING, NOTHING, AccuracyKept.NONE, 0
    smallest = nan
    if first:
        smallest = _smallest_difference(first, mine)
        report = first.source.plan.study.report
        level = max(one.source.plan.study.level for one in (first, mine))
        ratio = ratio_on_logs(_throughputs(mine), _throughputs(first), confidence=level)
        # A baseline has an efficiency of 1 by definition.
        if not (mine.row["is_base"] or first.row["is_base"]):
            difference = less(*(Interval.of(one.row, "efficiency") for one in (mine, first)))
        accuracies = [_accuracies(one) for one in (mine, first)]
        pairs = int((accuracies[0] - accuracies[1]).notna().sum())
        if pairs:
            accuracy, kept = compare_accuracy(*accuracies, margin=report.accuracy_margin, confidence=level)
    return {
        **ratio.columns("throughput_ratio"),
        **difference.columns("efficiency_difference"),
        **accuracy.columns("accuracy_difference"),
        "throughput_shows": shows(ratio, than=1, below=Shows.SLOWER, above=Shows.FASTER),
        "efficiency_shows": shows(difference, than=0, below=Shows.LOWER, above=Shows.HIGHER),
        "accuracy_shows": kept,
        "pairs": pairs,
        "smallest_difference": smallest,
    }


def _smallest_difference(*answers: Answer) -> float:
    """Returns the larger smallest difference of two studies for a point's baseline; nan if unknown."""
    found = [floor_of(one.row, one.source.floors) for one in answers]
    return max((float(floor["smallest_difference"]) for floor in found if floor is not None), default=nan)


def _throughputs(answer: Answer) -> Sample:
    return launches_of(answer.good, "throughput_samples_per_s", answer.source.plan.study)


def _accuracies(answer: Answer) -> pd.Series:
    """Returns the validation accuracy of good runs, by their seed."""
    good = answer.good
    seeds = [answer.source.plan.runs[run_id].seed for run_id in good["run_id"]]
    return pd.Series(good["validation_accuracy"].to_numpy(float), index=seeds, dtype=float)


def _shared(first: pd.DataFrame, second: pd.DataFrame) -> bool:
    """Returns whether both have the same run: a copied folder, or an edited study that has kept it."""
    if not all(name in frame for name in OF_A_RECORD for frame in (first, second)):
        return False
    records = [set(zip(*(frame[name].map(str) for name in OF_A_RECORD), strict=True)) for frame in (first, second)]
    return bool(records[0] & records[1])
