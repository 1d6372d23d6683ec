"""Comparisons of two settings in a study's `measure.gains`, from the runs so far."""

from typing import NamedTuple

import pandas as pd

from scalestudy.analyse.point.gain import counted_launches, throughput_gain
from scalestudy.analyse.point.spoiled import FEWEST
from scalestudy.analyse.statistics.intervals import Interval
from scalestudy.registry.codes import Settled
from scalestudy.study.config.stopping import Setting
from scalestudy.study.config.study import Study
from scalestudy.study.plan import Plan, Point


class MeasuredGain(NamedTuple):
    """A comparison of `measure.gains` at one scale."""

    gain: Interval
    repeats: int
    """Number of repeats that have both sides."""

    def settled(self, study: Study) -> Settled:
        """Whether it is decided, after a number of repeats that is a look (study/looks.py)."""
        if self.repeats < FEWEST:
            return Settled.FAILED
        if self.gain.leaves_out(1):
            return Settled.DECIDED
        return Settled.PRECISE if self.gain.relative_half_width <= study.measure.half_width else Settled.NO


def gains_of(plan: Plan, point: Point, runs: pd.DataFrame) -> list[MeasuredGain]:
    """Returns the comparisons of `measure.gains` that include a point.

    runs: rows of runs.csv of the runs so far.
    """
    found = []
    for gain in plan.study.measure.gains:
        if not gain.compares(point.workload, point.variant):
            continue
        sides = [_beside(plan, point, setting) for setting in (gain.before, gain.after)]
        if None in sides:
            continue
        before, after = (counted_launches(runs, side.runs) for side in sides if side)
        both = len(set(before["repeat"]) & set(after["repeat"]))
        found.append(MeasuredGain(throughput_gain(before, after, plan.study), both))
    return found


def _beside(plan: Plan, point: Point, setting: Setting) -> Point | None:
    """Returns the point of a setting at another point's scale and kind of scaling."""
    same = {name: getattr(point, name) for name in ("scaling", "nodes", "devices_per_node")}
    return plan.point_at(workload=setting.workload, variant=setting.variant, **same)
