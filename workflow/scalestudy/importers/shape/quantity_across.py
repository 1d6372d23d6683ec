"""What the numbers below devices across are: by their units, by the headers, or by the text above the table."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from scalestudy.importers.counts.headers import count_of_header
from scalestudy.importers.headers.meaning import TEXTS, is_utilization, meaning_of
from scalestudy.importers.headers.units_in_words import measured_said
from scalestudy.importers.numbers.printed import is_blank, plain, read_cell, share
from scalestudy.importers.published import BATCHES, MEASURED, STATED
from scalestudy.importers.quantities import quantity_of
from scalestudy.importers.ratios.whose import is_over_another
from scalestudy.importers.raw import UNSAID, RawTable
from scalestudy.importers.shape.quantities_of_rows import quantity_of_names
from scalestudy.importers.shape.ratios_across import size_of

_LARGEST = 2000.0
"""What is above this is no speedup and no efficiency in per cent."""
_FAR = 0.1
"""How far the ratio of one device may be from 1."""
_MOST_WORDS = 6
"""Words of a caption that says that numbers are ratios. A longer one may speak of other numbers."""
_LONGEST_NAME = 40
"""Characters of a sentence that is the name of a quantity as it is."""
_RATE_INSIDE = re.compile(r"[(\[]([A-Za-z]+(?:/| per )s(?:ec|econd)?)[)\]]")
_NO_QUANTITIES = ("ignore", "gpus", "nodes", "gpus_per_node", *BATCHES, *TEXTS)
"""What the header of the first column may be, which says nothing of the numbers beside it."""


def with_measured_base(table: RawTable, across: dict[int, tuple[str, str]]) -> dict[int, tuple[str, str]]:
    """Return columns of devices whose fewest have a measurement each, and all others speedups: 6.5 ms, 1.9x, 3.6x.

    across: place -> (devices, other words).
    """
    base = min(across, key=lambda place: size_of(across[place][0]))
    kinds = {place: {quantity_of(cell) for cell in table.cells(place)} for place in across}
    own, others = kinds[base], [kinds[place] for place in across if place != base]
    measured = len(own) == 1 and meaning_of(next(iter(own))).role in MEASURED
    if not measured or any(words for _, words in across.values()) or any(one != {"speedup"} for one in others):
        return across
    return {
        place: (devices, next(iter(own)) if place == base else "speedup") for place, (devices, _) in across.items()
    }


def _may_be_ratios(table: RawTable, across: Sequence[int]) -> bool:
    """Whether no number below devices is too large for a ratio, and those of one device are 1 or 100 %."""
    for place in across:
        count = count_of_header(table.header[place])
        values = [read_cell(cell).printed.value for cell in table.cells(place) if share([cell], read_cell)]
        if any(value > _LARGEST for value in values):
            return False
        of_one = count is not None and count[0].gpus == 1
        if of_one and not all(abs(value - 1) < _FAR or abs(value - 100) < 100 * _FAR for value in values):
            return False
    return True


def quantity_across(table: RawTable, across: Sequence[int]) -> str:
    """Return what the cells of a table with devices across hold: by their units, else by headers and headings."""
    cells = [cells[place] for _, cells in table.rows for place in across if place < len(cells)]
    cells = [cell for cell in cells if not is_blank(cell)]
    own = [named for cell in cells if (named := quantity_of(cell))]
    if own and max(own, key=own.count) == "speedup":
        over = next((words for words in table.captions if is_over_another(words)), "")
        own = [over] * len(own) if over else own
    if {*own} == {"efficiency"} and (
        of_peak := [words for words in (*table.captions, table.header[0]) if _is_of_the_peak(words)]
    ):
        return of_peak[-1]
    if own and len(own) > len(cells) / 2:
        rates = {*own} if all(meaning_of(one).role == "throughput" for one in own) else set()
        return "throughput" if len(rates) > 1 else max(own, key=own.count)  # each row has its own unit
    if len({*own}) == 1 and meaning_of(own[0]).role in MEASURED and _is_in_each_row(table, across, own[0]):
        return own[0]  # the last cell of each row has the unit: 14.5M | 26.9M ops/s
    if named := quantity_of_names(table.cells(0)):
        return named
    inside: list[str] = re.findall(r"[(\[]([^)\]]+)[)\]]", table.header[0])
    captions = [words for words in table.sentences if meaning_of(words).role != "scaling_ratio"]
    ratios = _may_be_ratios(table, across)
    captions = [
        words
        for words in captions
        if meaning_of(words).role not in STATED or (ratios and len(words.split()) <= _MOST_WORDS)
    ]
    units = [unit for words in table.captions for unit in re.findall(r"[(\[]([a-z]+)[)\]]", words.lower())]
    times = [f"time ({unit})" for unit in units if meaning_of(f"time ({unit})").unit]
    inner: list[str] = [unit for words in table.captions for unit in _RATE_INSIDE.findall(words)]
    batches = any(meaning_of(name).role in BATCHES for name in table.header)
    captions = [_shortened(words if batches else _of_all_steps(words)) for words in captions]
    for words in (*inside, table.header[0], *captions, *times, *inner):
        if words and (meaning_of(words).role not in _NO_QUANTITIES or _is_of_the_peak(words)):
            return words
    return measured_said(table.said) or UNSAID


def _is_in_each_row(table: RawTable, across: Sequence[int], quantity: str) -> bool:
    """Whether each row has a cell with the unit of a quantity, and its other cells are numbers without one.

    The headers differ in their numbers only.
    """
    if len({re.sub(r"\d+|s\b", "", plain(table.header[place]).lower()) for place in across}) > 1:
        return False
    for _, cells in table.rows:
        own = [cells[place] for place in across if place < len(cells) and not is_blank(cells[place])]
        bare = [cell for cell in own if quantity_of(cell) != quantity]
        if len(bare) == len(own) or any(not share([cell], read_cell) or read_cell(cell).unit for cell in bare):
            return False
    return True


def _is_of_the_peak(words: str) -> bool:
    """Whether a short text is the name of a share of the peak FLOP/s: MFU."""
    return is_utilization(words) and len(words.split()) <= _MOST_WORDS


def _of_all_steps(words: str) -> str:
    """A name for the whole time of several steps, if a sentence is of that: Time for 1000 iterations (s)."""
    meaning = meaning_of(words)
    if meaning.role != "step_time_s" or meaning.factor == 1:
        return words
    return f"time ({meaning.unit})" if meaning.unit else "time"


def _shortened(words: str) -> str:
    """A name for a sentence on the quantity of a table, if the name says as much of it."""
    meaning = meaning_of(words)
    kinds = {
        "time_s": "time",
        "total_time_s": "epoch time",
        "throughput": "throughput",
        "throughput_per_gpu": "throughput per GPU",
    }
    kind = kinds.get(meaning.role)
    of_another = kind == kinds["total_time_s"] and "epoch" not in words.lower()
    if len(words) <= _LONGEST_NAME or not kind or of_another:
        return words
    name = f"{kind} ({meaning.unit})" if meaning.unit else kind
    return (
        name
        if replace(meaning_of(name), header="", scaling="") == replace(meaning, header="", scaling="")
        else words
    )
