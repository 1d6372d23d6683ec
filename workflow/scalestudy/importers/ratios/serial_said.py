"""The time of a serial run that only the text beside a table states: `Sequential time: 14.79 s`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from scalestudy.importers.headers.terms import SECONDS, SERIAL_RUN, UNIT_OF_TIME
from scalestudy.importers.numbers.printed import Printed, read_cell
from scalestudy.importers.published import SERIAL, TIMES, PublishedTable

_LONGEST = 100
"""Characters of a line that states it."""
_TIME = r"(?P<time>\d+(?:[.,]\d+)?) ?(?P<unit>ms|msec|s|sec|secs|seconds|segundos|min|minutes)\b"
_SAID = re.compile(rf"\b(?:{SERIAL_RUN})\b[^\d|]{{0,40}}?[ :=(]{_TIME}(?!.*\d ?(?:ms|s|sec|min)\b)", re.IGNORECASE)
"""A line with one time, behind a word for a serial run."""
_LATEX = re.compile(r"\\(?:text|mathrm|mathbf|textbf)\s?\{([^{}]*)\}")
"""Words in a formula."""


def with_serial_time(table: PublishedTable, text: Sequence[str]) -> PublishedTable:
    """Return a table with printed speedups whose rows have the serial time of the text, if it states one.

    text: the lines around the table.
    """
    timed = next((one for one in table.columns if one.role in TIMES), None)
    printed = any("printed_speedup" in row.numbers for row in table.rows)
    if timed is None or not printed or any(SERIAL in row.numbers for row in table.rows):
        return table
    said = _times_in(text)
    if len(said) != 1:
        return table
    ((words, time),) = said.items()
    rows = tuple(replace(row, numbers={**row.numbers, SERIAL: time}) for row in table.rows)
    return replace(table, rows=rows, notes=(*table.notes, f"the text states a serial time: '{words}'"))


def states_serial_time(text: Sequence[str]) -> bool:
    """Return whether one line of a text states the time of a serial run."""
    return len(_times_in(text)) == 1


def _times_in(text: Sequence[str]) -> dict[str, Printed]:
    """Lines that state the time of a serial run, with this time."""
    return {words: time for words in text if (time := _time_in(words))}


def _time_in(words: str) -> Printed | None:
    """The serial time of a line in seconds."""
    words = _LATEX.sub(r"\1", words).strip("$ ")
    found = _SAID.search(words) if len(words) <= _LONGEST else None
    if found is None:
        return None
    unit = next((name for name, form in UNIT_OF_TIME.items() if re.search(form, found["unit"].lower())), "s")
    return read_cell(found["time"]).printed.times(SECONDS[unit])
