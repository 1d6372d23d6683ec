"""Forecasts from a published table, as they are printed and drawn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from scalestudy.analyse.published.foretold import ONE_MACHINE, Foretold, Known
from scalestudy.analyse.published.table import Recomputed
from scalestudy.analyse.statistics.intervals import Interval
from scalestudy.diagnose.audit import Audit
from scalestudy.errors import UserError
from scalestudy.publish.numbers.rounding import show
from scalestudy.publish.quantity import Quantity, quantity_of
from scalestudy.publish.views.forecasts import SUPERLINEAR
from scalestudy.publish.words.labels import listed
from scalestudy.registry.words.refusals import no_forecast

FORMATS = (".svg", ".png", ".pdf")
TOGETHER = "printed twice"
"""Kind of an audit's remarks on rows that are taken together."""
MEASURED = "measured, in the table above"
"""Why a size has no forecast."""
MOST_DRAWN = 12
"""Most series that a figure shows, each with its own marker."""


@dataclass(frozen=True)
class Case:
    """A series of a table with its forecasts."""

    audit: Audit
    known: Known
    strong: bool
    strong_said: bool
    foretold: tuple[Foretold, ...]
    measured: tuple[int, ...] = ()
    """Sizes that were asked for although the table has them."""

    @property
    def quantity(self) -> Quantity:
        """What the series is shown in."""
        return quantity_of(self.audit)

    @property
    def base(self) -> int:
        return self.known.scales[0].row.gpus

    def throughput(self, one: Foretold) -> Interval:
        """The throughput of a forecast."""
        assert one.made is not None
        return one.made.step_time_s.inverse(1.0 if self.strong else one.place.ranks)

    def speedup(self, one: Foretold) -> Interval:
        """The speedup of a forecast over the base case."""
        return self.throughput(one).scaled(1 / self.known.scales[0].throughput.value)

    def efficiency(self, one: Foretold) -> Interval:
        return self.speedup(one).scaled(self.base / one.place.ranks)


def forecast_view(cases: Sequence[Case]) -> list[dict[str, Any]]:
    """Values for report/templates/forecast.txt, one entry per series."""
    return [
        {
            "name": case.audit.case,
            "quantity": case.quantity.header,
            "assumed": _assumed(case),
            "base": f"{_devices(case.base)}, {_base_value(case)}",
            "left_out": ", ".join(map(str, case.known.left_out)),
            "further": ", ".join(map(str, case.known.further)),
            "together": [one.sentence for one in case.audit.remarks if one.kind == TOGETHER],
            "rows": _rows(case),
            "superlinear": SUPERLINEAR if _is_superlinear(case) else "",
            "refused": _refused(case),
        }
        for case in cases
    ]


def _rows(case: Case) -> list[dict[str, str]]:
    """The measured and the foretold sizes, from small to large."""
    rows = [(scale.row.gpus, _known_row(case, scale)) for scale in case.known.scales]
    rows += [(one.place.ranks, _row(case, one)) for one in case.foretold if one.made]
    return [row for _, row in sorted(rows, key=lambda item: item[0])]


def _is_superlinear(case: Case) -> bool:
    return any(case.efficiency(one).value > 1 for one in case.foretold if one.made)


def draw(cases: Sequence[Case], path: Path) -> None:
    """Write a figure of speedup and efficiency: the table's sizes and, hollow, the forecasts with their limits.

    Raises UserError for another format than FORMATS, and for more series than a figure can show.
    """
    if path.suffix.lower() not in FORMATS:
        raise UserError(f"--figure {path}: must end in {', '.join(FORMATS[:-1])} or {FORMATS[-1]}")
    if len(cases) > MOST_DRAWN:
        raise UserError(f"--figure {path}: {len(cases)} series; at most {MOST_DRAWN} can be drawn, so add --line")
    from scalestudy.publish.figures.drawers.foretold import foretold
    from scalestudy.publish.figures.save import save_as
    from scalestudy.publish.figures.style import paper_style

    with paper_style():
        save_as(foretold(frame_of(cases)), path)


def frame_of(cases: Sequence[Case]) -> pd.DataFrame:
    """A row for each size of each series: devices, speedup and efficiency, and limits of forecasts."""
    rows: list[dict[str, Any]] = []
    for case in cases:
        for scale in case.known.scales:
            made = {"speedup": scale.speedup.value * case.base, "efficiency": scale.efficiency.value}
            rows.append({"series": case.audit.case, "gpus": scale.row.gpus, "forecast": False} | made)
        for one in case.foretold:
            if one.made is not None:
                made = case.speedup(one).scaled(case.base).columns("speedup")
                made |= case.efficiency(one).columns("efficiency")
                rows.append({"series": case.audit.case, "gpus": one.place.ranks, "forecast": True} | made)
    return pd.DataFrame(rows)


def _assumed(case: Case) -> list[str]:
    """How the series was understood, with the options that correct it."""
    node = _devices(case.known.node)
    scaling = (
        "strong scaling: the global batch is constant"
        if case.strong
        else "weak scaling: constant batch per device"
    )
    other = "weak" if case.strong else "strong"
    return [
        f"{scaling}" + ("" if case.strong_said else f" (assumed; otherwise add --scaling {other})"),
        "threads or cores of one machine (otherwise add --node N)"
        if case.known.node == ONE_MACHINE
        else f"a node has {node}" + ("" if case.known.node_said else " (assumed; otherwise add --node N)"),
    ]


def _devices(count: int) -> str:
    return "1 device" if count == 1 else f"{count} devices"


def _base_value(case: Case) -> str:
    """'410 images/s', or 'time 4800 s'."""
    value = show(case.quantity.of(case.known.scales[0]))
    return " ".join(filter(None, (case.quantity.name, str(value), case.quantity.unit)))


def _known_row(case: Case, scale: Recomputed) -> dict[str, str]:
    return {
        "gpus": str(scale.row.gpus),
        "quantity": f"{case.quantity.of(scale):.6g}",
        "speedup": f"{scale.speedup.value:.2f}",
        "efficiency": f"{scale.efficiency.value * 100:.1f}",
    }


def _row(case: Case, one: Foretold) -> dict[str, str]:
    return {
        "gpus": f"{one.place.ranks}*",
        "quantity": _limits(case.quantity.forecast(case.throughput(one), one.place.ranks, case.known.scales[0])),
        "speedup": _limits(case.speedup(one)),
        "efficiency": _limits(case.efficiency(one).scaled(100)),
    }


def _limits(interval: Interval) -> str:
    return str(show(interval.value, interval.low, interval.high))


def _refused(case: Case) -> dict[str, str]:
    """Each reason for a missing forecast, with its sizes: '16 and 32'."""
    found: dict[str, list[str]] = {}
    if case.measured:
        found[MEASURED] = [str(size) for size in case.measured]
    for one in case.foretold:
        if one.made is None:
            found.setdefault(_reason(one), []).append(str(one.place.ranks))
    return {reason: listed(sizes) for reason, sizes in found.items()}


def _reason(one: Foretold) -> str:
    return no_forecast(one.refused | vars(one.place) | {"world_size": one.place.ranks, "global_batch": ""})
