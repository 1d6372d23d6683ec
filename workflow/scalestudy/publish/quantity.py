"""The quantity in which an audit and a forecast show a series: a throughput, or the time that its table prints."""

from __future__ import annotations

from dataclasses import dataclass
from math import isclose, isnan, nan

from scalestudy.analyse.published import settle
from scalestudy.analyse.published.table import Recomputed, rate_of
from scalestudy.analyse.statistics.intervals import Interval
from scalestudy.diagnose.audit import Audit
from scalestudy.importers.published import RATES, TIMES

_LONGEST = 12
"""Characters of a unit in the header of a column."""


@dataclass(frozen=True)
class Quantity:
    """What a series is shown in."""

    name: str
    """`time` or `step time`; '' for a throughput."""
    unit: str
    """Unit behind a value; '' for a time whose unit the table does not state."""
    role: str
    """Role of the column of times; '' for a throughput."""
    weak: bool
    """Whether a time is that of work that grows with the devices."""

    @property
    def header(self) -> str:
        """Header of its column: `img/s`, `time (s)`."""
        return f"{self.name} ({self.unit})" if self.name and self.unit else self.name or self.unit

    def of(self, scale: Recomputed) -> float:
        """Return the value of a measured size; nan without one. Rows of one configuration have their mean."""
        time = scale.row.number(self.role) if self.role else None
        if time is None:
            return scale.throughput.value if not self.role else nan
        share = rate_of(scale.row).value / scale.throughput.value
        return time if isnan(share) else time * share

    def forecast(self, throughput: Interval, devices: int, base: Recomputed) -> Interval:
        """Return the value of a forecast from its throughput. base: a measured size."""
        if not self.role:
            return throughput
        grows = devices / base.row.gpus if self.weak else 1.0
        return throughput.inverse(self.of(base) * base.throughput.value * grows)


def quantity_of(audit: Audit) -> Quantity:
    """Return the quantity in which a case is shown: what its throughputs are from, in the table's unit."""
    role = audit.settled.rate
    if role in TIMES:
        unit = "" if role in audit.source.unknown_units else "s"
        name = "step time" if role == "step_time_s" else "time"
        return Quantity(name, unit, role, audit.settled.whose == settle.WEAK)
    rows = [scale.row for scale in audit.table.scales]
    units = {row.unit or row.label("throughput_unit").removesuffix("/GPU") for row in rows}
    stated = units.pop() if len(units) == 1 else ""
    column = audit.source.column(role) if role else None
    if not stated and column is not None and (role in RATES or _are_as_printed(audit, role)):
        stated = column.unit or column.shown
    return Quantity("", stated if 0 < len(stated) <= _LONGEST else "work/s", "", weak=False)


def _are_as_printed(audit: Audit, role: str) -> bool:
    """Whether the throughputs of all sizes are the numbers of their column: steps of constant work."""
    return bool(role) and all(
        (own := scale.row.number(role)) is not None and isclose(own, scale.throughput.value)
        for scale in audit.table.scales
    )
