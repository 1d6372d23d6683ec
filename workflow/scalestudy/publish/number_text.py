"""One number in full: what it is, where it was measured, against what, and from which launches."""

from __future__ import annotations

from collections.abc import Sequence

from scalestudy.publish.numbers.model import Number, NumbersFile
from scalestudy.publish.numbers.provenance import code_of, made, record_of, where_of
from scalestudy.publish.templates import wrap

INDENT = " " * 13


def number_text(numbers: NumbersFile, key: str, number: Number) -> str:
    """Some lines for a terminal."""
    shown = number.shown
    interval = f" {shown.limits} ({number.limits})" if shown.limits else " (no interval)"
    unit = f" {number.unit}" if number.unit else ""
    lines = [f"{key} = {shown.value}{unit}{interval}", _field("what", number.what)]
    if number.point:
        point = numbers.points[number.point]
        lines.append(_field("where", f"{where_of(point)}; {point.outcomes}"))
        if point.base and point.base != number.point:
            lines.append(_field("base case", point.base))
        lines += _launches("launches", point.runs, numbers)
        if point.base_runs != point.runs:
            lines += _launches("of the base", point.base_runs, numbers)
    for place in number.rests_on:
        lines.append(_field("from", place))
        lines += _launches("launches", numbers.points[place].runs, numbers)
    return "\n".join(lines)


def _launches(name: str, runs: Sequence[str], numbers: NumbersFile) -> list[str]:
    """A line a launch: outcome, checksum of its record, commit."""
    lines: list[str] = []
    for run_id in made(numbers.runs, runs):
        run = numbers.runs[run_id]
        record = f", record {record_of(run)}" if record_of(run) else ""
        text = f"{run_id}: {run.outcome}{record}, {code_of(run) or 'no commit known'}"
        lines.append(_field(name if not lines else "", text))
    return lines


def _field(name: str, text: str) -> str:
    return wrap(text, f"{name:<{len(INDENT)}}", INDENT)
