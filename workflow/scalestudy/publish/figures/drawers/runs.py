"""One line per run: epoch times, accuracy, and the distribution of step times."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from scalestudy.publish.figures.panels import LINE_END, MOST_TOGETHER, panel_grid
from scalestudy.publish.figures.style import REFERENCE, legend_below, log_ticks, percent_axis, series_style
from scalestudy.publish.figures.tidy import Drawer, Frames, shown, tidy
from scalestudy.publish.papers import paper_of
from scalestudy.publish.words import labels
from scalestudy.study.plan import Plan, Point

EPOCH = "Epoch"
BASE = (0, "one process")
MARKERS_OF_A_RUN = 8
SHORT = {
    "Training time per epoch (s)": "Time per epoch (s)",
    "Step time of the slowest rank (ms)": "Step time (ms)",
}
"""Name of an axis -> shorter name for several panels."""


def grouped_runs(plan: Plan, workload: str) -> pd.DataFrame:
    """A row for each run of each point in each group: columns group, series, style, legend, run.

    If there are few points, or the groups would have one point each, a single group without a name has all points.
    Otherwise there is a group for each variant and kind of scaling, with its baseline. Points with the same runs
    (the baseline of strong and weak scaling) are merged.
    """
    launched: dict[tuple[str, ...], Point] = {}
    scaled: dict[tuple[str, str], list[Point]] = {}
    for point in plan.points:
        if point.workload == workload and point.scaling != "reference":
            launched.setdefault(point.runs, point)
            if point.runs != point.base:
                scaled.setdefault((point.variant, point.scaling), []).append(point)
    if len(launched) <= MOST_TOGETHER or len(scaled) < 2 or len(launched) < 2 * len(scaled):
        placed = [("", point, (style, labels.series(point))) for style, point in enumerate(launched.values())]
    else:
        placed = list(_in_groups(launched, scaled))
    rows = [(group, labels.series(point), *place, run) for group, point, place in placed for run in point.runs]
    return pd.DataFrame(rows, columns=["group", "series", "style", "legend", "run"])


def _in_groups(
    launched: Mapping[tuple[str, ...], Point], scaled: Mapping[tuple[str, str], Sequence[Point]]
) -> Iterator[tuple[str, Point, tuple[int, str]]]:
    """(name of the group, point, its style and legend entry); a scale has the same style in all groups."""
    scales = sorted({(point.nodes, point.world_size) for points in scaled.values() for point in points})
    for (variant, scaling), points in scaled.items():
        group = f"{variant}, {scaling} scaling{LINE_END}{_batch(points)}"
        yield group, launched[points[0].base], BASE
        for point in points:
            style = 1 + scales.index((point.nodes, point.world_size))
            yield group, point, (style, labels.ranks(point.world_size, point.nodes))
    compared = {point.base for points in scaled.values() for point in points}
    for runs, point in launched.items():
        if runs == point.base and runs not in compared:
            yield f"{point.variant}{LINE_END}batch {point.global_batch}", point, BASE


def _batch(points: Sequence[Point]) -> str:
    """The batch size that is the same at all scales: the global batch or the batch per rank."""
    for text, sizes in (
        ("global batch {}", {point.global_batch for point in points}),
        ("batch {} per rank", {point.batch_per_rank for point in points}),
    ):
        if len(sizes) == 1:
            return text.format(*sizes)
    return ""


def _run_rows(
    plan: Plan, workload: str, table: pd.DataFrame, *, x: Mapping[str, str], y: str, y_name: str
) -> pd.DataFrame:
    """The tidy frame of column y of a table with a column run_id, for every run, point and group.

    x: column -> axis name; every group has a panel for each. A point without any run has one empty row.
    """
    runs = grouped_runs(plan, workload)
    group, names = pd.factorize(runs["group"])
    short = SHORT if len(names) > 1 else {}
    parts = []
    for place, (column, x_name) in enumerate(x.items(), start=1):
        values = pd.DataFrame({"run": table["run_id"], "x": table[column], "y": table[y]}).dropna(subset="x")
        rows = runs.assign(panel=len(x) * group + place).merge(values, on="run", how="left")
        known = rows["x"].notna()
        first = ~(rows["series"].isin(rows[known]["series"]) | rows.duplicated(["panel", "series"]))
        axes = {"x_name": short.get(x_name, x_name), "y_name": short.get(y_name, y_name)}
        parts.append(rows[known | first].assign(**axes))
    return tidy(parts)


def _epoch_times(plan: Plan, workload: str, frames: Frames) -> pd.DataFrame:
    """Seconds of training (validation excluded) against epoch, which shows drift, warm-up and outliers."""
    x, y_name = {"epoch": EPOCH}, "Training time per epoch (s)"
    return _run_rows(plan, workload, frames.epochs, x=x, y="epoch_time_s", y_name=y_name)


def _accuracy(plan: Plan, workload: str, frames: Frames) -> pd.DataFrame:
    """Accuracy against epochs, then against training time (validation excluded)."""
    epochs = frames.epochs
    time_s = epochs["epoch_time_s"].astype(float)  # without any epoch, the column has no numeric type
    spent = epochs.assign(train_time_s=time_s.groupby(epochs["run_id"]).cumsum())
    x = {"epoch": EPOCH, "train_time_s": "Training time (s)"}
    return _run_rows(plan, workload, spent, x=x, y="validation_accuracy", y_name="Validation accuracy")


def _step_times(plan: Plan, workload: str, frames: Frames) -> pd.DataFrame:
    """Cumulative distribution of the steady steps' times, the slowest rank's."""
    times = frames.quantiles.assign(step_time_ms=frames.quantiles["step_time_s"].astype(float) * 1e3)
    x = {"step_time_ms": "Step time of the slowest rank (ms)"}
    return _run_rows(plan, workload, times, x=x, y="quantile", y_name="Cumulative share")


def _draw_runs(frame: pd.DataFrame, *, width_in: float, each: int = 1) -> tuple[Figure, list[Axes]]:
    """Draw the panels of a frame from _run_rows. each: panels per group."""
    figure, panels = panel_grid(frame, width_in=width_in, each=each)
    for axes, (_, rows) in zip(panels, frame.groupby("panel"), strict=True):
        for _, mine in rows.groupby("series", sort=False):
            _draw_series(axes, mine)
        if rows["x_name"].iloc[0] == EPOCH:
            axes.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
    return figure, panels


def _draw_series(axes: Axes, rows: pd.DataFrame) -> None:
    """Draw one line with breaks between runs, which is several times as fast as one line per run."""
    first, run = rows.iloc[0], rows["run"].to_numpy()
    ends = [*np.flatnonzero(run[1:] != run[:-1]) + 1, len(run)]
    points = np.insert(rows[["x", "y"]].to_numpy(), ends[:-1], np.nan, axis=0)
    marked: list[int] = []
    for breaks, (begin, end) in enumerate(zip([0, *ends], ends, strict=False)):
        marked += range(begin + breaks, end + breaks, max(1, (end - begin) // MARKERS_OF_A_RUN))
    style = series_style(int(first["style"])) | {"alpha": 0.85, "linewidth": 0.9}
    axes.plot(*points.T, label=first["legend"], markevery=marked, **style)


def _finish(figure: Figure, panels: Sequence[Axes], frame: pd.DataFrame) -> Figure:
    """Add the legend of all panels, in the order of the styles."""
    order = frame.drop_duplicates("legend").sort_values(["style", "legend"])["legend"]
    legend_below(figure, *panels, order=list(order))
    return figure


def _draw_epoch_times(plan: Plan, frame: pd.DataFrame) -> Figure:
    figure, panels = _draw_runs(frame, width_in=paper_of(plan).column_in)
    panels[0].set_ylim(bottom=0)
    return _finish(figure, panels, frame)


def _draw_accuracy(plan: Plan, frame: pd.DataFrame) -> Figure:
    figure, panels = _draw_runs(frame, width_in=paper_of(plan).page_in, each=2)
    panels[0].set_ylim(0, 1.02)
    panels[1].set_xlim(left=0)
    return _finish(figure, panels, frame)


def _draw_step_times(plan: Plan, frame: pd.DataFrame) -> Figure:
    """Draw on a logarithmic axis, where equal ratios are equally wide. Dotted: the median and 95 %."""
    figure, panels = _draw_runs(frame, width_in=paper_of(plan).column_in)
    for axes in panels:
        for share in (0.5, 0.95):
            axes.axhline(share, **REFERENCE | {"linestyle": ":"})
    first = panels[0]
    first.set_ylim(0, 1.02)
    percent_axis(first)
    if shown(frame).empty:
        first.set_xticks([])
        first.annotate("not measured", (0.5, 0.7), xycoords="axes fraction", ha="center")
        return figure
    first.set_xscale("log")
    log_ticks(first.xaxis)
    return _finish(figure, panels, frame)


epoch_time = Drawer(_epoch_times, _draw_epoch_times)
accuracy = Drawer(_accuracy, _draw_accuracy)
distribution = Drawer(_step_times, _draw_step_times)
