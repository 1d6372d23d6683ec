"""Cells that repeat what their header or another column says: `4T` below `Threads`, `sum (4 threads)` beside 4."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from math import prod

from scalestudy.importers.counts.cells import read_count
from scalestudy.importers.counts.labels import count_or_none
from scalestudy.importers.headers.meaning import meaning_of, normal
from scalestudy.importers.headers.terms import DEVICE
from scalestudy.importers.numbers.printed import plain, share
from scalestudy.importers.raw import RawTable

_COUNTED = re.compile(
    rf"\s*[(\[](?:\d{{1,6}}|all|one|single|max(?:imum)?|multi(?:ple)?) ?-?{DEVICE}[)\]]$", re.IGNORECASE
)
"""The devices behind a label."""
_SET = re.compile(
    rf"[, ]*\b(?:(?:n|num|n_?proc)_?)?(?:{DEVICE}|np|per_node)(?:_per_node)? ?= ?\d{{1,6}}\b(?:,? *(?=[\w)]))?",
    re.IGNORECASE,
)
"""The devices among the settings of a label: Trainer(devices=4, strategy="ddp")."""
_PARTS = re.compile(r"(?<![a-wyz])(tp|pp|dp|cp|ep|sp|f?sdp|hsdp|ddp|zero)[ =_:-]?(\d{1,5})(?![\d.])")
"""Degrees of parallelism in a label: tp4_fsdp8."""
_IN_FRONT = re.compile(r"(?P<count>\d{1,5}) ?(?:n|nodes?|g|gpus?)\b[ ,:]*(?P<words>\S.*)", re.IGNORECASE)
"""The devices in front of the words of a label: 4n bf16."""
_NUMBER = r"(?P<number>[1-9]\d{0,5})"


def without_nouns(table: RawTable) -> RawTable:
    """Return a table with plain numbers in columns whose cells repeat the word of their header, or its letter.

    Labels that repeat their devices behind a name are the names: `sum (1 thread)` and `sum (all threads)`. So are
    `DP` and `DPxTP` for `DP1`, `DP4` and `DP2xTP2` beside their products.
    """
    columns = {}
    counted = [
        place
        for place, header in enumerate(table.header)
        if meaning_of(header).role in ("gpus", "nodes") and share(table.cells(place), read_count) > 0
    ]
    for place, header in enumerate(table.header):
        cells = table.cells(place)
        labels = {}
        if counted and place not in counted:
            labels = _labels(cells) or _degrees(table, place, counted[0]) or _behind_counts(table, place, counted)
        if own := _numbers(header, cells) or labels or _first_numbers(header, cells):
            columns[place] = own
    if not columns:
        return table
    rows = [
        (line, tuple(columns.get(place, {}).get(cell, cell) for place, cell in enumerate(cells)))
        for line, cells in table.rows
    ]
    return replace(table, rows=tuple(rows))


def _labels(cells: Sequence[str]) -> dict[str, str]:
    """Label -> its name without devices; empty if some label has none, or if no two rows have one name then."""
    names = {cell: _SET.sub("", _COUNTED.sub("", plain(cell))) for cell in cells}
    bare = all(name and name != plain(cell) for cell, name in names.items())
    return names if bare and len(set(names.values())) < len(names) else {}


def _first_numbers(header: str, cells: Sequence[str]) -> dict[str, str]:
    """Cell -> its first number, if that is of what the header counts and other numbers stand behind it.

    `10 workers (one per node), using 10x12 CPUs` below `Number of workers` is 10.
    """
    noun = re.search(rf"{DEVICE}$", normal(header))
    counts = re.match(r"(?:#|no\.?|num(?:ber)?)(?: of)?\b", normal(header)) or meaning_of(header).role == "gpus"
    if noun is None or not counts:
        return {}
    word = noun[0].removesuffix("s")
    found = {
        cell: re.match(rf"{_NUMBER} (?:[a-z]+ ){{0,3}}{word}s?\b.*\d", plain(cell), re.IGNORECASE)
        for cell in cells
    }
    others = [cell for cell, one in found.items() if one and str(_count(cell)) != one["number"]]
    return {cell: one["number"] for cell, one in found.items() if one} if all(found.values()) and others else {}


def _count(cell: str) -> int:
    count = count_or_none(cell)
    return count.gpus if count else 0


def _behind_counts(table: RawTable, place: int, counted: Sequence[int]) -> dict[str, str]:
    """Label -> its words behind the devices of its row, `bf16` of `4n bf16` beside 4; empty if some has none."""
    names: dict[str, str] = {}
    for _, row in table.rows:
        found = _IN_FRONT.fullmatch(plain(row[place])) if len(row) == len(table.header) else None
        if found is None or found["count"] not in [plain(row[at]) for at in counted]:
            return {}
        names[row[place]] = found["words"].strip()
    return names if len(set(names.values())) < len(names) else {}


def _degrees(table: RawTable, place: int, devices: int) -> dict[str, str]:
    """Label -> its kinds of parallelism; empty unless each label is of degrees whose product is its devices."""
    names: dict[str, str] = {}
    for _, row in table.rows:
        label = plain(row[place]).lower() if len(row) == len(table.header) else ""
        found = _PARTS.findall(label)
        sizes = [int(size) for _, size in found]
        if not found or re.sub(r"[ _x,+/-]", "", _PARTS.sub("", label)) or str(prod(sizes)) != plain(row[devices]):
            return {}
        kinds = [kind.upper() for kind, size in found if size != "1"]
        names[row[place]] = "x".join(kinds) or found[0][0].upper()
    return names


@lru_cache(maxsize=1024)
def _forms(noun: str, *, of_devices: bool) -> tuple[re.Pattern[str], ...]:
    """How a cell may say a number with the noun of its header, of which devices may have the letter only."""
    forms = [rf"{_NUMBER}(?: ?-?(?:{noun}e?s?))?"]
    if of_devices:
        forms.append(rf"{_NUMBER} ?-?[p{noun[0]}]|{noun[0]} ?-?(?P<behind>[1-9]\d{{0,5}})")  # 8p: of processes
    return tuple(re.compile(form, re.IGNORECASE) for form in forms)


def _numbers(header: str, cells: Sequence[str]) -> dict[str, str]:
    """Cell -> its number; empty if not all cells have the word, or if they are names such as T1, T2, T3."""
    nouns = [re.sub(r"(?<=ss)es$|s$", "", word) for word in re.findall(r"[a-z]{2,}", normal(header))]
    if not nouns:
        return {}
    of_devices = meaning_of(header).role in ("gpus", "nodes")
    forms = _forms(nouns[-1], of_devices=of_devices)
    found = {
        cell: next((one for form in forms if (one := form.fullmatch(plain(cell)))), None)
        for cell in cells
        if re.search(r"\d", plain(cell))  # `serial` has no number
    }
    if not found or not all(found.values()):
        return {}
    numbers = {cell: one[one.lastgroup or ""] for cell, one in found.items() if one}
    if all(plain(cell) == number for cell, number in numbers.items()):
        return {}
    counted = list(map(int, numbers.values()))
    names = of_devices and counted == list(range(1, len(counted) + 1))
    named = names and any(one and one.lastgroup == "behind" for one in found.values())
    return {} if named else numbers
