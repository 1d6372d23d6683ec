"""Page sizes for tables and figures: the widths of the classes of papers."""

from dataclasses import dataclass

from scalestudy.study.plan import Plan

POINTS_PER_INCH = 72.27  # TeX's


@dataclass(frozen=True)
class Paper:
    """Widths in TeX points. On a page with one column they are equal, so a wide figure has no more room."""

    column_pt: float
    page_pt: float

    @property
    def two_columns(self) -> bool:
        """Whether the text has two columns."""
        return self.column_pt < self.page_pt

    @property
    def gap_pt(self) -> float:
        """Gap between two columns."""
        return max(self.page_pt - 2 * self.column_pt, 0.0)

    @property
    def column_in(self) -> float:
        """Width of a figure in one column, in inches."""
        return self.column_pt / POINTS_PER_INCH

    @property
    def page_in(self) -> float:
        """Width of a figure across the whole page, in inches."""
        return self.page_pt / POINTS_PER_INCH


# \\columnwidth and \\textwidth of the classes with their default options.
PAPERS = {
    "ieee": Paper(252.0, 516.0),  # IEEEtran
    "acm": Paper(241.1, 506.3),  # acmart, sigconf
    "neurips": Paper(397.5, 397.5),  # neurips_20XX.sty: 5.5 in
    "article": Paper(345.0, 345.0),  # article, 10 pt, letter or A4
}


def paper_of(plan: Plan) -> Paper:
    """The paper that a study is for."""
    return PAPERS[plan.study.report.paper]
