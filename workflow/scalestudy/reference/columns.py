"""docs/columns.md: every column of every table that a study writes."""

from collections.abc import Iterator

from scalestudy.registry.column import ENDS, Column
from scalestudy.registry.files import FILES

INTRODUCTION = """\
# Columns

The columns of a study's tables, in `results/STUDY/` and in the folder of `scalestudy compare --out`. Shares and
ratios are fractions. Suffixes of column names:

- `_low`, `_high`: the limits of the interval at the study's confidence (`report.confidence`), over runs; in a
  table with a row per run, within that run.
- `_min`, `_max`: the smallest and the largest value over runs.

Unknown values are empty. [measurement.md](measurement.md) describes the statistics.

<!-- Generated from the registry by `scalestudy stage schema`; a test keeps it in step. -->
"""


def columns_text() -> str:
    """The text of docs/columns.md."""
    return "\n".join([INTRODUCTION, *_sections()])


def _sections() -> Iterator[str]:
    for name, file in FILES.items():
        yield f"## `{name}`\n\nA row is {file.about}.\n"
        yield "| column | unit | definition |\n| --- | --- | --- |"
        yield from map(_row, file.columns)
        yield ""


def _row(column: Column) -> str:
    names = ", ".join([f"`{column.name}`", *(f"`{end}`" for end in ENDS[column.limits])])
    return f"| {names} | {column.unit} | {column.meaning} |"
