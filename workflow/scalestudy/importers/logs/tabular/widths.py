"""Rows of a table with more or fewer cells than its header: left out with a remark, or a table that is refused."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from scalestudy.errors import UserError
from scalestudy.importers.logs.tabular.table import MOST_REMARKS

MOST_LEFT_OUT = 0.1
"""Share of rows with too many cells up to which they are left out. With more, the header is that of another table,
or the decimals of a comma-separated file follow a comma; the rows that are left would be a selection by value."""


@dataclass
class Widths:
    """Collects the rows of a table that do not have the number of cells of its header."""

    path: Path
    expected: int
    first: list[tuple[int, int]] = field(default_factory=list)
    """(line, cells) of the first MOST_REMARKS rows that are left out."""
    wide: tuple[int, int] | None = None
    """(line, cells) of the first row with too many cells."""
    left_out: int = 0
    too_wide: int = 0

    def add(self, line: int, cells: int) -> None:
        """Leave out a row."""
        self.left_out += 1
        if len(self.first) < MOST_REMARKS:
            self.first.append((line, cells))
        if cells > self.expected:
            self.too_wide += 1
            self.wide = self.wide or (line, cells)

    def check(self, kept: int) -> None:
        """Raise UserError that names the first row if many have too many cells. kept: rows of the right width."""
        if self.wide and self.too_wide > MOST_LEFT_OUT * (kept + self.too_wide):
            line, cells = self.wide
            more = f"; {self.too_wide} rows have too many cells" if self.too_wide > 1 else ""
            raise UserError(f"{self.path}, line {line}: {cells} cells in a table of {self.expected} columns{more}")

    def remarks(self) -> list[str]:
        """What is said of the rows that are left out."""
        said = [
            f"line {line}: {cells} of {self.expected} cells; the row is left out" for line, cells in self.first
        ]
        if self.left_out > len(said):
            said.append(f"{self.left_out - len(said)} more rows have too many or too few cells; left out")
        return said
