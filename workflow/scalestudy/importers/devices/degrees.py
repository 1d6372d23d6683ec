"""Columns of degrees of parallelism, such as TP, whose product is the number of devices."""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import prod

from scalestudy.importers.counts.cells import DEGREES
from scalestudy.importers.headers.devices import DEGREE
from scalestudy.importers.headers.meaning import Meaning, normal, with_role
from scalestudy.importers.numbers.printed import plain
from scalestudy.importers.raw import RawTable

OF_A_DEGREE = re.compile(
    rf"(?P<short>{DEGREE})(?: ?(?:size|degree))?|(?P<long>tensor|pipeline|data|context|model)[- ]parallel(?:ism)?"
    r"(?: ?(?:size|degree))?"
)
_PARALLELISM = ("parallelism", "degree of parallelism", "dop")
_OF_DATA = re.compile(r"(?:dp|data[- ]parallel(?:ism)?)(?: ?(?:size|degree))?")
_OF_SEQUENCES = re.compile(r"sp(?: ?(?:size|degree))?|sequence[- ]parallel(?:ism)?(?: ?(?:size|degree))?")
_NUMBER = re.compile(r"[1-9]\d{0,5}")
_SIGNS = re.compile(r"[\s,;/+-]+")
_IN_BRACKETS = re.compile(r"\((\w+)\)")


def is_degree(header: str) -> bool:
    """Return whether a header is of a degree of parallelism: TP, tensor parallel size."""
    name = normal(header).strip(" .")
    return bool(OF_A_DEGREE.fullmatch(name)) or name in _PARALLELISM


def degrees(meanings: list[Meaning], raw: RawTable, said: set[str]) -> list[Meaning]:
    """Return the meanings of columns beside devices without DP, if it follows from the devices and other degrees.

    SP beside other degrees is one of them, and no speedup S_p.
    """
    names = [normal(one.header).strip(" .") for one in meanings]
    places = [place for place, name in enumerate(names) if OF_A_DEGREE.fullmatch(name)]
    sequences = [place for place, name in enumerate(names) if _OF_SEQUENCES.fullmatch(name) and name not in said]
    if places and sequences and _are_numbers(raw.cells(sequences[0])):
        meanings = with_role(meanings, sequences[0], "label")
    data = [place for place in places if _OF_DATA.fullmatch(names[place]) and meanings[place].role == "label"]
    if len(data) != 1 or names[data[0]] in said:
        return meanings
    others = [place for place in places if place != data[0]]
    for role in ("gpus", "nodes"):
        devices = next((place for place, one in enumerate(meanings) if one.role == role), None)
        if devices is not None:
            products = ([*data, *others], [*data, *others, *sequences])
            if any(_is_multiple(raw, devices, product) for product in products):
                return with_role(meanings, data[0], "ignore")
    return meanings


def without_degrees(across: dict[int, tuple[str, str]]) -> tuple[dict[int, tuple[str, str]], str]:
    """Return columns of devices without degrees that change with them, and a note: TP2,PP2 on 4, TP4,PP2 on 8.

    across: place -> (devices, other words of the header).
    """
    said = {words: _SIGNS.sub(" ", DEGREES.sub("", words)).strip() for _, words in across.values()}
    said = {words: _IN_BRACKETS.sub(r"\1", rest) for words, rest in said.items()}
    changed = {place: (devices, said[words]) for place, (devices, words) in across.items()}
    by_words: dict[str, set[str]] = {}
    for devices, words in across.values():
        by_words.setdefault(words, set()).add(devices)
    alone = all(len(sizes) == 1 for sizes in by_words.values())
    if not alone or not all(map(DEGREES.search, said)) or len(set(changed.values())) < len(changed):
        return across, ""
    return changed, f"the degrees of parallelism change with the devices ({'; '.join(by_words)})"


def _is_multiple(raw: RawTable, devices: int, factors: Sequence[int]) -> bool:
    """Whether the product of columns is in each row the same multiple of the devices."""
    places = (devices, *factors)
    rows = [[plain(row[place]) for place in places if place < len(row)] for _, row in raw.rows]
    if not rows or any(len(row) < len(places) or not all(map(_NUMBER.fullmatch, row)) for row in rows):
        return False
    first, *ratios = [prod(map(int, row[1:])) / int(row[0]) for row in rows]
    return all(ratio == first for ratio in ratios)


def _are_numbers(cells: Sequence[str]) -> bool:
    return bool(cells) and all(_NUMBER.fullmatch(plain(cell)) for cell in cells)
