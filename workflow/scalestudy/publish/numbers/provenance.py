"""The provenance of numbers: the runs behind them, with their dates and code."""

from collections.abc import Iterator, Sequence
from typing import Any

import pandas as pd

from scalestudy.publish.numbers.model import Number, NumbersFile, RunSource
from scalestudy.publish.templates import wrap

INDENT = " " * 13


def run_sources(runs: pd.DataFrame) -> dict[str, RunSource]:
    """The runs of runs.csv by id."""
    kept = runs.reindex(columns=["run_id", *RunSource.model_fields]).astype(object)
    rows = kept.where(kept.notna(), None).to_dict("records")
    return {row.pop("run_id"): RunSource.model_validate(row) for row in rows}


def dates_of(runs: pd.DataFrame) -> str:
    """The days on which runs started: '2026-01-31', '2026-01-31 to 2026-02-02'; '' if not known."""
    days = sorted({run.started_at[:10] for run in run_sources(runs).values() if run.started_at})
    return " to ".join(dict.fromkeys([*days[:1], *days[-1:]]))


def codes_of(runs: pd.DataFrame) -> list[str]:
    """Every commit that runs were made with, with its state."""
    return sorted({run.code for run in run_sources(runs).values()} - {""})


def is_dirty(runs: pd.DataFrame) -> bool:
    """Whether the code of any run had uncommitted changes."""
    return any(run.dirty for run in run_sources(runs).values())


def provenance_view(numbers: NumbersFile) -> dict[str, Any]:
    """Values for report/templates/provenance.tex."""
    return {
        "numbers": numbers,
        "code": ", ".join(sorted({run.code for run in numbers.runs.values()} - {""})),
        "launches": {
            key: ", ".join(
                f"{run_id} ({run.record})" if run.record else run_id
                for run_id, run in numbers.launches(point.runs).items()
            )
            for key, point in numbers.points.items()
        },
    }


def number_text(numbers: NumbersFile, key: str, number: Number) -> str:
    """The meaning, place, baseline and runs of a number, as lines for a terminal."""
    shown = number.shown
    interval = f" {shown.limits} ({number.limits})" if shown.limits else " (no interval)"
    unit = f" {number.unit}" if number.unit else ""
    lines = [f"{key} = {shown.value}{unit}{interval}", _field("what", number.what)]
    if number.point:
        point = numbers.points[number.point]
        lines.append(_field("where", f"{point.where}; {point.outcomes}"))
        if point.base and point.base != number.point:
            lines.append(_field("baseline", point.base))
        lines += _launches("runs", point.runs, numbers)
        if point.base_runs != point.runs:
            lines += _launches("base runs", point.base_runs, numbers)
    for place in number.rests_on:
        lines.append(_field("from", place))
        lines += _launches("runs", numbers.points[place].runs, numbers)
    return "\n".join(lines)


def _launches(name: str, run_ids: Sequence[str], numbers: NumbersFile) -> Iterator[str]:
    """One line per run: outcome, checksum of its record, commit."""
    for run_id, run in numbers.launches(run_ids).items():
        record = f", record {run.record}" if run.record else ""
        yield _field(name, f"{run_id}: {run.outcome}{record}, {run.code or 'no commit known'}")
        name = ""


def _field(name: str, text: str) -> str:
    return wrap(text, f"{name:<{len(INDENT)}}", INDENT)
