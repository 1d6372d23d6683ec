"""The tidy frame of a figure, with a row for every drawn or missing point, and its description in words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pandas as pd

from scalestudy.publish.made import read_table
from scalestudy.publish.numbers.rounding import show
from scalestudy.registry.drawn import TIDY
from scalestudy.study.plan import Plan

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COLUMNS = tuple(column.name for column in TIDY)
MEASURED, FORECAST, REFUSED = "measured", "forecast", "refused"
"""Kinds of points."""
EMPTY = {"kind": MEASURED} | dict.fromkeys(("series", "outcome", "run", "legend", "group"), "")


@dataclass(frozen=True)
class Frames:
    """The tables of a study that `scalestudy stage aggregate` wrote."""

    summary: pd.DataFrame
    epochs: pd.DataFrame
    forecasts: pd.DataFrame
    collectives: pd.DataFrame
    quantiles: pd.DataFrame
    held_out: pd.DataFrame
    verified: pd.DataFrame = field(default_factory=pd.DataFrame)
    """verification.csv; empty if no advice was tried."""

    def of(self, plan: Plan, workload: str) -> Frames:
        """The tables with the rows of one workload only."""
        runs = {run for run, spec in plan.runs.items() if spec.workload == workload}
        kept = {}
        for name, table in vars(self).items():
            named = table.get("workload")
            if named is None and "run_id" not in table:  # empty
                continue
            mine = table["run_id"].isin(runs) if named is None else named == workload
            kept[name] = table[mine].reset_index(drop=True).copy()  # in few blocks
        return Frames(**kept)

    def measured(self, workload: str) -> pd.DataFrame:
        """Rows of the summary that figures of a workload show. References are in the CSV only."""
        return self.summary[(self.summary["workload"] == workload) & (self.summary["scaling"] != "reference")]


def tidy(parts: Sequence[pd.DataFrame], *own: str) -> pd.DataFrame:
    """The parts as one frame, sorted by panel, with the TIDY columns and a figure's `own` columns.

    Columns that a part lacks are empty. Equal limits are not an interval and are left out.
    """
    frame = pd.concat(parts, ignore_index=True) if parts else pd.DataFrame()
    frame = frame.reindex(columns=[*COLUMNS, *own]).sort_values("panel", kind="stable", ignore_index=True)
    numbers = ["y", "y_low", "y_high", "x_low", "x_high"]
    if not any(isinstance(x, str) for x in frame["x"]):
        numbers.append("x")
    frame = frame.astype(dict.fromkeys(numbers, float) | dict.fromkeys(EMPTY, object)).fillna(EMPTY)
    for low, high in (("x_low", "x_high"), ("y_low", "y_high")):
        frame.loc[frame[low] == frame[high], [low, high]] = float("nan")
    return frame


def shown(frame: pd.DataFrame) -> pd.DataFrame:
    """The points that are drawn."""
    return frame[frame["y"].notna()]


def shows_something(points: Path) -> bool:
    """Whether a figure draws any point, according to its CSV. Raises UserError if the CSV is incomplete."""
    made_by = f"scalestudy stage plot --results {points.parent.parent}"
    return bool(read_table(points, TIDY, made_by=made_by)["y"].notna().any())


def describe(frame: pd.DataFrame) -> str:
    """A description of the figure: its panels and series, with the first and last value of each series."""
    said = []
    for _, mine in shown(frame).groupby("panel", sort=True):
        names = mine.iloc[0]
        if isinstance(names["x"], str):
            said.append(f"{names['y_name']}: {_by_point(mine)}.")
            continue
        series = [f"{name} {_ends(points)}" for name, points in mine.groupby("series", sort=False)]
        x_name = names["x_name"][:1].lower() + names["x_name"][1:]
        said.append(f"{names['y_name']} against {x_name}: {'; '.join(series)}.")
    return " ".join(said) or "No point could be measured."


def _by_point(bars: pd.DataFrame) -> str:
    """'ddp strong, 2 ranks: forward 1.20, backward 2.31; ...'; bars of length 0 are left out."""
    said = []
    for name, mine in bars.groupby("x", sort=False):
        parts = ", ".join(f"{bar['series']} {_short(bar['y'])}" for _, bar in mine.iterrows() if bar["y"])
        said.append(f"{name}: {parts or 'not measured'}")
    return "; ".join(said)


def _ends(points: pd.DataFrame) -> str:
    ends = [f"{_short(point['y'])} at {_short(point['x'])}" for _, point in points.iloc[[0, -1]].iterrows()]
    return ends[0] if len(points) == 1 else f"from {ends[0]} to {ends[1]}"


def _short(number: float) -> str:
    return f"{number:.0f}" if float(number).is_integer() else show(number).value


class Drawn(NamedTuple):
    """A figure, its frame, and a description of the frame in words."""

    figure: Figure
    frame: pd.DataFrame
    words: str


class Drawer(NamedTuple):
    """The steps from the tables of a study to a figure."""

    frame: Callable[..., pd.DataFrame]
    """Makes the tidy frame, from the plan and more."""
    draw: Callable[[Any, pd.DataFrame], Figure]
    """Draws the figure, from the plan and that frame."""
    words: Callable[[pd.DataFrame], str] = describe

    def __call__(self, plan: Any, *given: Any) -> Drawn:
        """Make the frame, draw it and describe it.

        plan: a plan, or several studies. given: further arguments of `frame`.
        """
        frame = self.frame(plan, *given)
        return Drawn(self.draw(plan, frame), frame, self.words(frame))
