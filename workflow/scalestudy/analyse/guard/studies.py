"""Computes the changes from one finished study to another, at their common points."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd

from scalestudy.analyse.guard.decide import Change, of_pairs, of_samples
from scalestudy.analyse.guard.limits import Limit
from scalestudy.analyse.point.launches import among, by_block, good_launches, launches_of
from scalestudy.analyse.point.speedup import with_turns
from scalestudy.analyse.point.spoiled import is_spoiled
from scalestudy.analyse.statistics.blocks import differences
from scalestudy.analyse.statistics.intervals import ROUNDING, Sample
from scalestudy.analyse.study.compare import Answer, Comparison, Question, Source

EPOCH_TIME = "epoch_time_s"


def with_epoch_times(runs: pd.DataFrame, epochs: pd.DataFrame) -> pd.DataFrame:
    """runs.csv with the column epoch_time_s: the mean training time of an epoch of each run, in seconds."""
    means = epochs.groupby("run_id")[EPOCH_TIME].mean()
    return runs.assign(**{EPOCH_TIME: runs["run_id"].map(means).astype(float)})


def looks_of(sources: Sequence[Source]) -> int:
    """Largest number of looks at the intervals of these studies."""
    return max(len(source.plan.study.looks) for source in sources)


def changes(
    comparison: Comparison, sources: Sequence[Source], limits: Sequence[Limit]
) -> Iterator[tuple[pd.Series, Limit, Change, bool]]:
    """(row of Comparison.points, limit, change from the first study, disturbed) of every compared point.

    disturbed: whether more than half of the runs of a side were measured under other load, which changes times.

    Baselines have no speedup and no efficiency, so they are left out for these. A point without a value of the
    quantity in both studies, for example because it ran out of memory in both, is left out too.
    """
    answers = {source.letter: source.answers for source in sources}
    first = answers[sources[0].letter]
    for _, row in comparison.compared.iterrows():
        if row["is_reference"]:
            continue
        question = Question(**{name: row[name] for name in Question.model_fields})
        before, after = first[question], answers[row["study"]][question]
        for limit in limits:
            if not limit.of.live and (before.row["is_base"] or after.row["is_base"]):
                continue
            change = _change(before, after, limit)
            if change is not None:
                yield row, limit, change, limit.of.timed and any(map(_is_disturbed, (before, after)))


def _is_disturbed(answer: Answer) -> bool:
    return bool(len(answer.good)) and float(is_spoiled(answer.good).mean()) > 0.5


def _change(before: Answer, after: Answer, limit: Limit) -> Change | None:
    """The change of a quantity; None if neither side has a value of it."""
    quantity = limit.of
    if quantity.name == "accuracy":
        return _accuracy(before, after)
    if not quantity.live:
        samples = [_speedups(one) for one in (before, after)]
    else:
        columns = [name for name in quantity.columns if _has(before, name) or _has(after, name)]
        samples = [_logs(one, name) for name in columns[:1] for one in (before, after)]
    if not any(len(sample.values) for sample in samples):
        return None
    return _worse(of_samples(samples[1], samples[0]), quantity.worse)


def _accuracy(before: Answer, after: Answer) -> Change | None:
    """The change of accuracy, within pairs of runs with the same seed if there are several; else between
    independent runs."""
    mine, theirs = (_by_seed(one) for one in (after, before))
    if mine.empty and theirs.empty:
        return None
    pairs = (mine - theirs).dropna()
    if len(pairs) > 1:
        return _worse(of_pairs(Sample(pairs.to_numpy())), -1)
    return _worse(of_samples(Sample(mine.to_numpy()), Sample(theirs.to_numpy())), -1)


def _by_seed(answer: Answer) -> pd.Series:
    seeds = [answer.source.plan.runs[run].seed for run in answer.good["run_id"]]
    return pd.Series(answer.good["validation_accuracy"].to_numpy(float), index=seeds, dtype=float).dropna()


def _worse(change: Change, sign: int) -> Change:
    return Change(sign * change.value, change.error, change.freedom, change.runs)


def _has(answer: Answer, column: str) -> bool:
    return column in answer.good and bool(answer.good[column].notna().any())


def _logs(answer: Answer, column: str) -> Sample:
    if not _has(answer, column):
        return Sample(np.array([]))
    good = answer.good[answer.good[column] > 0]
    return launches_of(good, column, answer.source.plan.study).logs()


def _speedups(answer: Answer) -> Sample:
    """Logarithms of the speedups of single runs or within repeats, by the study's own method."""
    study = answer.source.plan.study
    turned = with_turns(answer.good)
    if study.measure.speedup_within == "launches" and len(turned):
        return launches_of(turned, "speedup_in_launch", study).logs()
    runs = answer.source.runs.set_index("run_id", drop=False)
    base = good_launches(among(runs, answer.point.base))
    mine, theirs = (np.log(by_block(one, "throughput_samples_per_s")) for one in (answer.good, base))
    return differences(mine, theirs, planned=study.repeats_for_spread, rounding=ROUNDING)
