"""Descriptions of the columns of our tables: keys of numbers, headers, rounding and docs/columns.md use them."""

from dataclasses import dataclass
from typing import Any, Literal, Protocol

Limits = Literal["none", "interval", "range"]
"""Columns X_low and X_high at the study's confidence, X_min and X_max of the runs, or none."""
Rounding = Literal["measured", "share", "count", "scaled"]
"""`measured`: as many digits as the interval supports. `share`: one decimal of a percentage. `scaled`: three
digits and a prefix of the SI."""

ENDS: dict[Limits, tuple[str, ...]] = {"none": (), "interval": ("_low", "_high"), "range": ("_min", "_max")}


@dataclass(frozen=True)
class Printed:
    """How a column is printed."""

    name: str
    """In keys of numbers, in `report.tables` of the config, and in templates."""
    unit: str = ""
    """'' for a ratio or a count."""
    factor: float = 1
    """From the column's unit to the printed one."""
    rounding: Rounding = "measured"
    header: str = ""
    """Header in a LaTeX table; '' if no table has the column."""
    with_limits: bool = False
    """Whether tables print its limits. If not, they follow from the limits of another column."""


@dataclass(frozen=True)
class Column:
    """A column of a CSV or parquet file."""

    name: str
    meaning: str
    """With the statistic over steps, ranks and runs."""
    unit: str = ""
    limits: Limits = "none"
    printed: Printed | None = None
    text: bool = False
    """Whether it has names that people chose, which are text even if they look like numbers: a study `2024`."""

    @property
    def names(self) -> tuple[str, ...]:
        """The name of the column, and the names of its limits."""
        return self.name, *(f"{self.name}{end}" for end in ENDS[self.limits])


class Row(Protocol):
    """A row of a table, indexed by column name: a row of a data frame, or a dictionary."""

    def __getitem__(self, column: str, /) -> Any: ...

    def get(self, column: str, default: Any, /) -> Any: ...
