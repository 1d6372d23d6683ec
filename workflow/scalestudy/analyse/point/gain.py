"""The throughput of one point relative to another, from runs of the same repeat."""

from __future__ import annotations

import pandas as pd

from scalestudy.analyse.point.launches import by_block, good_launches
from scalestudy.analyse.point.protocols import of_one_protocol
from scalestudy.analyse.point.spoiled import kept_together
from scalestudy.analyse.statistics.blocks import ratio_in_blocks
from scalestudy.analyse.statistics.intervals import NOTHING, Interval
from scalestudy.study.config.study import Study


def counted_launches(runs: pd.DataFrame, run_ids: tuple[str, ...]) -> pd.DataFrame:
    """Returns the runs of a point that count: good runs in runs.csv with steady steps and one protocol."""
    return of_one_protocol(good_launches(runs[runs["run_id"].isin(run_ids)]))


def throughput_gain(before: pd.DataFrame, after: pd.DataFrame, study: Study) -> Interval:
    """Returns throughput after over throughput before, at the level of a look; NOTHING if a side has no runs.

    before, after: rows of runs.csv, from `counted_launches`.
    """
    if not len(before) or not len(after):
        return NOTHING
    before, after = kept_together(before, after, study)
    mine, theirs = (by_block(launches, "throughput_samples_per_s") for launches in (after, before))
    return ratio_in_blocks(mine, theirs, planned=study.repeats_for_spread, confidence=study.level)
