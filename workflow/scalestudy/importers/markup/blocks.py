"""Reads blocks of lines with a name and a value each, below a line with the devices, or with a line of them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from scalestudy.importers.headers.meaning import meaning_of
from scalestudy.importers.markup.naming import COMMAND, LONGEST, SETUP, VALUE, names_devices, noun_of, with_signs
from scalestudy.importers.numbers.printed import plain

_NAMED = re.compile(r"(?P<name>[^:=|]{1,90}?)\s*[:=]\s*(?P<value>[^:=|]+?)\s*,?")
_SPACED = re.compile(
    rf"\s*(?:<\w+>)?(?P<name>[A-Za-z](?:(?!\d\S*\s\s)[^|=]){{1,60}}?)\s{{2,}}{VALUE}\s*(?:</\w+>)?", re.IGNORECASE
)
"""A name and a number with spaces between them. A name with another number in front of a gap is a log line."""
_FENCE = re.compile(r"\s*(?:`{3}|~{3}).*")
_SHELL = re.compile(r"(?P<name>real|user|sys)\s+(?P<value>\d+m[\d.]+s)")
"""A line of the shell's own `time`."""
_HEAD = re.compile(
    r"\s*(?:[-*+\u2022#]+\s*)?(?P<devices>[^:=|]{1,60}?)\s*:?\s*"
    r"(?:,\s*(?P<name>[A-Za-z][^:=|,]{1,40}?)\s*=\s*(?P<value>\d[^:=|,]{0,20}?)\.?\s*)?"
)
"""The devices of a block, and perhaps a value of it: `4 nodes, 4 GPUs each, batch size per GPU = 6`."""
_INTRODUCED = re.compile(r".*\b(?:with|on|using) (?P<devices>[\w-]{1,12} [A-Za-z-]{2,12})\s*:", re.IGNORECASE)
"""A sentence in front of a block that ends with the devices: `When we run it with 8 threads:`."""
_MEASURED_VALUE = re.compile(r"~?\d")
_NUMBER_OF_LINE = re.compile(r"\d{1,4}[.)]\s+(?=[A-Za-z])")


def rows_of_blocks(lines: Sequence[str]) -> list[tuple[int, dict[str, str]]]:
    """Return the rows of blocks: each line has a name and a value, and one of them or that above has the devices.

    A block below a command, or in a block of code, may have empty lines.
    """
    rows: list[tuple[int, dict[str, str]]] = []
    block: dict[str, str] = {}
    start = below = 0
    of_command = fenced = False
    for number, line in enumerate([*lines, ""], start=1):
        whole, *others = with_signs(line) if len(line) <= LONGEST else [""]
        text = _NUMBER_OF_LINE.sub("", plain(whole).lstrip("-*+\u2022> "))
        spaced = _SPACED.fullmatch(line) if text else None
        pair = spaced or _SHELL.fullmatch(text) or _NAMED.fullmatch(text)
        if _FENCE.fullmatch(line):
            fenced = not fenced
            continue
        command = COMMAND.search(line) if len(line) <= LONGEST else None
        head = command or (_HEAD.fullmatch(text) if text else None)
        if pair and not command and not (head and head["name"]):
            head = pair if names_devices(pair["name"]) and not _MEASURED_VALUE.match(pair["value"]) else None
        devices = "" if head is None else head["name"] if head is pair else head["devices"]
        if not command and (said := _INTRODUCED.fullmatch(text)) and names_devices(said["devices"]):
            devices = said["devices"]
        named = bool(command) or names_devices(devices)
        pair = None if named else pair
        first = next(iter(block), "")
        if not text and (first == SETUP or _is_devices(first)) and number == below:
            continue  # an empty line below the devices
        if block and (
            named or not (text or of_command or fenced) or (pair and pair["name"].rstrip(" :") in block)
        ):
            rows += [(start, block)] if len(block) > 1 else []
            block = {}
        of_command = bool(command) or (of_command and bool(block) and not named)
        if named:
            block = {noun_of([devices]): re.findall(r"\d+", devices)[-1]} if command else {SETUP: devices}
            start, below = number, number + 1
            if head and head is not pair and not command and head["name"]:
                block[head["name"]] = head["value"]
        elif pair:
            start = start if block else number
            block[pair["name"].rstrip(" :")] = pair["value"]
            for name, value in (other.split(": ", 1) for other in others):
                block.setdefault(name, value)
    rows += [(start, block)] if len(block) > 1 else []
    return [(line, row) for line, row in rows if any(name == SETUP or _is_devices(name) for name in row)]


def _is_devices(name: str) -> bool:
    return meaning_of(name).role in ("gpus", "nodes")
