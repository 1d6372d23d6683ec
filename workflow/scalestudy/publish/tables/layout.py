"""How a table is set so that it fits: over one column of a page or both, limits beside or under, in panels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from scalestudy.publish.papers import Paper

DIGIT_PT, LIMIT_PT, GAP_PT = 4.4, 3.7, 6.0  # at \footnotesize of a 10 pt class
SPARE = 0.96  # of a width: these are estimates
SCRIPT = 0.88  # \scriptsize over \footnotesize
STUB_CHARACTERS = 18
"""A longer name of a variant is broken at its hyphens."""


@dataclass(frozen=True)
class Layout:
    """The narrowest need first: a page is left whole where a column is enough."""

    wide: bool
    stacked: bool
    """Limits in a line of their own, under their values."""
    panels: tuple[tuple[int, ...], ...]
    """Columns, by their place, of each of the tabulars that stand one below the other."""

    @property
    def environment(self) -> str:
        return "table*" if self.wide else "table"


@dataclass(frozen=True)
class Width:
    """Characters of the longest texts of a column."""

    header: int
    value: int
    limits: int

    def points(self, *, stacked: bool) -> float:
        """Side by side, a value and its limits are two columns under one header."""
        header, value, limits = self.header * DIGIT_PT, self.value * DIGIT_PT, self.limits * LIMIT_PT
        if stacked:
            return GAP_PT + max(header, value, limits * SCRIPT)
        return GAP_PT + max(header, value + (2 + limits if limits else 0))


def choose_layout(stub: int, columns: Sequence[Width], *, repeated: int, paper: Paper) -> Layout:
    """The first layout that holds.

    stub: characters of the longest first cell. repeated: so many columns say where a row was measured; every panel
    begins with them.
    """
    column_pt, page_pt = SPARE * paper.column_pt, SPARE * paper.page_pt
    first = min(stub, STUB_CHARACTERS) * DIGIT_PT
    beside, under = ([width.points(stacked=stacked) for width in columns] for stacked in (False, True))
    whole = (tuple(range(len(columns))),)
    if first + sum(beside) <= page_pt:
        return Layout(wide=first + sum(beside) > column_pt, stacked=False, panels=whole)
    if first + sum(under) <= page_pt:
        return Layout(wide=True, stacked=True, panels=whole)
    common = list(range(repeated))
    room = page_pt - first - sum(under[:repeated])
    panels: list[list[int]] = [[]]
    for index in range(repeated, len(columns)):
        if panels[-1] and sum(under[other] for other in [*panels[-1], index]) > room:
            panels.append([])
        panels[-1].append(index)
    return Layout(wide=True, stacked=True, panels=tuple((*common, *panel) for panel in panels))
