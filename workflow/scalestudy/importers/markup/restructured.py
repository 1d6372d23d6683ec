"""Finds tables of reStructuredText: simple tables, list-table and csv-table. Grids are found with Markdown."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator

from scalestudy.importers.raw import RawTable

_DIRECTIVE = re.compile(r"(?P<indent>\s*)\.\. (?P<kind>list|csv)-table::\s*(?P<title>.*)")
_SIMPLE = re.compile(r"\s*={2,}(?:\s+={2,})+\s*")
_ITEM = re.compile(r"\s*(?P<row>\*\s+)?-\s?(?P<text>.*)")


def restructured_tables(lines: list[str]) -> Iterator[RawTable]:
    """Yield the tables of a text of reStructuredText."""
    number = 0
    while number < len(lines):
        found = _DIRECTIVE.fullmatch(lines[number][:500])
        if found:
            end = _end_of(lines, number + 1, len(found["indent"]))
            read = _listed if found["kind"] == "list" else _comma_separated
            yield from read(lines, number + 1, end, found["title"].strip())
            number = end
        elif _SIMPLE.fullmatch(lines[number]):
            end, table = _simple(lines, number)
            if table is not None:
                yield table
            number = end
        else:
            number += 1


def _end_of(lines: list[str], start: int, indent: int) -> int:
    """The line behind a directive: the first that is not indented more than it."""
    end = start
    while end < len(lines) and (not lines[end].strip() or len(lines[end]) - len(lines[end].lstrip()) > indent):
        end += 1
    return end


def _listed(lines: list[str], start: int, end: int, title: str) -> Iterator[RawTable]:
    rows: list[tuple[int, list[str]]] = []
    for number in range(start, end):
        line = lines[number]
        item = _ITEM.fullmatch(line)
        if item and (item["row"] or rows):
            if item["row"]:
                rows.append((number + 1, []))
            rows[-1][1].append(item["text"].strip())
        elif line.strip() and rows and not re.match(r"\s*:[\w-]+:", line):
            rows[-1][1][-1] = f"{rows[-1][1][-1]} {line.strip()}".strip()
    if rows:
        yield _made([(number, tuple(map(_text, cells))) for number, cells in rows], title)


def _comma_separated(lines: list[str], start: int, end: int, title: str) -> Iterator[RawTable]:
    rows: list[tuple[int, tuple[str, ...]]] = []
    delimiter = ","
    for number in range(start, end):
        option = re.fullmatch(r"\s*:(?P<name>[\w-]+):\s*(?P<value>.*)", lines[number])
        if option and option["name"] == "delim":
            named = {"tab": "\t", "space": " "}.get(option["value"].strip(), option["value"].strip())
            delimiter = named if len(named) == 1 else ","
        elif option and option["name"] == "header":
            rows.append((number + 1, _fields(option["value"], delimiter)))
        elif lines[number].strip() and not option:
            rows.append((number + 1, _fields(lines[number], delimiter)))
    if rows:
        yield _made(rows, title)


def _fields(line: str, delimiter: str) -> tuple[str, ...]:
    read = next(csv.reader([line.strip()], delimiter=delimiter, skipinitialspace=True), [])
    return tuple(_text(cell.strip()) for cell in read)


def _simple(lines: list[str], start: int) -> tuple[int, RawTable | None]:
    """The table between rules of equals signs, and the line after it."""
    spans = [found.span() for found in re.finditer(r"=+", lines[start])]
    rules = [start]
    end = start + 1
    while end < len(lines) and len(rules) < 3:
        if _SIMPLE.fullmatch(lines[end]):
            rules.append(end)
        elif not lines[end].strip() and len(rules) > 1:
            break
        end += 1
    if len(rules) < 2 or rules[1] == start + 1:
        return start + 1, None
    header = _joined([_sliced(line, spans) for line in lines[start + 1 : rules[1]]])
    rows: list[tuple[int, tuple[str, ...]]] = [(start + 2, header)]
    for number in range(rules[1] + 1, rules[2] if len(rules) > 2 else end):
        if not lines[number].strip() or not lines[number].strip(" -="):
            continue
        cells = _sliced(lines[number], spans)
        if not cells[0] and not re.search(r"\d", "".join(cells)) and len(rows) > 1:
            rows[-1] = (rows[-1][0], _joined([rows[-1][1], cells]))
        else:
            rows.append((number + 1, cells))
    return (rules[2] + 1 if len(rules) > 2 else end), _made(rows, "")


def _sliced(line: str, spans: list[tuple[int, int]]) -> tuple[str, ...]:
    starts = [start for start, _ in spans]
    ends = [*starts[1:], max(len(line), spans[-1][1])]
    return tuple(_text(line[start:end].strip()) for start, end in zip(starts, ends, strict=True))


def _joined(rows: list[tuple[str, ...]]) -> tuple[str, ...]:
    return tuple(" ".join(filter(None, cells)) for cells in zip(*rows, strict=True))


def _text(cell: str) -> str:
    """A cell without roles, literals and the backslash of an empty one."""
    return re.sub(r":[\w-]+:`([^`]*)`|``([^`]*)``|\\(?=\s|$)", r"\1\2", cell).strip()


def _made(rows: list[tuple[int, tuple[str, ...]]], title: str) -> RawTable:
    width = len(rows[0][1])
    body = tuple((number, (*cells, *[""] * (width - len(cells)))[: max(width, 1)]) for number, cells in rows[1:])
    return RawTable(rows[0][0], rows[0][1], body, caption=title)
