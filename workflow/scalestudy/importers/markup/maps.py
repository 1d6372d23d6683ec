"""Reads maps of JSON whose keys are numbers of devices: {"time_by_gpus": {"1": 96, "2": 51}}.

Keys are devices if the name of the map, a name around it or a text beside it says so: "keys are numbers of GPUs".
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from scalestudy.importers.devices.across import counted_across
from scalestudy.importers.headers.meaning import meaning_of, normal
from scalestudy.importers.headers.terms import DEVICE, NEVER, NODE
from scalestudy.importers.markup.naming import is_count, noun_of
from scalestudy.importers.published import MEASURED, STATED
from scalestudy.importers.quantities import known_role, quantity_of
from scalestudy.importers.raw import UNSAID, RawTable

_DEEPEST = 8
"""Objects and lists inside each other in which maps are looked for."""
_MOST = 1000
"""Maps of one object that are read."""
_LONGEST = 300
"""Characters of a text that may say what keys are."""
_FEW = 2
"""Keys of a map."""
_KEY = "key"
"""Header of keys that nothing says what they are."""
_SIZE = re.compile(r"[1-9]\d{0,6}")
_NOUN = rf"(?P<noun>{DEVICE}|{NODE})"
_NUMBER_OF = r"(?:(?:the|num|number|no|count|total|#)s?\.? ?(?:of )?){0,3}"
_BY = re.compile(rf"(?:\b(?:by|vs|over|for each) |^){_NUMBER_OF}{_NOUN}(?: counts?)?$")
"""What the name of a map says of its keys: throughput_by_gpus, num_gpus. A rate per GPU has other keys."""
_SAID = re.compile(
    rf"\b(?:keys? ?(?:are|is|=|:|means?)?|keyed by|indexed by) {_NUMBER_OF}{_NOUN}\b", re.IGNORECASE
)
_OF_KEYS = ("key", "keys", "x", "xlabel", "x label", "x axis", "index")
_OF_UNITS = ("unit", "units", "metric", "measure", "quantity", "y", "ylabel", "y label", "y axis", "values")
"""Names of texts that say what the keys and the numbers of all maps around are."""
_LABELS = ("label", "case", "strategy", "model", "hardware", "framework", "precision")


@dataclass(frozen=True)
class _Map:
    """Numbers by keys, and what names and texts around them say."""

    numbers: Mapping[Any, Any]
    noun: str
    """What the keys are numbers of."""
    quantity: str
    names: tuple[str, ...]
    """Names around it that say neither, outermost first."""
    labels: Mapping[str, str]
    """Names and texts of labels beside it."""


@dataclass(frozen=True)
class _Around:
    """What names and texts around an object say. The nearest count."""

    noun: str = ""
    quantity: str = ""
    unit: str = ""
    """What a text says of the numbers of all maps."""
    names: tuple[str, ...] = ()
    labels: tuple[tuple[str, str], ...] = ()


def map_tables(line: int, value: Mapping[Any, Any], *, unsaid: bool = False) -> Iterator[RawTable]:
    """Yield one table of the maps in an object of JSON whose keys are devices. line: that of the object.

    unsaid: also yield the maps of which nothing says what their keys are, so that an error names their column.
    """
    found = [one for one in islice(_maps(value, _Around(), 0), _MOST) if one.noun or unsaid]
    named = any(one.quantity for one in found)
    read = [bool(one.quantity or not named) and not _is_unread(one) for one in found]
    if not any(read):
        return
    table = _table(line, [one for one, is_read in zip(found, read, strict=True) if is_read])
    others = [one.names[-1] for one, is_read in zip(found, read, strict=True) if not is_read and one.names]
    yield table.noted(f"not read: {', '.join(dict.fromkeys(others))}") if others else table


def _is_unread(one: _Map) -> bool:
    """Whether a name around a map is that of something else than a measurement, such as a memory."""
    return any(NEVER.search(normal(name)) for name in one.names)


def _table(line: int, maps: Sequence[_Map]) -> RawTable:
    """A row for each key of maps with the same labels, and a column for each quantity."""
    differ = [at for at in range(_DEEPEST) if len({one.names[at : at + 1] for one in maps}) > 1]
    labels = {name for one in maps for name in one.labels}
    of_names = next(name for name in ("name", "setup", "") if name not in labels)
    rows: dict[tuple[Any, ...], dict[str, str]] = {}
    for one in maps:
        named = {of_names: " ".join(name for at in differ for name in one.names[at : at + 1])} if differ else {}
        for key, number in one.numbers.items():
            own = {**named, **one.labels, one.noun or _KEY: str(key)}
            rows.setdefault(tuple(own.items()), own)[one.quantity or UNSAID] = _text(number)
    measured = list(dict.fromkeys(one.quantity or UNSAID for one in maps))
    header = (*dict.fromkeys(name for row in rows.values() for name in row if name not in measured), *measured)
    body = tuple((line, tuple(row.get(name, "") for name in header)) for row in rows.values())
    return RawTable(line, header, body)


def _maps(value: Any, around: _Around, depth: int) -> Iterator[_Map]:
    """The maps in an object or a list of objects."""
    if depth > _DEEPEST:
        return
    if isinstance(value, list):
        for item in value:
            yield from _maps(item, around, depth + 1)
    elif isinstance(value, dict) and _is_map(value):
        keys = [str(key) for key in value]
        noun = around.noun if all(map(_SIZE.fullmatch, keys)) else noun_of(keys)
        yield _Map(value, noun, _quantity(around), around.names, dict(around.labels))
    elif isinstance(value, dict):
        texts = {normal(str(name)): text[:_LONGEST] for name, text in value.items() if isinstance(text, str)}
        around = _with_texts(around, texts)
        for name, inner in value.items():
            yield from _maps(inner, _with_name(around, str(name)), depth + 1)


def _is_map(value: Mapping[Any, Any]) -> bool:
    """Whether keys are numbers, perhaps with a word for devices, and several values are numbers."""
    if not all(_SIZE.fullmatch(str(key)) or is_count(normal(str(key))) for key in value):
        return False
    plain = all(cell is None or isinstance(cell, (int, float, str)) for cell in value.values())
    return plain and sum(map(_is_number, value.values())) >= _FEW


def _is_number(cell: Any) -> bool:
    if isinstance(cell, str):
        return bool(quantity_of(cell))
    return isinstance(cell, (int, float)) and not isinstance(cell, bool)


def _with_texts(around: _Around, texts: Mapping[str, str]) -> _Around:
    """What is said, with what the texts of an object say of its maps."""
    for name, text in texts.items():
        if found := _SAID.search(normal(text)) or _SAID.search(f"{name} {normal(text)}"):
            around = replace(around, noun=counted_across([found["noun"]]))
        elif name in _OF_KEYS and meaning_of(text).role in ("gpus", "nodes"):
            around = replace(around, noun=counted_across([text]))
        elif name in _OF_UNITS and (quantity_of(f"1 {text}") or _is_quantity(text)):
            around = replace(around, unit=text)
    own = {name: text for name, text in texts.items() if meaning_of(name).role in _LABELS}
    return replace(around, labels=tuple((dict(around.labels) | own).items()))


def _with_name(around: _Around, name: str) -> _Around:
    """What is said, with the name of an inner object."""
    words = normal(name)
    if found := _BY.search(words):
        around = replace(around, noun=counted_across([found["noun"]]))
        words = name = words[: found.start()].strip()
    if _is_quantity(words):
        return replace(around, quantity=name)
    return replace(around, names=(*around.names, name)) if words else around


def _quantity(around: _Around) -> str:
    """The header of numbers: their name, the unit that a text says, or both if they agree."""
    unit = quantity_of(f"1 {around.unit}") or around.unit
    if not around.quantity or not unit:
        return around.quantity or unit
    agree = known_role(unit) == known_role(around.quantity) and not meaning_of(around.quantity).unit
    return f"{around.quantity} ({around.unit})" if agree else around.quantity


def _is_quantity(words: str) -> bool:
    return known_role(words) in (*MEASURED, *STATED)


def _text(cell: object) -> str:
    return "" if cell is None else cell if isinstance(cell, str) else json.dumps(cell)
