"""An audit as a reader sees it: the table recomputed, printed numbers beside it, and the remarks."""

from __future__ import annotations

from typing import Any

from scalestudy.analyse.published import Recomputed, Table
from scalestudy.diagnose.audit import Audit
from scalestudy.importers.published import Printed
from scalestudy.publish.numbers.rounding import DASH

ABOUT = ("model", "hardware", "strategy", "precision", "source")


def audit_view(audits: list[Audit]) -> list[dict[str, Any]]:
    """Values for report/templates/audit.txt, a case each."""
    return [
        {
            "case": audit.case,
            "about": _about(audit.table),
            "base": _base(audit.table),
            "unit": _unit(audit.table),
            "rows": [
                _row(scale, strong=audit.strong, other=scale.row in audit.table.other_bases)
                for scale in audit.table.scales
            ],
            "remarks": [
                {
                    "head": remark.kind.upper() + ("" if remark.gpus is None else f" on {remark.gpus}"),
                    **vars(remark),
                }
                for remark in audit.remarks
            ],
        }
        for audit in audits
    ]


def _about(table: Table) -> str:
    rows = [scale.row for scale in table.scales]
    words = []
    for name in ABOUT:
        labels = dict.fromkeys(row.label(name) for row in rows if row.label(name))
        words += [" and ".join(labels)] if labels else []
    scaling = " and ".join(dict.fromkeys(row.label("scaling") for row in rows if row.label("scaling")))
    return ", ".join(words) + (f"; {scaling} scaling as printed" if scaling else "")


def _base(table: Table) -> str:
    if table.base is None:
        return "none: no row has a throughput"
    how = table.base.label("strategy")
    return f"{table.base.gpus} {'device' if table.base.gpus == 1 else 'devices'}{f', {how}' if how else ''}"


def _unit(table: Table) -> str:
    units = {scale.row.label("throughput_unit").removesuffix("/GPU") for scale in table.scales}
    return units.pop() if len(units) == 1 and units != {""} else "work/s"


def _row(scale: Recomputed, *, strong: bool, other: bool) -> dict[str, str]:
    """strong: the global batch is held, which is what Karp and Flatt's serial fraction is of."""
    row = scale.row
    return {
        "gpus": f"{row.gpus} {row.label('strategy')}" if other else str(row.gpus),
        "throughput": _plain(scale.throughput.value),
        "speedup": _beside(_fixed(scale.speedup.value, 2), row.printed_speedup, 1),
        "efficiency": _beside(_fixed(scale.efficiency.value * 100, 1), row.printed_efficiency, 100),
        "per_doubling": _fixed(scale.per_doubling_efficiency * 100, 1),
        "karp_flatt": _fixed(scale.karp_flatt, 3) if strong else DASH,
    }


def _beside(computed: str, printed: Printed | None, factor: float) -> str:
    """'3.56 (3.8)': what was recomputed, and what was printed."""
    return computed if printed is None else f"{computed} ({printed.value * factor:.4g})"


def _fixed(value: float, decimals: int) -> str:
    return DASH if value != value else f"{value:.{decimals}f}"


def _plain(value: float) -> str:
    return DASH if value != value else f"{value:.6g}"
