"""Reads sections of a README that are one run each: a heading with its devices, and lines with named values.

## Single GPU                        ## DDP, 2 GPUs
Time of one epoch: 13.1 seconds      Time of one epoch: 9.8 seconds
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from scalestudy.importers.counts.labels import count_among_words
from scalestudy.importers.headers.meaning import meaning_of
from scalestudy.importers.markup.naming import with_signs
from scalestudy.importers.numbers.printed import plain
from scalestudy.importers.published import MEASURED, STATED
from scalestudy.importers.quantities import name_of
from scalestudy.importers.raw import RawTable

_HEADING = re.compile(r"\s{0,3}#{1,6}\s+(?P<hashed>.+?)\s*#*\s*|(?P<sign>\*\*|__)(?P<bold>[^*_].*?)(?P=sign):?\s*")
_NAMED = re.compile(
    r"\s*(?:[-*+\u2022]\s+)?(?P<name>[^\W\d][\w ()/.+-]{0,40}?) ?(?::|=|\u2192|->) ?"
    r"(?P<value>~?\d[\d.,:]* ?(?:%|[A-Za-z\u00b5][\w/%.]*(?: (?:per|/) \w+)?)(?: \d+ ?[a-z]+)*)\W*"
)
"""A name and a number with its unit."""
_LONGEST = 200
_LONGEST_TITLE = 100
_FEW = 2
_SETUP = "setup"
"""Header of the headings."""


def headed_runs(lines: Sequence[str]) -> list[RawTable]:
    """Return a row for each heading that names a number of devices, with the values that two headings have.

    The headings name two numbers of devices or more. A value that a section has twice is not read.
    """
    rows: list[tuple[int, str, dict[str, str]]] = []
    own: dict[str, str] | None = None
    for number, line in enumerate(lines, start=1):
        if len(line) > _LONGEST:
            continue
        if heading := _HEADING.fullmatch(line):
            title = plain(heading["hashed"] or heading["bold"]).strip(" :*_")
            named = len(title) <= _LONGEST_TITLE and count_among_words(title) is not None
            own = {} if named else None
            if own is not None:
                rows.append((number, title, own))
        elif own is not None:
            for name, value in _values(line):
                own[name] = "" if name in own else value
    rows = [(number, title, values) for number, title, values in rows if any(values.values())]
    counts = {count.gpus for _, title, _ in rows if (count := count_among_words(title))}
    names = list(dict.fromkeys(name for *_, values in rows for name, value in values.items() if value))
    shared = [name for name in names if sum(bool(values.get(name)) for *_, values in rows) >= _FEW]
    if len(counts) < _FEW or not any(_is_measured(name, rows) for name in shared):
        return []
    body = tuple((number, (title, *(values.get(name, "") for name in shared))) for number, title, values in rows)
    return [RawTable(body[0][0], (_SETUP, *shared), body)]


def _values(line: str) -> list[tuple[str, str]]:
    """The named values of a line."""
    found = [_NAMED.fullmatch(plain(part).rstrip("\\ ")) for part in with_signs(line)]
    return [(one["name"].strip(), one["value"].strip()) for one in found if one]


def _is_measured(name: str, rows: Sequence[tuple[int, str, dict[str, str]]]) -> bool:
    """Whether a name or the units of its values are those of a measurement."""
    units = [name_of(values[name]) for *_, values in rows if values.get(name)]
    return any(meaning_of(one).role in (*MEASURED, *STATED) for one in (name, *units))
