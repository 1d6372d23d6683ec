"""Finds measurements in lines that differ in their numbers only: `4 GPUs took 28.6 s`, `-n 4, time 28.6`.

No sign needs to separate the devices from the measurement. Words between them have to be the same in all lines, so
that sentences are not read as a table.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from scalestudy.importers.counts.numerals import WORDS, figure_of, in_digits
from scalestudy.importers.devices.across import counted_across
from scalestudy.importers.headers.languages import in_english
from scalestudy.importers.headers.meaning import meaning_of
from scalestudy.importers.headers.terms import DEVICE, HARDWARE, NODE, TIMED
from scalestudy.importers.numbers.printed import plain
from scalestudy.importers.published import MEASURED, STATED, TIMES
from scalestudy.importers.quantities import name_of
from scalestudy.importers.raw import RawTable

LONGEST = 200
"""Characters of a line that lists a measurement."""
UNREAD = "\0unread"
"""Key of a row whose line has a number with another unit, such as MB/s, which is not read."""
SEVERAL = ""
"""Key of a row whose line has a quantity more than once, of which the first is read."""
FIRST_READ = "of several numbers of one quantity in a line the first is read"
FROM_TEXT = "the numbers are from sentences, which may also be of different work"
UNITS_UNREAD = "numbers with other units in these lines are not read, such as "
_GAP = 3
"""Lines between two of one list, at most."""
_MOST_WORDS = 6
"""Words before the measurement of a line, beside those of the devices."""
_MOST_IN_A_SENTENCE = 12
_TIMED_THINGS = re.compile(
    r"\b(epoch|step|iter|train|total|batch|infer|eval|valid|load|compil|run|ran\b|test|solve|build|job)",
    re.IGNORECASE,
)
"""What a time is of."""
_LONGEST_TEXT = 1000
_SENTENCES = re.compile(r"(?<=[a-z)\d])[.;!] +(?=[A-Z\d])|,? (?:and|while|whereas|but|versus|vs\.?) (?=\w)")
_BULLET = re.compile(r"\s*(?:(?:>|#|//)\s*)*(?:[-*+\u2022]\s+|\d{1,2}[.)]\s+|\[[^\]\d]{1,20}\]\s*)?")
_CLOCK = re.compile(r"^\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?Z?\]?\s*(?:[A-Z]{4,8}\b:?\s*)?")
_NAME = (
    rf"(?:(?:num(?:ber)?(?: of|_)?|n|#)[ _]?)?(?:{DEVICE}|{NODE}|(?<=[ _])cpu)(?:_per_node)?(?:\(s\))?|"
    r"world[ _]size|nproc(?:_per_node)?|omp_num_threads|n ?procs|np|jobs|tp|dp|ws|n|p|j"
)
_DEVICES = tuple(
    re.compile(form, re.IGNORECASE)
    for form in (
        rf"(?<![\w.])(?P<count>\d{{1,6}}) ?[x-]? ?(?P<kind>(?:{DEVICE}|{NODE})(?:\(s\))?)(?![\w/])",
        rf"(?<![\w.])(?P<count>\d{{1,4}}) ?x? ?(?P<kind>{HARDWARE}(?:-\w{{2,5}})?s?)(?![\w/])",
        rf"(?<![\w.])(?P<count>single|{WORDS}) (?P<kind>{DEVICE}|{NODE})(?![\w/])",
        rf"(?<![\w/])(?<!multi[ -])-{{0,2}}(?P<kind>{_NAME})\s?[=: ]?\s?(?P<count>\d{{1,6}})(?![\w.]|,\d)",
    )
)
_NUMBER = r"~?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?:[kM](?![A-Za-z]))?"
_VALUES = rf"{_NUMBER}(?: ?(?:-|\u2013|to) ?{_NUMBER})?"
"""A number or a range."""
_FIRST = re.compile(rf"^{_NUMBER} ?(?:-|\u2013|to) ?(?=~?\d)")
DURATION = (
    r"(?:\d+ ?h(?:ours?)?,? ?)?\d+ ?m(?:in(?:ute)?s?)?,? ?\d+(?:\.\d+)? ?s(?:ecs?|econds?)?\b|"
    r"\d+ ?h(?:ours?|rs?)?,?(?: and)? \d+(?:\.\d+)? ?m(?:in(?:ute)?s?)?\b|"
    r"\d+:\d\d(?::\d\d)?(?:\.\d+)?"
)
"""A time of several parts: 1 h 52 min."""
_UNIT = r"(?:\u00b5|%|[A-Za-z])[\w/%.]*(?: ?(?:/|per) ?[A-Za-z]+)?"
_VALUE = re.compile(
    rf"(?P<name>[A-Za-z][A-Za-z /_-]{{0,30}}?)?\s*(?:[=:\u2248~]|\bis\b|\bof\b)?\s*"
    rf"(?<![\w.])(?P<value>{DURATION}|{_VALUES})(?P<unit> ?x\b| ?{_UNIT})?",
    re.IGNORECASE,
)
_WAY = re.compile(r"\b(?:ddp|fsdp2?|dp|hsdp|zero-?[123]?|deepspeed|horovod|baseline|single|multi|distributed)\b")
"""Strategies of training and words for a baseline. They may differ between the lines of a list."""
_OF_SCALING = re.compile(r"effic|\beff\b|scal|linear|ideal", re.IGNORECASE)
_NEAR = 20
"""Characters around a share in which it is called an efficiency."""
_BATCH = re.compile(r"\bbatch[ _-]?size\W{0,3}(?:of )?(?P<size>\d{1,7})\b", re.IGNORECASE)
_ONLY_NUMBER = re.compile(r"\s*[:=]\s*\d+(?:\.\d+)?\s*")
_SECONDS = r"(?<![\w.])(\d+\.\d+)(?: ?s)?(?![\w.])"
_SHELL = (
    (re.compile(rf"{_SECONDS}\s+real\b(?=.*(?:user|sys)\W*$)"), re.compile(rf"{_SECONDS}\s+(?:user|sys)\b")),
    (re.compile(rf"\breal\s+{_SECONDS}"), re.compile(rf"\b(?:user|sys)\s+{_SECONDS}")),
)
"""The times of the shell's own `time` in one line, which are in seconds: of the clock, and of processors."""
_QUOTES = re.compile(r"[\"\u201c\u201d]")
_SMALL = ("a", "an", "the", "only", "just", "about", "around", "approximately", "roughly", "avg", "average", "on")
"""Words that may differ from line to line."""
_FEWEST = 2


def phrased_tables(lines: Sequence[str]) -> list[RawTable]:
    """Return the measurements of lines that say the same of several numbers of devices."""
    groups: dict[tuple[str, ...], list[tuple[int, dict[str, str]]]] = {}
    for number, line in enumerate(lines, start=1):
        read = _read(line) if len(line) <= LONGEST else None
        if (
            read is None
            and len(line) <= LONGEST
            and number < len(lines)
            and not _VALUE.search(_without_devices(line))
        ):
            read = _read(f"{line.rstrip(' :')} {lines[number].strip()}"[:LONGEST])
        if read is not None:
            groups.setdefault(read[0], []).append((number, read[1]))
    return [table for rows in groups.values() for table in _tables(rows, lines)]


def of_one_thing(texts: Sequence[str]) -> bool:
    """Return whether times in sentences are of the same thing: no epoch beside a whole training.

    Later sentences may say less than the first: `training takes 9 min per epoch`, `it takes 5 min`.
    """
    named = [{found.lower() for found in _TIMED_THINGS.findall(text)} for text in texts]
    return all(own <= named[0] for own in named)


def sentence_tables(lines: Sequence[str]) -> list[RawTable]:
    """Return the first measurements of sentences next to each other, whose other words may differ."""
    groups: list[tuple[tuple[str, str], list[tuple[int, dict[str, str]]]]] = []
    said: list[str] = []
    for number, line in enumerate(lines, start=1):
        for sentence in _SENTENCES.split(line) if len(line) <= _LONGEST_TEXT else ():
            counted = len(sentence) <= LONGEST and any(form.search(sentence) for form in _DEVICES)
            read = _read(sentence, _MOST_IN_A_SENTENCE) if counted or not sentence.isascii() else None
            if read is None:
                continue
            (kind, _, first), row = read
            row = {name: text for name, text in row.items() if name in (next(iter(row)), "strategy", first)}
            near = bool(groups) and groups[-1][0] == (kind, first) and number - groups[-1][1][-1][0] <= 1
            if near and (meaning_of(first).role not in TIMES or of_one_thing([*said, sentence])):
                groups[-1][1].append((number, row))
                said.append(sentence)
            else:
                groups.append(((kind, first), [(number, row)]))
                said = [sentence]
    return [replace(table, note=FROM_TEXT) for _, rows in groups for table in _tables(rows, lines)]


def starts_again(rows: Sequence[dict[str, str]], row: dict[str, str], between: Sequence[str]) -> bool:
    """Return whether a row is the first of another list: a title is above it, and its devices were there before.

    rows: those before it, whose first value is the devices; between: the lines since the last of them.
    """
    devices = next(iter(row.values()))
    known = [next(iter(one.values())) for one in rows]
    titled = any(re.search(r"[A-Za-z]{3}", line) for line in between)
    return titled and len(set(known)) >= _FEWEST and devices in known and len(set(known)) == len(known)


def note_on_numbers(rows: Sequence[dict[str, str]]) -> str:
    """Return what to say of the numbers in the lines of a list that are not read; empty if all are."""
    unread = next((row[UNREAD] for row in rows if UNREAD in row), "")
    parts = [FIRST_READ] if any(SEVERAL in row for row in rows) else []
    return "; ".join([*parts, *([f"{UNITS_UNREAD}{unread}"] if unread else [])])


def _without_devices(line: str) -> str:
    """The words of a line that has nothing but a number of devices; a digit if it has none, or has other words."""
    text = _BULLET.sub("", plain(_BULLET.sub("", line, count=1)), count=1).strip(" :")
    found = next((one for form in _DEVICES if (one := form.search(text))), None)
    rest = f"{text[: found.start()]}{text[found.end() :]}" if found else "0"
    return "0" if len(rest.split()) > 2 else rest


def _tables(rows: Sequence[tuple[int, dict[str, str]]], lines: Sequence[str]) -> list[RawTable]:
    """The rows of lines near each other, if they are of several numbers of devices."""
    parts: list[list[tuple[int, dict[str, str]]]] = []
    for line, row in rows:
        last = parts[-1][-1][0] if parts else 0
        near = bool(parts) and line - last <= _GAP
        if near and not starts_again([own for _, own in parts[-1]], row, lines[last : line - 1]):
            parts[-1].append((line, row))
        else:
            parts.append([(line, row)])
    found = []
    for part in parts:
        if len({next(iter(row.values())) for _, row in part}) < _FEWEST:
            continue
        names = list(dict.fromkeys(name for _, row in part for name in row if name not in (SEVERAL, UNREAD)))
        body = tuple((n, tuple(row.get(k, "") for k in names)) for n, row in part)
        note = note_on_numbers([row for _, row in part])
        found.append(RawTable(part[0][0], tuple(names), body, note=note))
    return found


def _read(line: str, most_words: int = _MOST_WORDS) -> tuple[tuple[str, ...], dict[str, str]] | None:
    """What a line says beside its numbers, and its row; None if it has no devices or no measurement."""
    text = _CLOCK.sub("", plain(_BULLET.sub("", line, count=1)))
    text = _with_units(_BULLET.sub("", text, count=1))
    devices = next((found for form in _DEVICES if (found := form.search(text))), None)
    if devices is None:
        return None
    before, after = text[: devices.start()], text[devices.end() :]
    batch = _BATCH.search(before)
    before = _BATCH.sub(" ", before)
    if re.search(r"\d", before):
        return None
    if _ONLY_NUMBER.fullmatch(after) and re.search(TIMED, before.lower()):
        after = f": time = {after.strip(' :=')}"  # Execution with 2 threads: 4.2
    values = _values(after)
    if not values or re.search(r"\d", after[: values[0][0]]):
        return None
    start, first = values[0][0], values[0][1]
    if meaning_of(first).role not in (*MEASURED, *STATED):
        return None
    said = f"{before} {after[:start]}".lower()
    ways = " ".join(_WAY.findall(said))
    words = [word.rstrip("s") for word in re.findall(r"[a-z]+", _WAY.sub(" ", said)) if word not in _SMALL]
    if len(words) > most_words:
        return None
    kind = re.sub(r"\(s\)$|(?<=[a-z\d])s$", "", devices["kind"].lower().replace("processes", "process"))
    named = devices[0] if kind == "j" else devices["kind"]  # -j 4
    row = {counted_across([named]): str(figure_of(devices["count"]))}
    if ways:
        row["strategy"] = ways
    if batch:
        row["batch size"] = batch["size"]
    for _, name, value in values:
        if row.setdefault(name, value) != value and name != UNREAD:
            row[SEVERAL] = "yes"
    return (kind, " ".join(words), first), row


def _with_units(text: str) -> str:
    """A line without quotes, with counts and units in English, and the times of the shell in seconds."""
    for real, of_the_cpu in _SHELL:
        if real.search(text):
            text = of_the_cpu.sub("", real.sub(r"real \1 s", text))
            break
    text = _QUOTES.sub("", text).replace("\uff0c", ", ")
    return text if text.isascii() else in_english(in_digits(text).lower())


def _values(text: str) -> list[tuple[int, str, str]]:
    """The measurements of a text: place, name of the quantity, number with its unit.

    None if it also has a number without a name and a unit, or a share that is not called an efficiency.
    """
    found = []
    for one in _VALUE.finditer(text):
        unit = (one["unit"] or "").strip()
        value = f"{one['value']} {unit}".strip() if unit.lower() != "x" else f"{one['value']}x"
        name = (one["name"] or "").strip(" -_/")
        last = _FIRST.sub("", value, count=1)
        own = name_of(last) or name_of(last.rpartition(" ")[0])
        role = meaning_of(name).role
        share = own == "efficiency" and not _OF_SCALING.search(
            text[max(0, one.start() - _NEAR) : one.end() + _NEAR]
        )
        if share or not (own or name or unit):
            return []
        if role in (*MEASURED, *STATED):
            number = value if own else one["value"]
            found.append((one.start("name") if one["name"] else one.start("value"), name, number))
        elif own:
            found.append((one.start("value"), own, value))
        elif "/" in unit and found:
            found.append((one.start("value"), UNREAD, value))
    return found
