"""Reads records of JSON as tables: lists of objects, an object per line, and lists of equal length by name."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from scalestudy.importers.headers.meaning import meaning_of
from scalestudy.importers.markup.maps import map_tables
from scalestudy.importers.raw import RawTable

MOST_LISTS = 50
MOST_RECORDS = 20_000
_DEEPEST = 4  # objects inside each other in which setups are looked for
LONGEST = 2 * 2**20
"""Characters of a text whose records are read."""
_LIST = re.compile(r"\[\s*(?=\{)")
_OBJECT = re.compile(r"^\s*\{", re.MULTILINE)
_BETWEEN = re.compile(r"[\s,]*")
_OF_PYTHON = re.compile(r"\{\s*(?:'|\d+\s*:)")
_BRACES = re.compile(r"[{}]|'(?:[^'\\\n]|\\.)*'")
_LONGEST_OF_PYTHON = 2**16
"""Characters of a dictionary of Python. It is read as literals, so no code is run."""
_DECODER = json.JSONDecoder()
_Object = tuple[int, dict[str, Any]]
"""An object of JSON with its line."""


def record_tables(text: str) -> Iterator[RawTable]:
    """Yield the tables of a text that has JSON."""
    if "{" not in text or len(text) > LONGEST:
        return
    top = _objects(text, _start(text))[0]
    maps = [table for line, value in top for table in map_tables(line, value)]
    tables = [*_of_arrays(text)] or [table for table in (_of_records(top),) if table] or [*_of_lists(top)]
    if maps:
        yield from [*maps, *filter(_names_devices, tables)]
    else:
        unsaid = (table for line, value in top for table in map_tables(line, value, unsaid=True))
        yield from tables or [*_of_keys(top)] or unsaid


def _names_devices(table: RawTable) -> bool:
    return any(meaning_of(name).role in ("gpus", "nodes") for name in table.header)


def _of_arrays(text: str) -> Iterator[RawTable]:
    """Arrays of objects, wherever they are in a text."""
    at = 0
    for _ in range(MOST_LISTS):
        begin = _LIST.search(text, at)
        if begin is None:
            return
        records, at = _objects(text, begin.end())
        if table := _of_records(records):
            yield table


def _start(text: str) -> int:
    found = _OBJECT.search(text)
    return found.start() if found else len(text)


def _objects(text: str, at: int) -> tuple[list[_Object], int]:
    """The objects of JSON that follow each other from a place, each with its line, and the place behind them."""
    found: list[_Object] = []
    line, counted = 1, 0
    while len(found) < MOST_RECORDS:
        skip = _BETWEEN.match(text, at)
        begin = skip.end() if skip else at
        try:
            value, end = _decoded(text, begin)
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            return found, max(at, begin)
        if not isinstance(value, dict):
            return found, end
        line, counted = line + text.count("\n", counted, begin), begin
        found.append((line, value))
        at = end
    return found, at


def _decoded(text: str, begin: int) -> tuple[Any, int]:
    """The value of JSON, or the dictionary that Python prints, at a place, and the place behind it."""
    try:
        return _DECODER.raw_decode(text, begin)
    except ValueError:
        if not _OF_PYTHON.match(text, begin):
            raise
    depth = 0
    for sign in _BRACES.finditer(text, begin, begin + _LONGEST_OF_PYTHON):
        depth += {"{": 1, "}": -1}.get(sign[0], 0)  # a string may have braces too
        if depth == 0:
            return ast.literal_eval(text[begin : sign.end()]), sign.end()
    raise ValueError("the braces are not closed")


def _of_records(records: Sequence[_Object]) -> RawTable | None:
    """A table with a row per record; values of an inner object have columns of their own."""
    if len(records) < 2:
        return None
    rows = [(line, _flat(record)) for line, record in records]
    names = list(dict.fromkeys(name for _, row in rows for name in row))
    if len(names) < 2:
        return None
    body = tuple((line, tuple(row.get(name, "") for name in names)) for line, row in rows)
    return RawTable(rows[0][0], tuple(names), body)


def _flat(record: Mapping[str, Any]) -> dict[str, str]:
    found: dict[str, str] = {}
    for name, value in record.items():
        if isinstance(value, dict):
            for inner, text in _flat(value).items():
                found[inner if inner not in found and inner not in record else f"{name} {inner}"] = text
        elif not isinstance(value, list):
            found[name] = _text(value)
    return found


def _of_lists(objects: Sequence[_Object]) -> Iterator[RawTable]:
    """Objects of JSON whose values are lists of equal length, as data frames are written."""
    for line, value in objects:
        for inner in (value, *(one for one in value.values() if isinstance(one, dict))):
            lists = {name: one for name, one in inner.items() if isinstance(one, list) and len(one) > 1}
            lengths = {len(one) for one in lists.values()}
            if len(lists) > 1 and len(lengths) == 1:
                rows = zip(*lists.values(), strict=True)
                body = tuple((line, tuple(map(_text, row))) for row in rows)
                yield RawTable(line, tuple(lists), body)


def _of_keys(objects: Sequence[_Object]) -> Iterator[RawTable]:
    """Objects of JSON with an inner object for each setup: {"gpus": {"1": {"time_s": 4}, "2": {"time_s": 2}}}."""
    for line, value in objects:
        for name, inner in _named_objects("setup", value):
            records = [one for one in inner.values() if isinstance(one, dict)]
            if len(records) > 1 and len(records) == len(inner) and any(re.search(r"\d", key) for key in inner):
                rows = [{name: key} | _flat(one) for key, one in inner.items()]
                names = list(dict.fromkeys(key for row in rows for key in row))
                body = tuple((line, tuple(row.get(key, "") for key in names)) for row in rows)
                yield RawTable(line, tuple(names), body)


def _named_objects(name: str, value: Mapping[str, Any], depth: int = 0) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """An object with its name, and those inside."""
    yield name, value
    for key, inner in value.items():
        if isinstance(inner, dict) and depth < _DEEPEST:
            yield from _named_objects(key, inner, depth + 1)


def _text(value: object) -> str:
    return "" if value is None else value if isinstance(value, str) else json.dumps(value)
