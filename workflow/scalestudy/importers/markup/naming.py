"""Whether a text names a number of devices, and what these are called: `4 GPUs`, `--nproc_per_node=4`."""

from __future__ import annotations

import re
from collections.abc import Sequence

from scalestudy.importers.counts.cells import read_count
from scalestudy.importers.counts.labels import count_in_words
from scalestudy.importers.counts.phrases import is_of_devices
from scalestudy.importers.devices.across import counted_across
from scalestudy.importers.headers.terms import DEVICE, NODE
from scalestudy.importers.numbers.printed import plain, read_cell

_DECIMAL = re.compile(
    r"(?P<front>[^,]*[^\W\d_][^,]*[:=]\s*\d+),(?P<behind>\d+)(?P<unit>\s*[a-z%/]{0,8}\s*)", re.IGNORECASE
)
"""A name with one number that may have a decimal comma."""
_THOUSANDS = 3
"""Digits behind a comma between thousands."""
LONGEST = 500
"""Characters of a line that lists a measurement."""
VALUE = r"(?P<value>~?\d[\d.,]*(?:e[+-]?\d+)?(?: ?[A-Za-z%/]{1,12})?)"
"""Pattern of a number, perhaps with its unit."""
SETUP = "setup"
"""Header of labels that name the devices among other words."""
COMMAND = re.compile(
    r"(?:^|\s)(?P<devices>(?:--(?:devices|nproc[_-]per[_-]node|num[_-]gpus|n?gpus|num[_-]processes|tensor[_-]parallel[_-]size|"
    r"tp|threads|num[_-]threads|workers|num[_-]workers|jobs)|-np|-nt|-j|OMP_NUM_THREADS)[ =]\d{1,6})(?=\s|$)"
)
"""The number of devices in a command."""
_OPTIONS = {
    **{"-np": "processes", "--nproc_per_node": "processes", "--nproc-per-node": "processes"},
    **{"-nt": "threads", "-j": "workers", "--jobs": "workers"},
}
"""What the numbers in commands are of, where their names do not say it."""
_COUNTED = re.compile(rf"(?:{DEVICE}|{NODE}|\b(?:np|world ?size))", re.IGNORECASE)
_LONGEST_LABEL = 40
_APART = re.compile(r"(?<=[a-z%])[,;]\s+(?=[A-Za-z])")
"""What separates named values in one line, behind the unit of the one in front."""
_UNSIGNED = re.compile(
    r"(?P<name>[^\W\d][\w -]{2,40}?)\s*[ :=]\s*(?P<value>~?\d[\d.,]* ?[A-Za-z%\u00b5][\w/]*)\W*"
)


def with_signs(line: str) -> list[str]:
    """Return the named values of a line, each with a sign: `Total: 69.0 s, Train 1 epoch 6.1 s` has two.

    A line that is no such list is returned as it is.
    """
    first, *others = _APART.split(line)
    found = [_UNSIGNED.fullmatch(other) for other in others]
    if not others or not all(found) or not re.search(r"[:=].*\d", first):
        return [line]
    return [first, *(f"{one['name']}: {one['value']}" for one in found if one)]


def noun_of(labels: Sequence[str]) -> str:
    """Return the header of devices that are labelled so: `threads` of `OMP_NUM_THREADS=1` and of `2 threads`."""
    options = {re.split("[ =]", label)[0] for label in labels}
    return _OPTIONS[options.pop()] if len(options) == 1 and options <= {*_OPTIONS} else counted_across(labels)


def names_devices(text: str) -> bool:
    """Return whether a text is a number of devices, or names one with the word of a device."""
    if is_count(text):
        return True
    if not _COUNTED.search(text) or len(text) > _LONGEST_LABEL:
        return False
    try:
        count_in_words(text)
    except ValueError:
        return False
    return bool(re.search(r"\d|single|one|two|dual|four|eight", text, re.IGNORECASE))


def is_count(text: str) -> bool:
    """Return whether a text is a number of devices with a word of them: `4 GPUs`."""
    if is_of_devices(plain(text)):
        return True  # 8 (1x8)
    try:
        read_count(text)
    except ValueError:
        return False
    return not is_number(text)


def is_number(text: str) -> bool:
    """Return whether a text is a number without a unit."""
    try:
        return not read_cell(text).unit
    except ValueError:
        return False


def with_decimal_points(lines: Sequence[str]) -> list[str]:
    """Return the lines of a list with points for its decimal commas: `2 threads: 43.66` for `43,66`.

    Commas that may all be between thousands stay, and so do those of a text with other commas between digits.
    """
    found = {at: one for at, line in enumerate(lines) if (one := _DECIMAL.fullmatch(line[:LONGEST]))}
    others = any(re.search(r"\d,\d", line) for at, line in enumerate(lines) if at not in found)
    if others or len(found) < 2 or all(len(one["behind"]) == _THOUSANDS for one in found.values()):
        return list(lines)
    points = {at: f"{one['front']}.{one['behind']}{one['unit']}" for at, one in found.items()}
    return [points.get(at, line) for at, line in enumerate(lines)]
