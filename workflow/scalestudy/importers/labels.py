"""What columns are by their labels and by the caption: strategies, measurements."""

from __future__ import annotations

import re
from dataclasses import replace

from scalestudy.importers.cells import plain, read_cell, share
from scalestudy.importers.headers import Meaning, meaning_of, never_a_label, normal, with_role
from scalestudy.importers.published import MEASURED, RATES, STATED, TIMES
from scalestudy.importers.raw import RawTable
from scalestudy.importers.terms import STRATEGIES

MOST_OF = 0.75
"""Share of the cells of a column that show what it is."""
_PRECISION = re.compile(r"\b(?:(?:fp|float|bf|bfloat|tf)-?\d{1,2}|amp|mixed(?: precision)?)\b", re.IGNORECASE)
_WAY = re.compile(
    r"(?:(?:serial|sequential|parallel|single|multi|baseline|distributed|process|threaded|gpu)[ -]?)+"
)
_INSTANCE = re.compile(r"(?P<family>[a-z]{1,4}\d+[a-z]*)\.(?:metal|\d*x?large)(?:-\d+\w*)?", re.IGNORECASE)


def strategies(meanings: list[Meaning], raw: RawTable, said: set[str]) -> list[Meaning]:
    """Reads a column of labels as the strategy if most of them name one, such as FSDP or ZeRO."""
    if any(meaning.role == "strategy" for meaning in meanings):
        return meanings
    for place, meaning in enumerate(meanings):
        cells = raw.cells(place)
        named = sum(bool(STRATEGIES.search(plain(cell))) for cell in cells)
        if meaning.role in ("label", "ignore") and normal(meaning.header) not in said and named > len(cells) / 2:
            return with_role(meanings, place, "strategy")
    return meanings


def by_caption(meanings: list[Meaning], raw: RawTable, said: set[str]) -> list[Meaning]:
    """Reads columns of numbers as what the caption or the heading is of, if no header names a measurement."""
    if any(meaning.role in (*MEASURED, *STATED) for meaning in meanings):
        return meanings
    own = next((named for words in raw.captions if (named := _named_in(words))), None)
    if own is None:
        return meanings
    result = []
    for place, meaning in enumerate(meanings):
        cells = raw.cells(place)
        plausible = meaning.role in ("ignore", "label", "strategy", "framework", "model") and place > 0
        numbers = cells and share(cells, read_cell) >= MOST_OF and not never_a_label(meaning.header)
        if plausible and numbers and normal(meaning.header) not in said:
            rest = normal(meaning.header)
            meaning = replace(own, header=meaning.header, precisions=meaning.precisions, rest=rest)
        result.append(meaning)
    return result


def _named_in(words: str) -> Meaning | None:
    """The measurement that a caption names with its unit: 'Throughput (images/s)'."""
    for part in (
        words,
        *re.findall(r"[(\[\uff08]([^()\[\]\uff08\uff09]+)[)\]\uff09]", words),
        *re.split(r"[:,;\uff1a]| of ", words),
    ):
        found = meaning_of(part.strip()) if part else None
        if found and found.role in (*RATES, "steps_per_s", *TIMES, *STATED):
            return found
    return None


def framework_of(label: str) -> str:
    """Return the framework that a label names; '' for a way to run, such as Serial or Parallel (run.py)."""
    words = re.sub(r"\(.*?\)", "", plain(label)).strip().lower()
    return "" if _WAY.fullmatch(words) else label


def hardware_of(label: str) -> str:
    """Return the hardware that a label names; '' for a strategy or a precision.

    Instances of a cloud that differ in their size have the same devices: p3.2xlarge and p3.8xlarge.
    """
    words = STRATEGIES.sub("", _PRECISION.sub("", label))
    return _INSTANCE.sub(lambda found: found["family"], words) if re.search(r"\w", words) else ""
