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
from scalestudy.importers.logs.console.bars import OTHER_WORK
from scalestudy.importers.logs.lines import numbered_lines
from scalestudy.importers.logs.parts import parts_of
from scalestudy.importers.logs.stated import LOOKED_AT

_STATED = re.compile(
    rb"(?i)(?<![a-z])(?P<name>world[_ ]size|(?:num|number[_ ]of|n)[_ -]?(?:gpus|devices|processes|nodes)"
    rb"|nproc[_-]per[_-]node|nnodes|(?:global|total|effective)[_ ](?:train(?:ing)?[_ ])?batch[_ ]?size"
    rb"|(?:output|out|save|work|log|logging|checkpoint|ckpt|exp(?:eriment)?)[_ -]?(?:dir(?:ectory)?|folder|name)"
    rb"|run[_ -]?name|(?<=--)(?:n?gpus?|devices|nodes|np|batch[_-]?size|bs))"
    rb"(?: ?\([^)]{0,80}\))?['\"]?(?:\s?[:=]\s?|\s?\.{3,}\s?|\sis\s|\s)(?P<value>['\"]?[\w./:~+-]{1,200})"
    rb"|(?<![\w./:-])(?P<count>\d{1,5}) (?P<unit>GPU)s?(?![\w.]|[ -]hours?\b)"
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


def check_one_run(path: Path, first: int, ends: Sequence[tuple[int, int]]) -> None:
    """Raise UserError if a part of a log is of another run than the part before it.

    first: line of the first row. ends: (line of the last row before, line of the first row after) each place where
    the steps begin again.
    """
    if not ends or len(ends) > MOST_RESTARTS:
        return
    said: dict[str, tuple[str, int]] = {}
    zone = 0
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
                if found["unit"] and OTHER_WORK.search(part):
                    continue  # the devices of an evaluation
                written = (found["name"] or found["unit"]).decode()
                name = re.sub(r"[ -]", "_", written.lower())
                value = (found["value"] or found["count"]).decode("utf-8", "replace").strip("'\".,;:")
                if in_front or name not in said:
                    said.setdefault(name, (value, number))
                elif value != said[name][0]:
                    raise _several(path, written, value, number, said[name], ends[zone][0])


def begins_again(lines: np.ndarray, steps: np.ndarray) -> list[tuple[int, int]]:
    """Return the lines of two rows each, of which the second has a lower step."""
    return [(int(lines[at]), int(lines[at + 1])) for at in np.flatnonzero(np.diff(steps) < 0)]


def _several(path: Path, name: str, value: str, number: int, before: tuple[str, int], last: int) -> UserError:
    return UserError(
        f"{path}, line {number}: another run begins: `{name}` is {value[:SHOWN]}, and in line {before[1]} it is"
        f" {before[0][:SHOWN]}. A log is one run: make a file of each, such as with head -n {last} {path.name} >"
        f" first.log and tail -n +{last + 1} {path.name} > second.log"
    )
