"""docs/columns.md: every column of every table that a study writes."""

from collections.abc import Iterator

from scalestudy.registry.column import ENDS, Column
from scalestudy.registry.files import FILES

INTRODUCTION = """\
# Columns

What the tables of a study hold: `results/STUDY/`, and the folder that `scalestudy compare --out` names. Shares and
ratios are fractions. Behind the name of a column:

- `_low`, `_high`: the limits of its interval at the confidence of the study (`report.confidence`), over launches;
  in a table of single launches, of that launch.
- `_min`, `_max`: the smallest and the largest of the launches.

A value that is not known is empty. How the statistics are made is in [measurement.md](measurement.md).

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
