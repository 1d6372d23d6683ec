"""Refuses a console log of several runs.

A new run begins where the steps begin again and the log states another size or directory. A restart repeats what
the start stated, or states nothing. A log must be one run, so the message says how to split the file.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import islice
from pathlib import Path

import numpy as np

from scalestudy.errors import UserError
from scalestudy.importers.logs.lines import numbered_lines
from scalestudy.importers.logs.parts import parts_of
from scalestudy.importers.logs.stated import LOOKED_AT

_STATED = re.compile(
    rb"(?i)(?<![a-z])(?P<name>world[_ ]size|(?:num|number[_ ]of|n)[_ -]?(?:gpus|devices|processes|nodes)"
    rb"|nproc[_-]per[_-]node|nnodes|(?:global|total|effective)[_ ](?:train(?:ing)?[_ ])?batch[_ ]?size"
    rb"|(?:output|out|save|work|log|logging|checkpoint|ckpt|exp(?:eriment)?)[_ -]?(?:dir(?:ectory)?|folder|name)"
    rb"|run[_ -]?name|(?<=--)(?:n?gpus?|devices|nodes|np|batch[_-]?size|bs))"
    rb"(?: ?\([^)]{0,80}\))?['\"]?(?:\s?[:=]\s?|\s?\.{3,}\s?|\sis\s|\s)(?P<value>['\"]?[\w./:~+-]{1,200})"
)
_NAMES = (
    b"size",
    b"gpu",
    b"--np",
    b"--bs",
    b"devices",
    b"processes",
    b"nodes",
    b"nproc",
    b"dir",
    b"folder",
    b"name",
)
MOST_RESTARTS = 1000
SHOWN = 60
"""Characters of a value that a message has."""


def check_one_run(path: Path, lines: Sequence[float] | np.ndarray, begins: Sequence[int]) -> None:
    """Raise UserError if a part of a log is of another run than the part before it.

    lines: line of each row. begins: rows at which the steps begin again.
    """
    if not len(begins) or len(begins) > MOST_RESTARTS:
        return
    ends = [(int(lines[at - 1]), int(lines[at])) for at in begins]
    said: dict[str, tuple[str, int]] = {}
    zone = 0
    first = int(lines[0])
    for number, line in islice(numbered_lines(path), ends[-1][1]):
        while zone < len(ends) and number >= ends[zone][1]:
            zone += 1
        in_front = number < first and number <= LOOKED_AT
        if not in_front and (zone == len(ends) or number <= ends[zone][0]):
            continue
        lower = line.lower()
        if not any(name in lower for name in _NAMES):
            continue
        for part in parts_of(line):
            for found in _STATED.finditer(part):
                name = re.sub(r"[ -]", "_", found["name"].decode().lower())
                value = found["value"].decode("utf-8", "replace").strip("'\".,;:")
                if in_front or name not in said:
                    said.setdefault(name, (value, number))
                elif value != said[name][0]:
                    raise _several(path, found["name"].decode(), value, number, said[name], ends[zone][0])


def begins_again(steps: np.ndarray) -> list[int]:
    """Return the rows whose step is not above that of the row before."""
    return [int(at) + 1 for at in np.flatnonzero(np.diff(steps) < 0)]


def _several(path: Path, name: str, value: str, number: int, before: tuple[str, int], last: int) -> UserError:
    return UserError(
        f"{path}, line {number}: another run begins: `{name}` is {value[:SHOWN]}, and in line {before[1]} it is"
        f" {before[0][:SHOWN]}. A log is one run: make a file of each, such as with head -n {last} {path.name} >"
        f" first.log and tail -n +{last + 1} {path.name} > second.log"
    )
