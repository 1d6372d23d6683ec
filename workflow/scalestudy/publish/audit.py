"""An audit as it is printed: the recomputed table, the published numbers in brackets, and the remarks."""

from math import isnan
from typing import Any

from scalestudy.analyse.published import Recomputed, Table
from scalestudy.diagnose.audit import Audit
from scalestudy.importers.published import Printed
from scalestudy.publish.numbers.rounding import DASH

ABOUT = ("model", "hardware", "strategy", "precision", "source")


def audit_view(audits: list[Audit]) -> list[dict[str, Any]]:
    """Values for report/templates/audit.txt, one entry per case."""
    return [
        {
            "audit": audit,
            "about": _about(audit.table),
            "base": _base(audit.table),
            "unit": _unit(audit.table),
            "rows": [
                _row(scale, strong=audit.strong, other=scale.row in audit.table.other_bases)
                for scale in audit.table.scales
            ],
        }
        for audit in audits
    ]


def _about(table: Table) -> str:
    said = {
        name: " and ".join(filter(None, dict.fromkeys(scale.row.label(name) for scale in table.scales)))
        for name in (*ABOUT, "scaling")
    }
    scaling = said.pop("scaling")
    return ", ".join(filter(None, said.values())) + (f"; {scaling} scaling as printed" if scaling else "")


def _base(table: Table) -> str:
    if table.base is None:
        return "none: no row has a throughput"
    how = table.base.label("strategy")
    return f"{table.base.gpus} {'device' if table.base.gpus == 1 else 'devices'}{f', {how}' if how else ''}"


def _unit(table: Table) -> str:
    units = {scale.row.label("throughput_unit").removesuffix("/GPU") for scale in table.scales}
    return units.pop() if len(units) == 1 and units != {""} else "work/s"


def _row(scale: Recomputed, *, strong: bool, other: bool) -> dict[str, str]:
    """A row as text. strong: the global batch is fixed, as Karp and Flatt's serial fraction requires."""
    row = scale.row
    return {
        "gpus": f"{row.gpus} {row.label('strategy')}" if other else str(row.gpus),
        "throughput": _text(scale.throughput.value, ".6g"),
        "speedup": _beside(_text(scale.speedup.value, ".2f"), row.printed_speedup, 1),
        "efficiency": _beside(_text(scale.efficiency.value * 100, ".1f"), row.printed_efficiency, 100),
        "per_doubling": _text(scale.per_doubling_efficiency * 100, ".1f"),
        "karp_flatt": _text(scale.karp_flatt, ".3f") if strong else DASH,
    }


def _beside(computed: str, printed: Printed | None, factor: float) -> str:
    """'3.56 (3.8)': the recomputed and the published value."""
    return computed if printed is None else f"{computed} ({printed.value * factor:.4g})"


def _text(value: float, form: str) -> str:
    return DASH if isnan(value) else format(value, form)
