"""Finds devices that only a legend in the text around a table names: `A: 1 GPU, B: 4 GPUs`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from scalestudy.importers.counts.cells import Count
from scalestudy.importers.counts.labels import count_or_none
from scalestudy.importers.counts.numerals import WORDS
from scalestudy.importers.headers.meaning import meaning_of, normal
from scalestudy.importers.headers.terms import DEVICE, HARDWARE, NODE, PER_NODE
from scalestudy.importers.numbers.printed import SHOWN, is_blank, plain
from scalestudy.importers.raw import RawTable

_AROUND = 12
"""Lines above and below a table in which its legend is looked for."""
_LONGEST_NAME = 40
_LONGEST_LINE = 500
_FEW = 2
_FIRST = 3
"""Columns at the left that labels may be in."""
_EACH = re.compile(rf"{PER_NODE.pattern}|\beach\b", re.IGNORECASE)
_NODES = re.compile(rf"(?:\d|\b(?:{WORDS}|single)) ?-?{NODE}\b", re.IGNORECASE)
_OF_ALL = re.compile(
    rf"\b(?:all|every|each)\b.{{0,60}}?\b\d{{1,6}} ?x? ?-?(?:{DEVICE}|{NODE}|{HARDWARE})\b", re.IGNORECASE
)
"""One number of devices for the whole table: `all runs on 8 GPUs`."""
_SIGN = r"(?:\s*(?:[:=\u2013\u2014(]|->|\u2192|-\s|(?<=\))\s(?=\d)|\s(?P<verb>is|has|uses|means)\s)\s*)"
"""What is between a name and its devices: `A: 4 GPUs`, `A (4 GPUs)`, `A is 4 GPUs`, `(a) 4 GPUs`."""
_COUNT = re.compile(rf"\d{{1,6}} ?x? ?(?:{DEVICE}|{NODE}|{HARDWARE}s?)\b", re.IGNORECASE)
_OF_SETUPS = re.compile(
    r"(?:.* )?(?:config(?:uration)?|set-?up|system|cluster|machine|hardware|platform|env(?:ironment)?|case|"
    r"scenario|run|test|experiment|deployment)s?(?: ?(?:id|name))?"
)
"""Headers of labels that each name a setup as a whole. A model or a framework is more than its devices."""
_OF_MODES = re.compile(
    r"(?:training )?(?:mode|method|strategy|approach|variant|version|implementation|script|name|label|)s?"
)
"""Headers of labels that may name setups, if each line of a list defines one of them."""


def with_legend(table: RawTable, lines: Sequence[str]) -> RawTable:
    """Return a table with the devices of its legend instead of the labels, or with what the legend lacks.

    lines: of the file. The legend counts only if the table names no devices, and if it names those of all labels
    of a column, or of all headers but the first.
    """
    if any(meaning_of(name).role in ("gpus", "nodes") for name in table.header):
        return table
    near = list(_near(table, lines))
    if not near:
        return table
    across = tuple(map(plain, table.header[1:]))
    for place in (None, *range(min(_FIRST, len(table.header)))):
        names = across if place is None else tuple(dict.fromkeys(map(plain, table.cells(place))))
        header = None if place is None else normal(table.header[place])
        plainly = _are_codes(names) or (header is not None and _OF_SETUPS.fullmatch(header))
        in_list = header is None or _OF_MODES.fullmatch(header)
        if len(names) < _FEW or not all(map(_is_name, names)) or not (plainly or in_list):
            continue
        found = _defined(names, near, alone=not plainly)
        if not plainly and len(found) < len(names):
            continue
        if len({count.gpus * (count.nodes or 1) for _, _, count in found.values()}) < _FEW:
            continue
        said = ", ".join(f"{name} is {words}" for name, (_, words, _) in found.items())
        line = min(line for line, _, _ in found.values())
        if missing := [name for name in names if name not in found]:
            text = f"line {line} names devices ({said}), but not those of '{missing[0][:SHOWN]}': write them there"
            return replace(table, legend_lacks=text)
        new = {name: words if plainly else f"{name} ({_count_in(words)})" for name, (_, words, _) in found.items()}
        note = f"{said}, by the text in line {line}"
        if place is None:
            return replace(table, header=(table.header[0], *(new[name] for name in across)), note=note)
        rows = tuple((at, _replaced(cells, place, new)) for at, cells in table.rows)
        return replace(table, rows=rows, note=note)
    for line, text in near:
        if (one := _OF_ALL.search(text)) and not _EACH.search(one[0].partition(" ")[2]):
            text = f"line {line} names one number of devices for all ('{text[:SHOWN]}'), and scaling needs two"
            return replace(table, legend_lacks=text)
    return table


def _count_in(words: str) -> str:
    """The number and the noun at the beginning of a definition: 2 GPUs of `2 GPUs with DataParallel`."""
    first = _COUNT.match(words)
    return first[0] if first else words


def _near(table: RawTable, lines: Sequence[str]) -> Iterator[tuple[int, str]]:
    """The lines of text around a table that name a number of devices, with their numbers."""
    last = max((line for line, _ in table.rows), default=table.line)
    before = range(max(1, table.line - _AROUND), table.line)
    after = range(last + 1, min(len(lines), last + _AROUND) + 1)
    for number in (*reversed(before), *after):
        text = plain(lines[number - 1]).strip()
        if text.startswith("|") and number > last:
            return  # another table
        if len(text) <= _LONGEST_LINE and not text.startswith("|") and re.search(r"\d|single|one", text):
            yield number, text


def _is_name(text: str) -> bool:
    """Whether a label is a name that may need a legend, and names no devices itself."""
    return bool(re.search(r"[A-Za-z]", text)) and len(text) <= _LONGEST_NAME and count_or_none(text) is None


def _are_codes(names: Sequence[str]) -> bool:
    """Whether names are letters or numbers behind the same words: A, B, C or S1, S2."""
    return len({re.sub(r"(?:\b[A-Za-z]|[IVX]{1,4}|\d{1,2})$", "", name.strip("() ")) for name in names}) == 1


def _defined(
    names: Sequence[str], near: Sequence[tuple[int, str]], *, alone: bool
) -> dict[str, tuple[int, str, Count]]:
    """Name -> line, words and devices of its definition. Two different definitions of a name are none.

    alone: whether a definition has to be a line of its own that begins with the name, as in a list.
    """
    spelled = {re.sub(r"\s*\+\s*", "+", name): name for name in names}
    any_name = "|".join(
        re.sub(r"\\\+", r" ?\\+ ?", re.escape(name)) for name in sorted(spelled, key=len, reverse=True)
    )
    name = rf"(?:^(?:[-*+] |\d+[.)] )?)(?P<name>{any_name})" if alone else rf"(?<![\w.-])(?P<name>{any_name})"
    start = name.replace("?P<name>", "?:") + _SIGN.replace("?P<verb>", "?:")
    definition = re.compile(rf"{name}{_SIGN}(?P<words>[^;|]+?)\)?\s*(?=$|;|[,.]?\s*(?:and\s+)?{start})")
    found: dict[str, tuple[int, str, Count]] = {}
    for line, text in near:
        for one in definition.finditer(text):
            words = one["words"].strip(" ,.")
            plainly = not _EACH.search(words) or _NODES.search(words)
            count = count_or_none(words, alone=bool(one["verb"])) if plainly else None
            if count is None:
                continue
            own = spelled[re.sub(r"\s*\+\s*", "+", one["name"])]
            if own in found and found[own][2] != count:
                return {}
            found.setdefault(own, (line, words, count))
    return {name: found[name] for name in names if name in found}


def _replaced(cells: tuple[str, ...], place: int, new: dict[str, str]) -> tuple[str, ...]:
    if place >= len(cells) or is_blank(cells[place]):
        return cells
    return (*cells[:place], new.get(plain(cells[place]), cells[place]), *cells[place + 1 :])
