"""Reads sections that begin with their devices: the same names with values, or the same table, below each of them.

== 1 thread ==          == 4 threads ==
copy: 12.1 ms           copy: 3.4 ms
scale: 13.0 ms          scale: 3.6 ms
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from scalestudy.importers.counts.labels import count_or_none
from scalestudy.importers.counts.numerals import in_digits, spelled
from scalestudy.importers.headers.meaning import meaning_of
from scalestudy.importers.headers.terms import DEVICE, NODE
from scalestudy.importers.markup.delimited import delimited_tables
from scalestudy.importers.markup.logged_runs import logged_runs
from scalestudy.importers.markup.naming import COMMAND, names_devices, noun_of
from scalestudy.importers.numbers.printed import plain
from scalestudy.importers.published import MEASURED, STATED
from scalestudy.importers.quantities import known_role, name_of
from scalestudy.importers.raw import UNSAID, RawTable

_LONGEST = 200
_LONGEST_TITLE = 60
_MAY_COUNT = re.compile(rf"\b(?:{DEVICE}|{NODE}|np)\b|[- ]-|_NUM_|NUM_", re.IGNORECASE)
_COUNTED = re.compile(rf"(?=.*\d).*\b(?:{DEVICE}|{NODE}|np)|\bNUM_", re.IGNORECASE)
"""What a title has, which is faster to see than how many devices it names."""
_FEW = 2
"""Sections, and names in each, from which they are read."""
_FRAME = "#=*_-~>\u2022+ \t:[]"
"""Signs around the words of a title."""
_NAMED = re.compile(
    r"\s*(?:[-*+\u2022]\s+)?(?P<name>[^\W\d](?:(?!\d\S*\s\s)[\w ()/.+-]){0,40}?(?:= ?\d{1,6}(?= ))?)\s*"
    r"(?::|=|->|=>|\u2192|\s{2,}|\t| - )\s*"
    r"(?P<value>~?\d[\d.,]* ?[^\s\d(][^\s(]*(?: (?:per|/) \w+)?)\s*(?:\(.*\))?\s*"
)
"""A name and a number with its unit. A name with another number in front of a gap is a log line."""
_UNIT_IN_FRONT = re.compile(
    r"^\s*(?P<name>[^\W\d][\w-]{0,30}):\s+[a-z ]{0,30}\((?P<unit>[a-z]{1,3})\):\s*(?P<value>\d+\.?\d*)\s*$"
)
"""A name, and a quantity whose unit is in front of the number: `copy: time (s): 12.1`."""
_PAIR = re.compile(r"\s*(?P<size>\d{1,12})[\s,;]+(?P<value>\d+\.?\d*(?:e[+-]?\d+)?)\s*", re.IGNORECASE)
"""A size and what was measured for it."""
_REMARK = re.compile(r" [-\u2013\u2014] ")
"""What separates a title from a remark behind it: `8 threads - as checked in`."""
_RULE = re.compile(r"\s*[-=_*]{3,}\s*")
_ITEM = "item"
"""Header of the names."""


@dataclass
class _Section:
    """The lines below a title that names devices."""

    title: str
    devices: int
    lines: list[tuple[int, str]] = field(default_factory=list)


def sectioned_tables(lines: Sequence[str]) -> list[RawTable]:
    """Return the measurements of sections for two numbers of devices or more: one table, or one for each section.

    Tables of sections have the title as their caption.
    """
    sections = _sections(lines)
    if len({section.devices for section in sections}) < _FEW:
        return []
    return list(_of_names(sections)) or list(_of_sizes(sections)) or _of_tables(sections)


def logged_tables(lines: Sequence[str]) -> list[RawTable]:
    """Return a table of the log lines below titles that name devices, in whatever words."""
    titled = _titled(lines)
    runs = [(section.title, section.devices, section.lines) for _, section in titled]
    return list(logged_runs(runs, _header_of([section for _, section in titled])))


def _sections(lines: Sequence[str]) -> list[_Section]:
    """The sections whose titles have the same words beside their numbers, of the words that most titles have."""
    found = _titled(lines)
    families = Counter(words for words, _ in found).most_common(1)
    return [section for words, section in found if words == families[0][0]]


def _titled(lines: Sequence[str]) -> list[tuple[str, _Section]]:
    """The sections below titles that name devices, each with the words of its title beside its numbers."""
    found: list[tuple[str, _Section]] = []
    for number, line in enumerate(lines, start=1):
        title = _title(line) if len(line) <= _LONGEST else None
        if title is not None:
            words, devices = title
            found.append((words, _Section(_REMARK.split(plain(line).strip(_FRAME))[0], devices)))
        elif found:
            found[-1][1].lines.append((number, line))
    return found


def _title(line: str) -> tuple[str, int] | None:
    """The words of a title beside its number of devices, and these; None if a line is no such title."""
    if line.isascii() and not _MAY_COUNT.search(line):
        return None
    text = re.sub(r"\bsingle\b", "1", in_digits(spelled(plain(line).strip(_FRAME))), flags=re.IGNORECASE)
    if command := COMMAND.search(line):
        devices = int(re.findall(r"\d+", command["devices"])[-1])
        return re.sub(r"\s+", " ", line.replace(command["devices"], "")), devices
    if not text or len(text) > _LONGEST_TITLE or not _COUNTED.search(text):
        return None
    if "|" in text or _NAMED.fullmatch(line) or not names_devices(text):
        return None
    count = count_or_none(text)
    words = re.sub(r"\d+|s\b", "", _REMARK.split(text.lower())[0])
    return (words, count.gpus) if count and not count.either else None


def _of_names(sections: Sequence[_Section]) -> Iterator[RawTable]:
    """The names that sections have in common, as rows with their values."""
    rows: list[tuple[int, int, str, str]] = []
    sizes: dict[str, set[int]] = {}
    for section in sections:
        seen: set[str] = set()
        for number, line in ((number, line) for number, line in section.lines if len(line) <= _LONGEST):
            line = _UNIT_IN_FRONT.sub(r"\g<name>: \g<value> \g<unit>", line)
            pair = _NAMED.fullmatch(line) or _NAMED.fullmatch(plain(line))
            if pair is None or not name_of(pair["value"]):
                continue
            if pair["name"] in seen:
                return  # steps or repeats
            seen.add(pair["name"])
            rows.append((number, section.devices, pair["name"], pair["value"]))
            sizes.setdefault(pair["name"], set()).add(section.devices)
    shared = {name for name, found in sizes.items() if len(found) >= _FEW}
    kept = [row for row in rows if row[2] in shared]
    quantities = {name_of(value) for *_, value in kept}
    measured = sum(known_role(name) in (*MEASURED, *STATED) for name in shared)
    columns = 2 * measured > len(shared) or "real" in shared  # names of quantities; those of the shell's `time`
    if columns or len(shared) < _FEW or len(quantities) > 1:
        return
    body = tuple((number, (str(gpus), name, value)) for number, gpus, name, value in kept)
    yield RawTable(kept[0][0], (_header_of(sections), _ITEM, quantities.pop()), body)


def _of_sizes(sections: Sequence[_Section]) -> Iterator[RawTable]:
    """The sizes that sections have in common, each with a number behind it: `1000  0.53` below `threads 8`."""
    rows: list[tuple[int, int, str, str]] = []
    name = "size"
    for section in sections:
        for number, line in section.lines:
            pair = _PAIR.fullmatch(line)
            if pair:
                rows.append((number, section.devices, pair["size"], pair["value"]))
            elif re.fullmatch(r"\s*[A-Za-z]\w{0,20}\s*", line):
                name = line.strip()
            elif line.strip():
                return
    sizes = [{size for _, devices, size, _ in rows if devices == section.devices} for section in sections]
    shared = set.intersection(*sizes) if sizes else set()
    if len(shared) < _FEW or len(rows) != sum(map(len, sizes)):
        return
    body = tuple((number, (str(devices), size, value)) for number, devices, size, value in rows)
    yield RawTable(rows[0][0], (_header_of(sections), name, UNSAID), body)


def _header_of(sections: Sequence[_Section]) -> str:
    """The noun of the devices in the titles: `threads`."""
    if commands := [found["devices"] for section in sections if (found := COMMAND.search(section.title))]:
        return noun_of(commands)
    words = re.findall(r"[a-z]+", " ".join(section.title.lower() for section in sections))
    return next((word for word in reversed(words) if meaning_of(word).role in ("gpus", "nodes")), "devices")


def _of_tables(sections: Sequence[_Section]) -> list[RawTable]:
    """A table of each section, if at least two of them have one with a measurement."""
    found = []
    for section in sections:
        first = section.lines[0][0] if section.lines else 0
        text = "\n".join("" if _RULE.fullmatch(line) else line for _, line in section.lines)
        for table in delimited_tables(text)[:1]:
            if any(meaning_of(name).role in MEASURED for name in table.header):
                rows = tuple((line + first - 1, cells) for line, cells in table.rows)
                found.append(
                    replace(table, line=table.line + first - 1, rows=rows, headings=(), caption=section.title)
                )
    return found if len(found) >= _FEW else []
