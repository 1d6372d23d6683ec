"""Throughput of one workload in several studies against ranks, and the ratio to the first study's."""

from collections.abc import Sequence
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from scalestudy.analyse.study.compare import Comparison, Source
from scalestudy.compare.spelling import in_a_figure
from scalestudy.publish.figures.points import Panel, distributed_series, draw_panels, point_rows, usual_look
from scalestudy.publish.figures.style import LINES, MARKERS, PALETTE, REFERENCE, legend_below
from scalestudy.publish.figures.tidy import Drawer, tidy
from scalestudy.publish.papers import paper_of
from scalestudy.publish.words.points import failure_word

ONE_PROCESS_MARKER = "d"  # none of MARKERS


def _look(row: pd.Series) -> dict[str, Any]:
    """The style of a series: colour and line by study, marker by variant."""
    index, marker = int(row["style"]), row["marker"]
    line = "none" if marker == ONE_PROCESS_MARKER else LINES[index % len(LINES)]
    return usual_look(row) | {"color": PALETTE[index % len(PALETTE)], "linestyle": line, "marker": marker}


THROUGHPUT = Panel(1, "Ranks", "Throughput (samples/s)", look=_look, beside="study")


def _ratios(studies: Sequence[Source]) -> Panel:
    return Panel(2, "Ranks", f"Throughput relative to {studies[0].letter}", look=_look, beside="series")


def _frame(studies: Sequence[Source], comparison: Comparison, workload: str) -> pd.DataFrame:
    """The tidy frame: samples per second of every point and study, then the ratios to the first study.

    style: the study's index. Own columns: `study`, the study's letter, and `marker`, the variant's marker.
    """
    mine = comparison.points[comparison.points["workload"] == workload]
    markers: dict[str, str] = {}
    parts = []
    for style, one in enumerate(studies):
        rows = mine[(mine["study"] == one.letter) & ~mine["is_reference"]]
        base, given = rows["is_base"], {"style": style, "study": one.letter}
        series = _series(rows[base], rows[~base])
        for name, points in series:
            given["marker"] = markers.setdefault(name, MARKERS[len(markers) % len(MARKERS)])
            parts.append(_rows(THROUGHPUT, one, name, points, "throughput_samples_per_s", why=_failure, **given))
        if not style:
            continue
        # One process is a separate series: it has one ratio for all kinds of scaling.
        alone = [(name, points, ONE_PROCESS_MARKER) for name, points in _by_variant(rows[base])]
        apart = [(name, points[~points["is_base"]], markers[name]) for name, points in series]
        for name, points, marker in (*alone, *apart):
            given["marker"] = marker
            parts.append(_rows(_ratios(studies), one, name, points, "throughput_ratio", **given))
    return tidy(parts, "study", "marker")


def _rows(panel: Panel, one: Source, name: str, points: pd.DataFrame, y: str, **given: Any) -> pd.DataFrame:
    """Rows of point_rows for a series of a study. Only a series with a point is in the legend."""
    given["series"] = f"{one.letter} {one.name}: {name}"
    given["legend"] = f"{one.letter} {in_a_figure(one.name)}: {name}" if points[y].notna().any() else ""
    return point_rows(panel, points, "world_size", y, **given)


def _failure(row: dict[str, Any]) -> str:
    word = failure_word(row)
    return word and f"{row['study']}: {word}"


def _series(base: pd.DataFrame, rest: pd.DataFrame) -> list[tuple[str, pd.DataFrame]]:
    """The series of a study, each beginning with the baseline."""
    if rest.empty:
        return _by_variant(base)
    return distributed_series(pd.concat([*(base.assign(scaling=way) for way in rest["scaling"].unique()), rest]))


def _by_variant(points: pd.DataFrame) -> list[tuple[str, pd.DataFrame]]:
    return [(str(variant), mine) for variant, mine in points.groupby("variant", sort=False)]


def _draw(studies: Sequence[Source], frame: pd.DataFrame) -> Figure:
    """Draw samples per second of all points (left) and ratios to the first study with a line at 1 (right).

    Points without a good run are marked on the left with the study's letter and the reason.
    """
    width_in = paper_of(studies[0].plan).page_in
    figure, (left, right) = draw_panels(frame, THROUGHPUT, _ratios(studies), width_in=width_in)
    left.set_ylim(bottom=0)
    equal = f"equal to {studies[0].letter}"
    right.axhline(1, label=equal, **REFERENCE)
    legend_below(figure, left, right, last=equal)
    return figure


comparison = Drawer(_frame, _draw)
