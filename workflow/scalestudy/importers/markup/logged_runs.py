"""Reads log lines below the devices of their run, with several values in a line.

Run on 2 GPUs:
    Epoch 2/9  loss 1.87  time 183.2s  349.1 images/s
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from scalestudy.importers.headers.meaning import meaning_of
from scalestudy.importers.numbers.printed import plain, read_cell
from scalestudy.importers.numbers.repeats import ALIKE
from scalestudy.importers.published import MEASURED, RATES
from scalestudy.importers.quantities import name_of
from scalestudy.importers.raw import RawTable

Run = tuple[str, int, Sequence[tuple[int, str]]]
"""Its title, its number of devices, and the lines below it with their numbers."""
_LONGEST = 300
_MOST_LINES = 20
"""Last lines of a run whose mean is read."""
_FEW = 2
"""Runs, and values of a line, from which they are read."""
_APART = re.compile(r"\s{2,}|\t|\s*[|;]\s*|,\s+|\s+-\s+")
"""What separates the values of a line."""
_VALUE = r"(?P<value>~?\d[\d.,]*(?:e[+-]?\d+)?(?: ?[A-Za-z\u00b5%][\w/%.]*(?!\s?[:=]))?)"
_NAMED = re.compile(rf"(?P<name>[^\W\d][\w /().%-]{{0,30}}?)(?:\s?[:=]\s?|\s){_VALUE}", re.IGNORECASE)
_SIGNED = re.compile(rf"(?P<name>[A-Za-z_][\w/.]{{0,30}})\s?[:=]\s?{_VALUE}(?!\S)", re.IGNORECASE)
"""One of several values with only a space between them."""
_BATCHES = ("batch", "batch_per_gpu", "global_batch", "accumulation")


def logged_runs(runs: Sequence[Run], noun: str) -> Iterator[RawTable]:
    """Yield a table with a row for each run, if the log lines of several runs have the same measurement.

    The lines of a run are steps or epochs. A cell has all of their numbers, of which the mean is read. A quantity
    that changes within a run by more than repeats do, such as the time since the start, is left out. noun: the
    header of the devices.
    """
    logged = [(run, values) for run in runs if (values := _values(run[2]))]
    if len(logged) < _FEW or len({devices for (_, devices, _), _ in logged}) < len(logged):
        return
    names = list(dict.fromkeys(name for _, values in logged for name in values))
    known = [name for name in names if sum(_is_read(name, values) for _, values in logged) >= _FEW]
    read = [name for name in known if all(_are_alike(values.get(name, [])) for _, values in logged)]
    if not any(_is_measured(name, values) for name in read for _, values in logged):
        return
    rows = [
        (_first(lines), (str(devices), *(_cell(values.get(name, [])) for name in read)))
        for (_, devices, lines), values in logged
    ]
    table = RawTable(rows[0][0], (noun, *read), tuple(rows))
    for note in _notes(runs, [values for _, values in logged], names, read):
        table = table.noted(note)
    yield table


def _first(lines: Sequence[tuple[int, str]]) -> int:
    return next(number for number, line in lines if line.strip())


def _cell(values: Sequence[str]) -> str:
    return " / ".join(values if len(set(values)) > 1 else values[:1])


def _values(lines: Sequence[tuple[int, str]]) -> dict[str, list[str]]:
    """The values of the log lines of a run by their names; none if no line has a measurement."""
    found = [one for _, line in lines if len(line) <= _LONGEST and (one := _of_line(line.strip()))]
    names = dict.fromkeys(name for one in found for name in one)
    return {name: [one[name] for one in found if name in one][-_MOST_LINES:] for name in names}


def _of_line(line: str) -> dict[str, str]:
    """The named values of a log line, and those with a unit that names them; none if it is no such line."""
    parts = [plain(part) for part in _APART.split(line) if part]
    found: dict[str, str] = {}
    signed = list(_SIGNED.finditer(line)) if len(parts) < _FEW else []
    for pair in signed or map(_NAMED.fullmatch, parts):
        if pair:
            found.setdefault(pair["name"].strip(), pair["value"])
    for part in parts if not signed else ():
        if name := name_of(part):
            found.setdefault(name, part)
    measured = any(_is_measured(name, {name: [value]}) for name, value in found.items())
    return found if measured and len(found) >= _FEW else {}


def _is_measured(name: str, values: Mapping[str, Sequence[str]]) -> bool:
    """Whether a name is that of a measurement, or the unit of its values is that of a rate."""
    units = {name_of(value) for value in values.get(name, [])}
    return meaning_of(name).role in MEASURED or any(meaning_of(unit).role in RATES for unit in units)


def _is_read(name: str, values: Mapping[str, Sequence[str]]) -> bool:
    return name in values and (_is_measured(name, values) or meaning_of(name).role in _BATCHES)


def _are_alike(values: Sequence[str]) -> bool:
    """Whether numbers are repeats of one measurement."""
    try:
        numbers = [read_cell(value).printed.value for value in values]
    except ValueError:
        return False
    return not numbers or 0 < max(numbers) <= ALIKE * min(numbers)


def _notes(
    runs: Sequence[Run], logged: Sequence[Mapping[str, Sequence[str]]], names: Sequence[str], read: Sequence[str]
) -> Iterator[str]:
    """What was read of the lines, and what was not."""
    if any(len(set(values.get(name, []))) > 1 for values in logged for name in read):
        yield f"the numbers of a run are means over its log lines, at most the last {_MOST_LINES}"
    if others := [name for name in names if name not in read]:
        yield f"not read of the log lines: {', '.join(others)}"
    said = {_words_of(title) for title, _, lines in runs if _values(lines)}
    for title, _, lines in runs:
        if _words_of(title) in said and not _values(lines):
            yield f"no log line below '{title}' has a measurement"


def _words_of(title: str) -> str:
    """The words of a title beside its numbers."""
    return re.sub(r"\d+|s\b", "", title.lower())
