"""The page of the documents: as wide as that of the study's paper, so that tables and figures keep their size."""

from __future__ import annotations

from dataclasses import dataclass

from scalestudy.publish.papers import Paper

TEXT_HEIGHT_PT = 725.0
"""Of an A4 page."""


@dataclass(frozen=True)
class Page:
    """Sizes in TeX's points. Where the paper has two columns, prose has them too."""

    width_pt: float
    column_pt: float

    @classmethod
    def of(cls, paper: Paper) -> Page:
        return cls(width_pt=paper.page_pt, column_pt=paper.column_pt)

    @property
    def height_pt(self) -> float:
        return TEXT_HEIGHT_PT

    @property
    def two_columns(self) -> bool:
        return self.column_pt < self.width_pt

    @property
    def gap_pt(self) -> float:
        """Between two columns."""
        return max(self.width_pt - 2 * self.column_pt, 0.0)
