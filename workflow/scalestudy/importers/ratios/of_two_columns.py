"""Ratios of two other columns of their row, by their headers: `Ratio` behind `A` and `B`, `Ours / Horovod`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import combinations

from scalestudy.importers.headers.meaning import Meaning, is_relative, normal
from scalestudy.importers.ratios.columns import MOST_COLUMNS, is_quotient, varies
from scalestudy.importers.raw import RawTable

_QUOTIENT = re.compile(r"(?P<above>\S.*?) ?[/:\u00f7] ?(?P<below>\S.*)")


def is_of_two_columns(raw: RawTable, place: int, meanings: Sequence[Meaning]) -> bool:
    """Return whether a header names the quotient of two others, or a ratio that two columns have in most rows.

    Both columns have to vary: the quotient of a constant is a ratio of the devices.
    """
    header = meanings[place].header
    if _names_two(header, [one.header for at, one in enumerate(meanings) if at != place]):
        return True
    free = [at for at, one in enumerate(meanings) if one.role == "ignore" and at != place and varies(raw, at)]
    pairs = combinations(free[:MOST_COLUMNS], 2)
    return is_relative(header) and any(is_quotient(raw, place, pair) for pair in pairs)


def _names_two(header: str, others: Sequence[str]) -> bool:
    """Whether a header is one of the others over another one."""
    found, names = _QUOTIENT.fullmatch(normal(header)), {*filter(None, map(normal, others))}
    return found is not None and found["above"] in names and found["below"] in names
