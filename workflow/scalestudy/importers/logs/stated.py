"""What the lines in front of the rows of a console log say of the run: devices, batch, tokens of a step."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import islice
from math import prod
from pathlib import Path

from scalestudy.importers.logs.commands import devices_of_command
from scalestudy.importers.logs.lines import numbered_lines
from scalestudy.importers.logs.model import Facts

LOOKED_AT = 20_000
"""First lines in which sizes are looked for."""
RANK = re.compile(
    rb"(?i)^(?:.{0,60}?(?:\brank[ =:]{0,2}(\d+)\b(?!/)|\[default(\d+)\])"
    rb"|.{0,120}?\[\d{1,9},(\d{1,6})\]<std(?:out|err)>)"
)
TAGGED = b"]<std"
"""In what `mpirun --tag-output` puts in front of a line, the last one of RANK."""
LABEL = re.compile(rb"^ *(\d{1,6}): ")
"""What `srun --label` puts in front of a line."""
DEVICE = re.compile(
    rb"(?i)^.{0,60}?(?<![a-z])(?:local[_ ]?rank|gpu|cuda|device|proc(?:ess)?|worker)[ :=#_-]{0,2}"
    rb"(\d{1,4})(?![\w./%])"
)
"""The device or process that prints a line, as people name it: `[GPU0]`, `cuda:0 |`."""
IN_BRACKETS = re.compile(rb"^(?:[\w.-]{1,40}: ?)?[\[(](\d{1,4})[\])](?! *[\[(/])")
"""A number in brackets in front of a line, which may be a rank."""
_SIZES = re.compile(
    rb"(?i)(world[_ ]size|(?:num|number[_ ]of)[_ ](?:gpus|devices|processes)"
    rb"|(?:global|total|effective)[_ ](?:train(?:ing)?[_ ])?batch[_ ]?size)"
    rb"(?: ?\([^)]{0,80}\))?['\"]?\s?(?:[:=]|is|\.{3,})\s*(\d{1,12})\b"
)
OF_A_DEVICE = re.compile(rb"(?:Instantaneous batch size per device|Gradient Accumulation steps) *= *(\d{1,9})")
"""The two factors of the batch of a device, as the Trainer of Hugging Face prints them."""
_TOKENS = re.compile(rb"(?i)\btokens[_ ]per[_ ](?:iteration|iter|step|update)\b[^:=\d]{0,20}[:=] *(\d[\d,]{0,15})")
_SAID = (b"size", b"num", b"tokens", b"accumulation")


def rank_of(line: bytes) -> bytes | None:
    """Return the rank that a line names at its begin; None without one."""
    if b"ank" not in line and b"[default" not in line and TAGGED not in line:
        return None
    found = RANK.search(line)
    return (found[1] or found[2] or found[3]) if found else None


def stated_sizes(path: Path, is_row: Callable[[bytes], bool]) -> dict[str, int]:
    """Return what the first lines say: `devices`, `batch` and `step_tokens`, each only where a line has it.

    Devices are also those of the command that starts the ranks, if the lines have no other one.

    is_row: whether a line is a row, whose sizes are read with its other numbers.
    """
    said: dict[str, int] = {}
    started: set[int] = set()
    factors: list[int] = []
    for _, line in islice(numbered_lines(path), LOOKED_AT):
        if devices := devices_of_command(line):
            started.add(devices)
        lower = line.lower()
        if not any(text in lower for text in _SAID):
            continue
        factors += map(int, OF_A_DEVICE.findall(line))
        for name, value in () if is_row(line) else _SIZES.findall(line):
            if int(value) > 0:
                said.setdefault("batch" if b"batch" in name.lower() else "devices", int(value))
        if (tokens := _TOKENS.search(line)) and (number := int(tokens[1].replace(b",", b""))):
            said["step_tokens"] = number
    batch, each = said.get("batch", 0), prod(factors) if len(factors) == 2 else 0
    if each and batch and batch % each == 0:
        said.setdefault("devices", batch // each)
    if len(started) == 1:
        said["started"] = started.pop()
        said.setdefault("devices", said["started"])
    return said


def facts_of(said: dict[str, int], accumulation: int | None = None) -> Facts:
    """Return sizes as the facts of a log."""
    return Facts(
        devices=said.get("devices"),
        started=said.get("started"),
        global_batch=said.get("batch"),
        step_tokens=said.get("step_tokens"),
        accumulation=accumulation,
    )
