"""Finds measurements that a text lists without a table: a line per number of devices, with names or a label."""

from __future__ import annotations

import re
from collections.abc import Sequence

from scalestudy.importers.counts.cells import read_count
from scalestudy.importers.counts.phrases import phrase_in
from scalestudy.importers.headers.meaning import meaning_of
from scalestudy.importers.headers.terms import DEVICE, NODE
from scalestudy.importers.markup.blocks import rows_of_blocks
from scalestudy.importers.markup.left_out import WITH_UNIT, with_lines_left_out
from scalestudy.importers.markup.naming import LONGEST, SETUP, VALUE, is_count, names_devices, noun_of
from scalestudy.importers.markup.phrased import SEVERAL, note_on_numbers, phrased_tables, starts_again
from scalestudy.importers.numbers.durations import read_duration
from scalestudy.importers.numbers.printed import plain, read_cell
from scalestudy.importers.numbers.ratios_behind import with_ratios_in_one_spelling
from scalestudy.importers.published import MEASURED, STATED
from scalestudy.importers.quantities import in_one_spelling, known_role, name_of
from scalestudy.importers.raw import RawTable

_PAIR = re.compile(
    r"(?P<name>[A-Za-z#][\w #/()%-]{0,40}?)\s*(?:=|:)\s*(?P<value>(?:[^,;|=:]|(?<=\d),(?=\d))+?)"
    r"(?=\s*(?:(?<!\d),|,(?!\d)|[;|]|$|\s[A-Za-z_][\w/%.-]*\s?[=:]))"
)
_NAMED_CELL = re.compile(rf"(?P<name>[A-Za-z][\w /()-]{{0,40}}?)\s*[=:]?\s*{VALUE}", re.IGNORECASE)
_IN_FRONT = re.compile(r"^\s*\[([^\[\]:=]{1,30})\]\s*(?=\S)")
ITEM = re.compile(
    r"\s*+(?:[-*+\u2022]|\d{1,2}[.)])?\s*+(?P<devices>[\w-][\w -]{0,19}= ?\d{1,6}(?= ?:)|[^:=\s][^:=]{0,59}?)\s*"
    r"(?:(?<!\d):|:(?!\d\d(?!\d))|=+>|-+>|\u2192|=|\u2014|\u2013| - |\.{3})\s*(?P<rest>\S.*)"
)
_NOUN_FIRST = re.compile(
    rf"^(\W*)({DEVICE}|{NODE}): (\d{{1,6}})(?=\s*(?:->|=>|\u2192|\u2013|\u2014| - ))", re.IGNORECASE
)
"""Devices behind their noun: `GPUs: 8 -> 600 img/s`."""
_BULLET = re.compile(r"\s*+(?:[-*+\u2022]|\d{1,2}[.)])?\s*+")
_WITHIN = re.compile(r"\s*(?:=|:|--?|\u2013|\u2014)\s+|\s+(?:=|:|--?|\u2013|\u2014)\s*|=")
"""A sign between parts of the devices of an item, which could also separate them from their measurement."""
_WITH_COMMA = re.compile(
    r"\s*+(?:[-*+\u2022]|\d{1,2}[.)])?\s*+(?P<devices>[^:=,\s][^:=,]{0,39}?),\s+(?P<rest>~?\d.*)"
)
"""An item whose devices are followed by a comma: `2x A100, 240 s/epoch`."""
_NAMED_PART = re.compile(
    r"(?P<name>[A-Za-z][A-Za-z -]{1,20}?) (?P<value>~?\d[\d.,]*)(?: ?(?P<unit>[A-Za-z\u00b5][\w/]*))?"
)
_PART = re.compile(r"(?:(?<!\d),|,(?!\d)|[;()|])\s*|\s+(?=~?\d[\d.]*\s*[x%\u00d7](?:\W|$))")
"""What separates the measurements of an item. A comma between digits is part of a number."""
_FIRST = re.compile(r"(?P<first>~?\d\S*(?: [A-Za-z%/]\S*)?)\s")
"""A number with its unit in front of other words."""
_LOWER_END = re.compile(r"^~?\d[\d.,]*[kM]? ?(?:-|\u2013|to|~) ?(?=~?\d)")
"""The lower end of a range, whose upper end has the unit."""
_OF_EACH = re.compile(r"^[^=]*\b(?:each|per)\b[^=]*=\s*(?=~?\d)")
"""A rate of each machine in front of that of all: `120 img/s on each machine = 240 img/s`."""
_OTHER_SHARE = re.compile(
    r"(?<!\w)(?:(?!effic|eff\b|scal|linear|ideal|speed)[A-Za-z][\w-]* ?){1,6}\s*[=:]\s*(?:[\d.]+ ?- ?)?[\d.]+ ?%",
    re.IGNORECASE,
)
"""A share with another name than an efficiency: `testing error = 2.5 %`."""
_SHARE_OF_RESULTS = re.compile(
    r"~?[\d.]+ ?% ?\(?(?:top[- ]?[15]|(?:[a-z]+ )?acc(?:uracy)?\b|miou|map\b|(?:gpu |memory )?util)[^,;]*",
    re.IGNORECASE,
)
"""A share with the name of a result behind it: `75.4% (top-1 accuracy)`."""
_LONG_TIME = re.compile(r"\d+ ?h[a-z]* ?(?:and )?\d+ ?m[a-z]*(?: ?(?:and )?\d+ ?s[a-z]*)?", re.IGNORECASE)
SIGN = re.compile(r"^\s*(?:#+|//+|>)\s*(?=[-*+\u2022\d])")
"""The sign of a comment in front of an item."""
FEWEST = 2
"""Names that rows of one list have in common, the devices among them; rows from which this is asked for."""
GAP = 3
"""Lines between two items of one list, at most."""
_LONGEST_BLOCK = 25
"""Lines of a block with a measurement per line, at most."""


def listed_tables(lines: Sequence[str]) -> list[RawTable]:
    """Return the measurements of a text: `gpus=4 throughput=900`, or `- 4 GPUs: 900 img/s (3.6x)`."""
    found = _tables(_of_pairs(lines), lines) or _tables(_of_items(lines), lines)
    equal = phrased_tables(lines)
    if _measured_rows(equal) > _measured_rows(found):
        found = equal
    return with_lines_left_out(found, lines) or _tables(rows_of_blocks(lines), [], gap=_LONGEST_BLOCK)


def _measured_rows(tables: Sequence[RawTable]) -> int:
    """The rows that have a number of devices and a measurement."""
    count = 0
    for table in tables:
        roles = [meaning_of(name).role for name in table.header]
        for _, row in table.rows:
            devices = any(
                cell and (name == SETUP or (role in ("gpus", "nodes") and _counts(cell)))
                for name, role, cell in zip(table.header, roles, row, strict=True)
            )
            measured = any(
                role in MEASURED and (_is_value(_LOWER_END.sub("", cell)) or read_duration(cell))
                for role, cell in zip(roles, row, strict=True)
            )
            count += devices and measured
    return count


def _counts(text: str) -> bool:
    try:
        read_count(text)
    except ValueError:
        return False
    return True


def _is_value(text: str) -> bool:
    try:
        read_cell(text)
    except ValueError:
        return False
    return True


def _tables(rows: list[tuple[int, dict[str, str]]], lines: Sequence[str], gap: int = GAP) -> list[RawTable]:
    """Tables of consecutive lines that have the same names."""
    groups: list[list[tuple[int, dict[str, str]]]] = []
    names_of_units: dict[tuple[str, str, str], str] = {}
    for line, own in rows:
        row = {in_one_spelling(name, names_of_units): text for name, text in own.items()}
        last = groups[-1][-1] if groups else None
        above = last[0] if last else 0
        same = last is not None and line - above <= gap and next(iter(last[1])) == next(iter(row))
        if same and len(groups[-1]) >= FEWEST and len(set(row) & set(groups[-1][-1][1])) < FEWEST:
            same = False  # another list: of times below one of speedups
        if same and starts_again([own for _, own in groups[-1]], row, lines[above : line - 1]):
            same = False
        if same:
            groups[-1].append((line, row))
        else:
            groups.append([(line, row)])
    found = []
    for group in groups:
        names = list(dict.fromkeys(name for _, row in group for name in row if name != SEVERAL))
        roles = {known_role(name) for name in names}
        devices = {
            row.get(name)
            for _, row in group
            for name in names
            if name == SETUP or meaning_of(name).role in ("gpus", "nodes")
        }
        if len(devices) > 1 and roles & {*MEASURED, *STATED}:
            body = tuple((line, tuple(row.get(name, "") for name in names)) for line, row in group)
            note = note_on_numbers([row for _, row in group])
            found.append(RawTable(group[0][0], tuple(names), body, note=note))
    return found


def _of_pairs(lines: Sequence[str]) -> list[tuple[int, dict[str, str]]]:
    """Lines of names with values, one of them of devices."""
    rows = []
    for number, line in enumerate(lines, start=1):
        if len(line) > LONGEST:
            continue
        pairs = _named_cells(line)
        found = _PAIR.finditer(plain(line)) if not pairs else ()
        pairs = pairs or {one["name"].strip(): one["value"].strip() for one in found}
        if len(pairs) > 1 and any(meaning_of(name).role in ("gpus", "nodes") for name in pairs):
            rows.append((number, pairs))
    return rows


def _named_cells(line: str) -> dict[str, str]:
    """The cells of a line that each have a name and a number: `Processes 2 | Threads 40 | time = 12.1 seconds`."""
    cells = [_NAMED_CELL.fullmatch(plain(cell)) for cell in line.strip().strip("|").split("|")]
    return {cell["name"].strip(): cell["value"] for cell in cells if cell} if len(cells) > 1 and all(cells) else {}


def _of_items(lines: Sequence[str]) -> list[tuple[int, dict[str, str]]]:
    """Lines that name devices and then a measurement with its unit, and perhaps a ratio in brackets."""
    rows = []
    for number, line in enumerate(lines, start=1):
        text = _IN_FRONT.sub(r"\1: ", as_item(line)) if len(line) <= LONGEST else ""
        item = ITEM.fullmatch(text)
        comma = _WITH_COMMA.fullmatch(text) if item is None else None
        item = comma if comma and is_count(comma["devices"]) else item
        if item is None or item["devices"].strip().isdecimal() or not names_devices(item["devices"]):
            continue
        if item["devices"].count("(") != item["devices"].count(")"):
            continue  # the sign stands within a remark
        row = {SETUP: item["devices"].strip(), **_quantities(_OF_EACH.sub("", item["rest"]))}
        if len(row) > 1:
            rows.append((number, row))
    return with_counts(rows)


def as_item(line: str) -> str:
    """Return a line without markup, whose devices have no sign that may separate them from their measurement.

    `8 = 2x4: 549` becomes `8 (2x4): 549`, and `GPUs: 8 -> 600` becomes `8 GPUs -> 600`.
    """
    text = _NOUN_FIRST.sub(r"\1\3 \2", SIGN.sub("", plain(line)))
    bullet = _BULLET.match(text)
    start = bullet.end() if bullet else 0
    phrase = phrase_in(text[start:].partition(": ")[0]) or phrase_in(text[start:])
    sign = _WITHIN.search(text[start : start + phrase.end]) if phrase and phrase.start == 0 else None
    if phrase is None or sign is None:
        return text
    at, end = start + phrase.end, start + sign.end()
    return f"{text[: start + sign.start()]} ({text[end:at]}){text[at:]}"


def with_counts(rows: list[tuple[int, dict[str, str]]]) -> list[tuple[int, dict[str, str]]]:
    """The rows with a column of devices instead of labels, if all labels are no more than that."""
    if not all(is_count(row[SETUP]) for _, row in rows):
        return rows
    own = noun_of([row[SETUP] for _, row in rows])
    return [(line, {own if name == SETUP else name: text for name, text in row.items()}) for line, row in rows]


def _quantities(text: str) -> dict[str, str]:
    """The measurements of an item by their units: 900 img/s (3.6x)."""
    text = with_ratios_in_one_spelling(_SHARE_OF_RESULTS.sub("", _OTHER_SHARE.sub("", text)), in_brackets=True)
    found: dict[str, str] = _named_quantities(text)
    for part in _PART.split(text) if not found else ():
        first = _FIRST.match(part or "") if part and not read_duration(part) else None
        within = [*_LONG_TIME.findall(part or ""), *WITH_UNIT.findall(_LONG_TIME.sub("", part or ""))]
        for one in (first["first"] if first else "", part, *within):
            if one and (words := name_of(_LOWER_END.sub("", one))) and not re.search(r"\d", words):
                others = [value for value in within if name_of(value) == words]
                if found.setdefault(words, one) != one or len(set(others)) > 1:
                    found[SEVERAL] = "yes"
                break
    return found


def _named_quantities(text: str) -> dict[str, str]:
    """The measurements of an item that have names, and one unit at their end: forward 70.8, backward 80.4 ms."""
    parts = [_NAMED_PART.fullmatch(part.strip()) for part in _PART.split(text) if part and part.strip()]
    unit = parts[-1]["unit"] if parts and parts[-1] else None
    if len(parts) < FEWEST or unit is None or not all(parts):
        return {}
    named = {part["name"]: part for part in parts if part}
    if len(named) < len(parts) or any(part["unit"] not in (None, unit) for part in named.values()):
        return {}
    return {f"{name} ({unit})": f"{part['value']} {unit}" for name, part in named.items()}
