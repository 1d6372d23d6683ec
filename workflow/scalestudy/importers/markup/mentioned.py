"""Reads what a paragraph says of several numbers of devices: `120 img/s on 1 GPU, and 860 img/s on 8 GPUs`.

Two lists of as many numbers are read too: `1 / 2 / 4 GPUs: 210 / 400 / 790 img/s`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from scalestudy.importers.counts.numerals import WORDS, figure_of
from scalestudy.importers.devices.across import counted_across
from scalestudy.importers.headers.meaning import meaning_of
from scalestudy.importers.headers.terms import DEVICE, KIND, MAKER, NODE
from scalestudy.importers.markup.left_out import WITH_UNIT
from scalestudy.importers.markup.phrased import DURATION, FROM_TEXT, of_one_thing
from scalestudy.importers.numbers.printed import plain
from scalestudy.importers.published import MEASURED, STATED, TIMES
from scalestudy.importers.quantities import name_of
from scalestudy.importers.raw import RawTable

_LONGEST = 1000
"""Characters of a paragraph that is read."""
_NEAR_DEVICES, _NEAR_VALUE = 80, 25
"""Characters in front of devices and of a measurement in which words say what is measured."""
_FEW = 2
_DEVICES = re.compile(
    rf"(?<![\w.,])(?P<count>\d{{1,6}}|single|{WORDS}) ?[x-]? ?"
    rf"(?P<kind>{DEVICE}|{NODE}|{MAKER}*{KIND}s?)(?![\w/])",
    re.IGNORECASE,
)
_BEHIND_THEM = re.compile(
    rf"(?<!\w)(?:on|with|using|for) (?P<count>\d{{1,6}}|{WORDS})(?= ?(?:[,;.)]|and\b|$))", re.IGNORECASE
)
"""A number of the devices that a text has named: 4.9 h on two."""
_MEASURED = re.compile(rf"(?<![\w.,])(?:{DURATION})|{WITH_UNIT.pattern}")
_DIMENSIONS = re.compile(r"[1-4][dD]")
"""How many dimensions something has: a 2d model."""
_OF_SCALING = re.compile(r"effic|\beff\b|scal|linear|ideal", re.IGNORECASE)
_NUMBER = r"~?\d+(?:[.,]\d+)*[kM]?"
_UNIT = r"(?: ?(?!and\b|or\b)[A-Za-z%\u00b5][\w/%]*)?"
_SERIES = re.compile(
    rf"(?<![\w.,]){_NUMBER}{_UNIT}(?:(?P<sign> ?(?:-+>|\u2192|/|\|) ?|, ?){_NUMBER}{_UNIT})"
    rf"(?:(?P=sign){_NUMBER}{_UNIT})*"
)
"""Numbers with one sign between them, and units behind each or the last."""
_ASSIGNED = re.compile(
    rf"(?<!\w)(?P<kind>dp|tp|pp|np?|p|world[ _]size|(?:num[ _])?{DEVICE}) ?[=:] ?$", re.IGNORECASE
)
"""What numbers of devices are assigned to: dp = 1/2/4/8."""
_BARE_PAIR = re.compile(
    rf"(?<![\w.,])(?P<count>\d{{1,6}}) ?(?:-+>|=>|\u2192|:|=) ?(?P<value>~?\d[\d.,]*{_UNIT})(?![\w.]*\d)"
)
_NUMBERS_OF = re.compile(
    rf"\b(?:number|num|no\.?|amount|count|#) ?(?:of )?(?P<kind>{DEVICE}|{NODE})\b", re.IGNORECASE
)
_SIGN = re.compile(r" ?(?:-+>|\u2192|/(?=[ \d])|\|) ?|, ?(?!\d{3}\b)")


@dataclass(frozen=True)
class _Mention:
    """Devices or a measurement in a text."""

    start: int
    header: str
    text: str
    of_devices: bool


def mentioned_tables(lines: Sequence[str]) -> list[RawTable]:
    """Return the measurements of paragraphs, and of two lists with as many numbers."""
    found = []
    for line, text in _paragraphs(lines):
        rows = _of_series(text) or _of_pairs(text) or _of_bare_pairs(text)
        if rows:
            header = rows[0]
            found.append(
                RawTable(line, header, tuple((line, row) for row in rows[1:]), caption=text[:200], note=FROM_TEXT)
            )
    return found


def _paragraphs(lines: Sequence[str]) -> Iterator[tuple[int, str]]:
    """The first line of each paragraph, and its text in one line."""
    start, parts = 0, list[str]()
    for number, line in enumerate([*lines, ""], start=1):
        if line.strip() and sum(map(len, parts)) + len(line) <= _LONGEST:
            start = start if parts else number
            parts.append(plain(line))
        elif parts:
            yield start, " ".join(parts)
            start, parts = (number, [plain(line)]) if line.strip() and len(line) <= _LONGEST else (0, [])


def _of_pairs(text: str) -> list[tuple[str, ...]]:
    """Header and rows of a text in which each measurement is next to its devices, always in the same order."""
    devices = [
        _Mention(found.start(), found["kind"], str(figure_of(found["count"])), of_devices=True)
        for found in _DEVICES.finditer(text)
    ]
    bare = _DEVICES.sub(lambda found: " " * len(found[0]), text)
    if devices:
        first = devices[0]
        devices += [
            _Mention(found.start(), first.header, str(figure_of(found["count"])), of_devices=True)
            for found in _BEHIND_THEM.finditer(bare, first.start)
        ]
        head, tail = bare[: first.start], bare[first.start :]
        bare = head + _BEHIND_THEM.sub(lambda found: " " * len(found[0]), tail)
    if len(devices) < _FEW:
        return []
    measured = [
        _Mention(found.start(), name, found[0].strip(" ."), of_devices=False)
        for found in _MEASURED.finditer(bare)
        if not _DIMENSIONS.fullmatch(found[0].strip(" .")) and (name := _name(found[0].strip(" .")))
    ]
    names = {one.header for one in measured}
    share = not _OF_SCALING.search(text)
    if share and len(names) > 1:  # of something else, such as a utilization
        measured, names = [one for one in measured if one.header != "efficiency"], names - {"efficiency"}
    share = share and names == {"efficiency"}
    if len(measured) < _FEW or len(names) != 1 or share or meaning_of(min(names)).role not in (*MEASURED, *STATED):
        return []
    order = sorted([*devices, *measured], key=lambda one: one.start)
    behind = [(one, other) for one, other in pairwise(order) if one.of_devices and not other.of_devices]
    before = [(other, one) for one, other in pairwise(order) if other.of_devices and not one.of_devices]
    for pairs in (behind, before, _in_turns(order)):
        counts = [one.text for one, _ in pairs]
        if len(pairs) == len(measured) and len(set(counts)) == len(counts) >= _FEW:
            if meaning_of(min(names)).role in TIMES and not of_one_thing(_clauses(text, pairs)):
                return []
            header = (counted_across([one.header for one, _ in pairs]), min(names))
            return [header, *((one.text, other.text) for one, other in pairs)]
    return []


def _name(text: str) -> str:
    """The quantity of a measurement, which is a time for one of an epoch too: 49s per epoch."""
    name = name_of(text)
    return "time" if meaning_of(name).role in ("time_s", "total_time_s") else name


def _in_turns(order: Sequence[_Mention]) -> list[tuple[_Mention, _Mention]]:
    """(devices, measurement) of mentions two by two, whichever is first: 26 s on 2 GPUs, 1 GPU takes 49 s."""
    pairs = list(zip(order[::2], order[1::2], strict=False))
    if any(one.of_devices == other.of_devices for one, other in pairs):
        return []
    return [(one, other) if one.of_devices else (other, one) for one, other in pairs]


def _of_bare_pairs(text: str) -> list[tuple[str, ...]]:
    """Header and rows of a text with numbers of devices it names once: `of cores: 8 -> 26 sec, 16 -> 17 sec`."""
    said = _NUMBERS_OF.search(text)
    pairs = [(found["count"], found["value"].strip(" .")) for found in _BARE_PAIR.finditer(text)] if said else []
    names = {name_of(value) for _, value in pairs}
    if said is None or len({count for count, _ in pairs}) < max(_FEW, len(pairs)) or len(names) != 1:
        return []
    name = names.pop()
    measured = meaning_of(name).role in (*MEASURED, *STATED) and name != "efficiency"
    return [(counted_across([said["kind"]]), name), *pairs] if measured else []


def _clauses(text: str, pairs: Sequence[tuple[_Mention, _Mention]]) -> list[str]:
    """The words near each measurement and its devices. Those behind the last measurement are of all."""
    starts = [min(one.start, other.start) for one, other in pairs]
    ends = [max(one.start + len(one.text), other.start + len(other.text)) for one, other in pairs]
    behind = [0, *ends[:-1]]
    return [
        text[max(before, start - _NEAR_DEVICES) : start] + text[max(start, end - _NEAR_VALUE) : end]
        for before, start, end in zip(behind, starts, ends, strict=True)
    ]


def _of_series(text: str) -> list[tuple[str, ...]]:
    """Header and rows of a text with a list of devices and one of as many measurements."""
    devices: list[tuple[str, list[str]]] = []
    measured: list[tuple[str, list[str]]] = []
    for found in _SERIES.finditer(text):
        parts = [part.strip() for part in _SIGN.split(found[0]) if part.strip()]
        last = parts[-1]
        if len(parts) < _FEW:
            continue
        before = _ASSIGNED.search(text[: found.start()])
        if before and all(part.isdecimal() for part in parts) and len(set(parts)) == len(parts):
            devices.append((before["kind"], parts))
        elif kind := re.fullmatch(rf"\d{{1,6}} ?({DEVICE}|{NODE}|{MAKER}*{KIND}s?)", last, re.IGNORECASE):
            leading = [match for part in parts if (match := re.match(r"\d{1,6}", part))]
            if len(leading) == len(set(parts)) == len(parts):
                devices.append((kind[1], [match[0] for match in leading]))
        elif (name := name_of(last)) and meaning_of(name).role in (*MEASURED, *STATED):
            unit = re.sub(r"^[~\d.,]+[kM]?", "", last)
            measured.append((name, [part if re.search(r"[A-Za-z%]", part) else f"{part}{unit}" for part in parts]))
    if len(devices) != 1 or len(measured) != 1 or len(devices[0][1]) != len(measured[0][1]):
        return []
    (noun, counts), (quantity, values) = devices[0], measured[0]
    return [(counted_across([noun]), quantity), *zip(counts, values, strict=True)]
