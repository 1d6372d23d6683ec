"""Joins tables of one section that have one number of devices each: the same models on 1 GPU, and on 4 GPUs."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace

from scalestudy.importers.counts.labels import count_or_none, each_node, pairs_in
from scalestudy.importers.counts.numerals import in_digits, spelled
from scalestudy.importers.counts.phrases import phrase_in
from scalestudy.importers.devices.across import counted_across
from scalestudy.importers.headers.meaning import is_utilization, meaning_of, normal
from scalestudy.importers.headers.terms import DEVICE, KIND, MAKER, NODE, OF_WHAT
from scalestudy.importers.markup.naming import COMMAND
from scalestudy.importers.numbers.printed import plain, read_cell, share
from scalestudy.importers.published import MEASURED, STATED
from scalestudy.importers.raw import RawTable

_FEWEST = 2
"""Rows of a table that another one continues."""
_NAMED = re.compile(
    rf"(?<![\w.])(?:\d{{1,6}}(?: ?x ?| ?-?)(?:{OF_WHAT}?{DEVICE}|{NODE}|{MAKER}*{KIND}s?)|"
    rf"(?:single|one)[- ](?:{DEVICE}|{NODE}|{MAKER}*{KIND})|"
    rf"(?:np?|p|nproc(?:_per_node)?|{DEVICE}|{NODE}) ?[=:] ?\d{{1,6}})(?!\w)",
    re.IGNORECASE,
)
"""Devices in a heading or a caption: `Results on 4 GPUs`."""
_PRODUCT = re.compile(r"(\d{1,4}) ?[x*] ?(\d{1,3})")
_OF_A_NODE = range(2, 17)
"""Devices that nodes usually have."""
_BATCH = re.compile(r"\b(?:batch(?:[ _-]?size)?|bs) ?[=:]? ?\d[\d,]*k?\b")
"""A batch, which may grow with the devices."""
_NUMBER_OF_TABLE = re.compile(r"\s*(?:table|tab\.|figure|fig\.) ?[\d.]+\W*", re.IGNORECASE)


@dataclass(frozen=True)
class _Part:
    """A table with one number of devices."""

    table: RawTable
    gpus: int
    names: tuple[str, ...]
    """What its rows are of."""
    words: str = ""
    """What else is said where its devices are named, if that is above it: `training on a100`."""
    noun: str = ""
    """Header of the devices, if no column of the table has them."""

    @property
    def measured(self) -> set[str]:
        """The headers of its measurements."""
        named = {normal(name) for name in self.table.header if meaning_of(name).role in MEASURED}
        return named or {normal(name) for name in self.table.header if is_utilization(name)}

    def continues(self, other: _Part) -> bool:
        """Whether this table has the rows of another one on another number of devices."""
        near = self.table.headings[:-1] == other.table.headings[:-1] and self.words == other.words
        alike = self.names == other.names and bool(self.noun) == bool(other.noun)
        return near and alike and self.gpus != other.gpus and bool(self.measured & other.measured)


@dataclass(frozen=True)
class _Named:
    """What the headings and captions of several tables say of devices."""

    pairs: Collection[tuple[int, int]]
    """Nodes and devices of those that name both."""
    products: Collection[str]
    """Those that are nodes times the devices of each, and no more: 2x8."""


def _products(said: Iterable[str]) -> frozenset[str]:
    """Texts that are products, of other nodes with as many devices each: 2x8 and 4x8."""
    found = {words: one for words in said if (one := _PRODUCT.fullmatch(plain(words)))}
    each = {one[2] for one in found.values()}
    alike = len(each) == 1 and len({one[1] for one in found.values()}) > 1 and int(each.pop()) in _OF_A_NODE
    return frozenset(found) if alike else frozenset()


def continued(tables: Sequence[RawTable]) -> list[RawTable]:
    """Return tables in which one with a single number of devices is joined with those that continue it.

    Several that continue it on the same number of devices, such as those of two settings, are joined with it one
    by one. Tables in descending order are joined in ascending one.
    """
    result: list[RawTable] = []
    said = {words for table in tables for _, words in _said_of(table)}
    named = _Named(pairs_in(said), _products(said))
    parts = {id(table): part for table in tables if (part := _part(table, named))}
    used: set[int] = set()
    for at, table in enumerate(tables):
        if id(table) in used:
            continue
        first = parts.get(id(table))
        behind = [other for other in tables[at + 1 :] if id(other) in parts] if first else []
        behind = [other for other in behind if first and parts[id(other)].continues(first)]
        further = [parts[id(other)] for other in behind]
        apart = len({part.gpus for part in further}) < len(further)
        if first and (apart or any(part.gpus > first.gpus for part in further)):
            further = [part for part in further if part.gpus > first.gpus]
        used |= {id(part.table) for part in further}
        groups = [[part] for part in further] if apart else [further] if further else []
        result += [_joined(sorted([first, *group], key=lambda part: part.gpus)) for group in groups if first] or [
            table
        ]
    return result


def note_on_joined(table: RawTable) -> list[str]:
    """Return that a table also has the rows of others, if it has."""
    others = [line for line, _ in table.rows if line < table.line]
    if not others:
        return []
    lines = f"line {others[0]} is" if len(others) == 1 else f"lines {others[0]} to {others[-1]} are"
    return [f"{lines} of tables with other numbers of devices, which this one continues"]


def _said_of(table: RawTable) -> list[tuple[str, str]]:
    """Where the devices of a table without a column of them may be named, each with its kind."""
    return [("", table.caption), ("", table.below), *(("heading", words) for words in table.headings[-1:])]


def _part(table: RawTable, named: _Named) -> _Part | None:
    """The number of devices of a table with one, and the names of its rows; None if it has none or several.

    named: what the headings of all tables say.
    """
    devices = [place for place, name in enumerate(table.header) if meaning_of(name).role in ("gpus", "nodes")]
    if not devices:
        return _below_devices(table, named)
    if len(devices) != 1 or len(table.rows) < _FEWEST:
        return None
    counts = [count_or_none(cell) for cell in table.cells(devices[0])]
    sizes = {count.gpus if count else 0 for count in counts}
    kinds = tuple(count.hardware for count in counts if count)
    words = [place for place in range(len(table.header)) if not share(table.cells(place), read_cell)]
    if len(sizes) != 1 or sizes == {0} or not words:
        return None
    if any(kinds) and len(kinds) == len(table.rows) and words[0] == devices[0]:  # a row for each kind of device
        setups = [[plain(cell) for at, cell in enumerate(row[: words[0]])] for _, row in table.rows]
        names = tuple(" ".join((kind, *setup)) for kind, setup in zip(kinds, setups, strict=True))
        names = names if len(set(names)) == len(names) else ()
    else:
        names = _names(table, words[0])
    return _Part(table, sizes.pop(), names) if names else None


def _below_devices(table: RawTable, named: _Named) -> _Part | None:
    """A table without devices below a heading, or with a caption, that names them."""
    for kind, words in _said_of(table):
        words = f"{words} GPUs" if words in named.products else words
        text = in_digits(spelled(plain(_NUMBER_OF_TABLE.sub("", words))))
        found = _NAMED.search(text) or COMMAND.search(words) or phrase_in(text)
        count = count_or_none(_NUMBER_OF_TABLE.sub("", words)) if found else None
        others = [pair for pair in named.pairs if count and pair != (count.nodes, count.gpus)]
        if count is None or (count.either and not others):
            continue
        count = each_node(count, named.pairs)
        other = _BATCH.sub("batch", f"{kind} {count.words} {count.hardware}".lower())
        of_results = all(meaning_of(name).role in (*MEASURED, *STATED) for name in table.header[:1])
        alone = len(table.rows) == 1 and of_results
        names = ("",) if alone else () if of_results else _names(table, 0)
        return _Part(table, count.gpus, names, other, _noun(words)) if names else None
    return None


def _noun(words: str) -> str:
    """The header of the devices that a heading names: threads of `4 worker threads`."""
    noun = counted_across([in_digits(spelled(words))])
    return noun if noun != "gpus" or re.search("gpu", words, re.IGNORECASE) else "devices"


def _names(table: RawTable, place: int) -> tuple[str, ...]:
    """The names of the rows in a column; none if a row has none or two have the same."""
    names = tuple(plain(row[place]) if place < len(row) else "" for _, row in table.rows)
    return names if all(names) and len(set(names)) == len(names) else ()


def _joined(parts: Sequence[_Part]) -> RawTable:
    """One table that has the rows of all, below the headers of the last; with devices that no column has."""
    last = parts[-1].table
    noun = parts[-1].noun
    rows = []
    for part in parts:
        place = {normal(name): at for at, name in enumerate(part.table.header)}
        for line, cells in part.table.rows:
            kept = [place.get(normal(name), len(cells)) for name in last.header]
            devices = (str(part.gpus),) if noun else ()
            rows.append((line, (*(cells[at] if at < len(cells) else "" for at in kept), *devices)))
    whole = replace(last, header=(*last.header, *filter(None, (noun,))), rows=tuple(rows))
    if parts[0].table.line > last.line:
        whole = whole.noted("further tables below, with fewer devices, are joined with this one")
    return whole.noted("the devices of these tables are named above or below them" if noun else "")
