"""Numbers in brackets behind measurements, by what a header or a sentence says of them: per device, or a ratio."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from math import isclose

from scalestudy.importers.counts.cells import read_count
from scalestudy.importers.headers.meaning import meaning_of, normal, place_of_devices
from scalestudy.importers.headers.terms import DEVICE
from scalestudy.importers.headers.units_in_words import measured_said
from scalestudy.importers.numbers.printed import plain, read_cell, share
from scalestudy.importers.ratios.columns import CLOSE
from scalestudy.importers.raw import UNSAID, RawTable

_BRACKETS = r"(?:parenthes[ei]s|(?:round |square )?brackets)"
_IN_BRACKETS = re.compile(rf"\b(?:in|between) (?:the )?{_BRACKETS}|\b{_BRACKETS}:? [a-z]")
_FIGURE = r"~?\d[\d.,]*(?: ?[kKM])?"
_BOTH = re.compile(rf"(?P<outer>{_FIGURE}) ?[(\[](?P<inner>{_FIGURE})[)\]]")
_EACH = rf"(?:per[- ]{DEVICE}|of (?:each|one|a single) {DEVICE})"
_EACH_SAID = re.compile(
    rf"{_EACH}(?: [a-z/]+){{0,4}} (?:in|between) (?:the )?{_BRACKETS}|{_BRACKETS}\)?[^.;]{{0,50}} {_EACH}"
)
"""A sentence that says that the numbers in brackets are those of a device."""
_OF_A_HEADER = re.compile(rf"(?P<rate>.*?\S) ?[(\[] ?(?:/|per[- ]?|each ){DEVICE} ?[)\]]", re.IGNORECASE)
_RATIO = r"(?:scaling |parallel |weak |strong )*(?:efficienc(?:y|ies)|percentages?|per ?cent|% of|speed-?ups?)"
_RATIO_SAID = re.compile(
    rf"(?P<ratio>{_RATIO}[^.;,()]{{0,50}}) (?:in|between) (?:the )?{_BRACKETS}|"
    rf"{_BRACKETS}\)?(?: (?!no |not )[a-z]+)?(?: the| a| its| their|:|,)* (?P<behind>{_RATIO}[^.;,()]{{0,50}})|"
    rf"(?<=[a-z\])] \()(?P<aside>{_RATIO})(?=\))"
)
"""Words that say that the numbers in brackets are ratios of those in front of them, also `time in s (speedup)`."""
_OF_ANOTHER = re.compile(
    r"peak|mfu|util|memory|accura|error|deviation|\btimes?\b|roofline|theor|commun|overhead|idle|batch|param|power|"
    r"cost|price|"
    r"\b(?:over|vs|versus|against|compared (?:to|with))\b\.? "
    r"(?!(?:the |a )?(?:1|one|single|serial|sequential|smallest|first|fewest|base|\d))"
)
"""Words of a clause on other numbers, or on ratios to another system."""
_CLAUSE = re.compile(r"[^.;,(]*$")
ANOTHER = "another number"
"""What is in brackets and no ratio, such as the MFU."""
_FEW = 2
"""Cells whose numbers show what is in brackets."""


def with_each_in_brackets(table: RawTable) -> RawTable:
    """Return a table in which rates of a device in brackets behind those of all, 1,600 (100), have columns.

    A header or a sentence has to say so, and the numbers of most rows must not contradict it.
    """
    said = any(_clauses(table, _EACH_SAID))
    for place in range(len(table.header) - 1, 0, -1):
        found = [_BOTH.fullmatch(plain(cell)) for cell in table.cells(place)]
        named = _OF_A_HEADER.fullmatch(plain(table.header[place]))
        if not (said or named) or sum(map(bool, found)) < max(1, len(found) / 2):
            continue
        shown = [*_are_of_each(table, place)]
        if (len(shown) < _FEW and not said) or 2 * sum(shown) < len(shown):
            continue
        whole = named["rate"] if named else _name(table, plain(table.header[place]))
        table = _apart(table, place, (whole, f"{whole} per GPU"))
    return table


def ratio_in_brackets(table: RawTable) -> str:
    """Return what sentences call the numbers in brackets: `efficiency`, `speedup`, or ANOTHER; '' if nothing."""
    ratios = [one["ratio"] or one["behind"] or one["aside"] for one in _clauses(table, _RATIO_SAID)]
    if ratios:
        return "speedup" if all("speed" in one for one in ratios) else "efficiency"
    parts = (part for words in map(normal, (*table.captions, *table.beside)) for part in re.split(r"[.;]", words))
    return ANOTHER if any(_IN_BRACKETS.search(part) and _OF_ANOTHER.search(part) for part in parts) else ""


def measured_beside(table: RawTable) -> str:
    """Return a header for the only rate or time that the text states for a table whose rows name their devices."""
    devices = place_of_devices([meaning_of(name) for name in table.header])
    return (
        measured_said(table.said) if devices is not None and share(table.cells(devices), read_count) == 1 else ""
    )


def _clauses(table: RawTable, form: re.Pattern[str]) -> Iterator[re.Match[str]]:
    """What captions and sentences on a table say of its brackets in a form, without clauses on other numbers."""
    for words in map(normal, (*table.captions, *table.beside)):
        for found in form.finditer(words):
            begins = _CLAUSE.search(words[: found.start()])
            if not _OF_ANOTHER.search(f"{begins[0] if begins else ''}{found[0]}"):
                yield found


def _are_of_each(table: RawTable, place: int) -> Iterator[bool]:
    """Yield for each cell with both numbers whether the first is the second one times the devices of its row."""
    devices = place_of_devices([meaning_of(name) for name in table.header])
    for _, row in table.rows if devices is not None else ():
        both = _BOTH.fullmatch(plain(row[place])) if place < len(row) else None
        with suppress(ValueError, IndexError, ZeroDivisionError):
            if both:
                outer, inner = (read_cell(both[name]).printed for name in ("outer", "inner"))
                each = outer.value / read_count(row[devices or 0]).gpus
                yield isclose(each, inner.value, rel_tol=max(CLOSE, inner.last / inner.value))


def _name(table: RawTable, header: str) -> str:
    """The header of a rate of all devices, with the unit that the text states if it names none."""
    own = meaning_of(header)
    if own.role == "throughput" and own.per != "gpu":
        return header
    unit = measured_said(table.said).removesuffix(" per GPU") or "throughput"
    return unit if own.role == "throughput_per_gpu" or header == UNSAID else f"{header} {unit}"


def _apart(table: RawTable, place: int, names: tuple[str, str]) -> RawTable:
    """The table with two columns instead of one."""
    rows = []
    for line, row in table.rows:
        both = _BOTH.fullmatch(plain(row[place])) if place < len(row) else None
        pair = (both["outer"], both["inner"]) if both else (*row[place : place + 1], "")
        rows.append((line, (*row[:place], *pair, *row[place + 1 :])))
    header = (*table.header[:place], *names, *table.header[place + 1 :])
    return replace(table, header=header, rows=tuple(rows))


def are_in_brackets(ratios: Sequence[re.Match[str]]) -> bool:
    """Return whether all ratios of a column are in brackets. ratios: with the sign in front of each as `open`."""
    return bool(ratios) and all(one["open"].strip() in ("(", "[") for one in ratios)
