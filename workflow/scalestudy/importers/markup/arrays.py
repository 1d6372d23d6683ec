"""Reads lists as tables: gpus = [1, 2, 4] above throughput = [410, 779, 1435], or GPUs: 1, 2, 4."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from scalestudy.importers.headers.meaning import meaning_of, normal
from scalestudy.importers.headers.terms import DEVICE
from scalestudy.importers.published import MEASURED, STATED
from scalestudy.importers.quantities import known_role
from scalestudy.importers.raw import RawTable

LONGEST = 2000
"""Characters of a line with a list."""
_GAP = 5
"""Lines between two lists that belong together, at most."""
_LIST = re.compile(
    r"[\s>*#-]*[\"']?(?P<name>[A-Za-z]\w{0,40})[\"']?\s*[=:]\s*(?:np\.array|numpy\.array|torch\.tensor|list|c|tuple)?\s*"
    r"[\[({]+(?P<cells>[\d.,\seE+-]{3,})[\])}]+\s*[,;]?\s*(?:#.*|//.*)?"
)
_NUMBER = r"~?\d[\d.]{0,20}(?:,\d{3}){0,4}(?:\.\d{1,9})?(?:e[+-]?\d{1,3})? ?[x\u00d7%]?"
_BARE = re.compile(
    rf"[\s>*#-]*(?P<name>[^\W\d][^:=|,;\t]{{0,40}}?)\s*[:=]\s+(?P<cells>{_NUMBER}(?:,\s+{_NUMBER}){{1,200}})\s*[,;.]?"
)
"""A list without brackets: `images/s: 402, 781, 1512`."""
_PAIRS = re.compile(
    r"[\s>*#-]*(?P<name>[A-Za-z]\w{0,80})\s*=\s*\{(?P<cells>\s*\d{1,6}\s*:[\d.:,\seE+-]*)\}\s*,?\s*(?:#.*)?"
)
_ITEM = re.compile(r"(\d{1,6})\s*:\s*([\d.eE+-]+)")
_KEYS = re.compile(rf"\b(?:by|per|vs|over)? ?(?:num(?:ber)?(?: of)? |n )?{DEVICE}(?: (?:2|to|vs|by))?\b")
"""The words of a name that say that the keys are devices."""
_List = tuple[int, str, list[str]]
"""Its line, its name and its numbers."""


def array_tables(lines: Sequence[str]) -> Iterator[RawTable]:
    """Yield tables of lists of equal length near each other, one of devices and one of a measurement."""
    group: list[_List] = []
    keyed: list[tuple[int, str, list[tuple[str, str]]]] = []
    for number, line in enumerate([*lines, *[""] * (_GAP + 1)], start=1):
        pairs = _PAIRS.fullmatch(line) if len(line) <= LONGEST else None
        other = pairs and keyed and _first_word(pairs["name"]) != _first_word(keyed[-1][1])
        if keyed and (other or number - keyed[-1][0] > _GAP):
            yield from _of_keys(keyed)
            keyed = []
        if pairs and _KEYS.search(normal(pairs["name"])):
            keyed.append((number, pairs["name"], _ITEM.findall(pairs["cells"])))
    for number, line in enumerate([*lines, *[""] * (_GAP + 1)], start=1):
        found, cells = _list_in(line) if len(line) <= LONGEST else (None, [])
        if group and (number - group[-1][0] > _GAP or (cells and len(cells) != len(group[0][2]))):
            yield from _of(group)
            group = []
        if found and len(cells) > 1:
            group.append((number, found["name"], cells))


def _list_in(line: str) -> tuple[re.Match[str] | None, list[str]]:
    """The list of a line, and its numbers; (None, []) if it has none."""
    if found := _LIST.fullmatch(line):
        return found, [cell.strip() for cell in found["cells"].split(",") if cell.strip()]
    found = _BARE.fullmatch(line)
    return found, re.split(r",\s+", found["cells"]) if found else []


def _first_word(name: str) -> str:
    return next(iter(_KEYS.sub(" ", normal(name)).split()), "")


def _of_keys(group: Sequence[tuple[int, str, list[tuple[str, str]]]]) -> Iterator[RawTable]:
    """Yield dictionaries whose keys are devices and whose names say what of: TIME_BY_GPUS = {1: 9.6, 2: 5.1}."""
    words = [_KEYS.sub(" ", normal(name)).split() for _, name, _ in group]
    alike = [len(set(column)) == 1 for column in zip(*words, strict=False)]
    shared = alike.index(False) if False in alike else len(alike)
    measured = " ".join(words[0][:shared])
    if known_role(measured) in (*MEASURED, *STATED) and len({key for *_, pairs in group for key, _ in pairs}) > 1:
        rows = [
            (line, (" ".join(own[shared:]), key, value))
            for (line, _, pairs), own in zip(group, words, strict=True)
            for key, value in pairs
        ]
        yield RawTable(group[0][0], ("name", "gpus", measured), tuple(rows))


def _of(group: Sequence[_List]) -> Iterator[RawTable]:
    roles = {meaning_of(name).role for _, name, _ in group}
    if {"gpus", "nodes"} & roles and len(group) > 1:
        rows = zip(*(cells for *_, cells in group), strict=True)
        line = group[-1][0]
        yield RawTable(group[0][0], tuple(name for _, name, _ in group), tuple((line, row) for row in rows))
