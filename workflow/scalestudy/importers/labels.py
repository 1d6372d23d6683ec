"""What columns are by their labels and by the caption: devices that labels name, strategies, measurements."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from scalestudy.importers.cells import plain, read_cell
from scalestudy.importers.counts import count_in_words, read_count
from scalestudy.importers.headers import IN_WORDS, Meaning, meaning_of, never_a_label, normal
from scalestudy.importers.published import MEASURED, STATED
from scalestudy.importers.raw import RawTable
from scalestudy.importers.terms import STRATEGIES

FIRST = 3
"""Columns at the left that labels may be in."""
MOST_OF = 0.75
"""Share of the cells of a column that show what it is."""
RATES = ("throughput", "throughput_per_gpu")


def strategies(meanings: list[Meaning], raw: RawTable, said: set[str]) -> list[Meaning]:
    """Reads a column of labels as the strategy if most of them name one, such as FSDP or ZeRO."""
    if any(meaning.role == "strategy" for meaning in meanings):
        return meanings
    for place, meaning in enumerate(meanings):
        cells = raw.cells(place)
        named = sum(bool(STRATEGIES.search(plain(cell))) for cell in cells)
        if meaning.role in ("label", "ignore") and normal(meaning.header) not in said and named > len(cells) / 2:
            return [*meanings[:place], replace(meaning, role="strategy"), *meanings[place + 1 :]]
    return meanings


def devices_of_labels(meanings: list[Meaning], raw: RawTable) -> list[Meaning]:
    """Reads the number of devices from one of the first columns, if all of its labels name one."""
    for read, per in ((read_count, ""), (count_in_words, IN_WORDS)):
        for place, meaning in enumerate(meanings[:FIRST]):
            cells = raw.cells(place)
            if meaning.role not in ("hardware", "label", "case", "ignore", "strategy") or len(cells) < 2:
                continue
            named = [cell for cell in cells if not plain(cell).isdecimal() or meaning.role == "hardware"]
            counts = {read(cell).gpus for cell in named if share([cell], read)}
            enough = share(named, read) >= (MOST_OF if not per else 1.0)
            if enough and len(named) == len(cells) and (not per or len(counts) > 1):
                return [*meanings[:place], replace(meaning, role="gpus", per=per), *meanings[place + 1 :]]
    return meanings


def by_caption(meanings: list[Meaning], raw: RawTable, said: set[str]) -> list[Meaning]:
    """Reads columns of numbers as what the caption or the heading is of, if no header names a measurement."""
    if any(meaning.role in (*MEASURED, *STATED) for meaning in meanings):
        return meanings
    own = next((named for words in (raw.caption, *raw.headings[::-1]) if (named := _named_in(words))), None)
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
        if found and found.role in (*RATES, "steps_per_s", "step_time_s", "total_time_s", "time_s", *STATED):
            return found
    return None


def share(cells: Sequence[str], read: Callable[[str], object]) -> float:
    """Return the share of cells that can be read."""
    readable = 0
    for cell in cells:
        try:
            read(cell)
            readable += 1
        except ValueError:
            continue
    return readable / len(cells) if cells else 0.0
