"""Reads one cell of a table as a number in our own units, by what its column is."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from scalestudy.importers.cells.units import (
    in_percent,
    is_binary,
    is_in_percent,
    of_another_quantity,
    padded,
    prefix_of,
)
from scalestudy.importers.headers.meaning import Meaning, meaning_of
from scalestudy.importers.headers.ratios import says_percent
from scalestudy.importers.headers.terms import SECONDS
from scalestudy.importers.headers.units import clock_of
from scalestudy.importers.numbers.durations import is_duration_in_words, read_duration
from scalestudy.importers.numbers.printed import SHOWN, Cell, Printed, has_decimal_commas, plain, read_cell
from scalestudy.importers.numbers.repeats import (
    is_estimated,
    mean_of_repeats,
    repeats_in,
    sum_of_parts,
    unit_of_repeats,
)
from scalestudy.importers.published import BATCHES, CLOCKED, MEASURED, RATES, STATED
from scalestudy.importers.quantities import has_several_units, quantity_of, unit_of_time
from scalestudy.importers.ratios.gains import SAVED, is_gain
from scalestudy.importers.raw import RawTable

_LIKE_A_FRACTION = 1.5
"""Largest number without a sign, beside others with a per cent sign, that is a fraction."""
_SECOND_RATIO = re.compile(r"\d.*[(\[] ?~?\d+(?:\.\d+)? ?(?:%|x(?!\w))[^()\[\]\d]*[)\]]")
"""A ratio in brackets behind a number: 175% (88% efficient)."""


def _speedup_of(share: Printed, *, saved: bool) -> Printed:
    """The speedup of a gain, 1.9 for 0.9; saved: of a share of the time that is saved, 2 for 0.5."""
    if not saved:
        return Printed(1 + share.value, share.last)
    if share.value >= 1:
        raise ValueError("no time is left")
    return Printed(1 / (1 - share.value), share.last / (1 - share.value) ** 2)


_MARK = re.compile(r"<sup>(?P<words>[^<>]*[A-Za-z]{2}[^<>]*=[^<>]*)</sup>", re.IGNORECASE)
"""A setting as raised text: `<sup>[BS=96]</sup>`."""
_BEHIND = re.compile(
    r"(?<=\d)(?: ?[a-z]{1,3})? \(~?\d[\d.,]*\)$|"
    r"\((?:(?:then |before )?(?:oom|out of memory|failed|crashed|diverged)|[+-]\d+(?:\.\d+)? ?%|"
    r"(?:[a-z]+ )?(?:batch(?:[ _]size)?|[gm]?bs|seq(?:_?len)?) ?[=:]? ?\d[\d,k]*)\)$",
    re.IGNORECASE,
)
"""Another number, how a run ended, how much faster it was, or its batch, in brackets behind its number."""
_MODEL_BEHIND = re.compile(
    r"\((?P<model>[^()]*\d[\d.]* ?[mbt]\b[^()]*\bmodel|[^()]*\bmodel [^()]+)\)$", re.IGNORECASE
)
"""The model of one row only, behind its number: 438K tok/s (774M model)."""
_OF_NO_TIME = re.compile(
    r"(?:epochs?|steps?|it(?:er(?:ation)?)?s?|updates?|samples?|images?|tokens?|frames?|episodes?)\b(?! ?/)|"
    r"[kmgt](?:ib|b|ibytes|bytes)\b",
    re.IGNORECASE,
)
"""Units of what is no time: ~300 epochs, 27 GiB of memory."""
_STEP = re.compile(r"^\s*\d{1,6} ?(?:->|=>|\u2192) ?\d{1,6} ?: ?")
"""From how many devices to how many a ratio is, in front of it: `2->4: 1.92x`."""
_LIST = re.compile(r"\d{1,6},(?!\d{3}\b)\d{1,6}(?:,\d{1,6})+|\d{1,6}(?:,\d{1,6})+,(?!\d{3}\b)\d{1,6}")
"""Three numbers or more between commas, not all of which separate thousands: 12,1,1,12."""


class CellReader:
    """Reads the cells of one table as numbers; what all cells of a column show counts for each of them."""

    def __init__(self, raw: RawTable, meanings: Sequence[Meaning], notes: dict[str, None]) -> None:
        """notes: what is said of the table, to which the reader adds."""
        self.raw = raw
        self.meanings = meanings
        self.notes = notes
        cells = [[row[place] for _, row in raw.rows if place < len(row)] for place in range(len(meanings))]
        whole = has_decimal_commas(cell for column in cells for cell in column)
        self.listed = [any(map(_LIST.fullmatch, map(plain, column))) for column in cells]
        self.comma = [
            not self.listed[place] and self._commas(place, column, whole=whole)
            for place, column in enumerate(cells)
        ]
        self.signed = [any("%" in cell for cell in column) for column in cells]
        self.percent = list(map(in_percent, cells, meanings, self.comma))
        self.binary = [meanings[place].role in BATCHES and is_binary(column) for place, column in enumerate(cells)]
        self.padded = [
            padded(column) if meanings[place].role in STATED else 0 for place, column in enumerate(cells)
        ]
        rates = [meaning.role in RATES for meaning in meanings]
        self.several_units = [rates[place] and has_several_units(column) for place, column in enumerate(cells)]
        self.gain = [
            is_gain(column, meanings[place]) or meanings[place].per == SAVED for place, column in enumerate(cells)
        ]

    def _commas(self, place: int, cells: Sequence[str], *, whole: bool | None) -> bool:
        """Whether a column has decimal commas. A ratio of 1,923 is one: no speedup is that large and so exact."""
        own = has_decimal_commas(cells)
        if own is None and self.meanings[place].role in (*STATED, "precision_ratio"):
            return any("," in cell for cell in cells)
        return bool(whole if own is None else own)

    def number(self, place: int, text: str, labels: dict[str, str]) -> Printed:
        """Return a number: times in seconds, ratios as fractions. ValueError for others. labels: its row's."""
        meaning = self.meanings[place]
        if meaning.role in (*MEASURED, *STATED) and _SECOND_RATIO.search(plain(text)):
            self._note_second_ratio(plain(text))
        if meaning.role in MEASURED and (mark := _MARK.search(text)):
            self._note_mark("what is raised behind numbers", plain(mark["words"]))
        if meaning.role in MEASURED and is_estimated(text):
            raise ValueError(f"{text} is an estimate")
        if meaning.role in MEASURED and (failed := _BEHIND.search(plain(text))) and not read_duration(text):
            self._note_mark("what is in brackets behind numbers", failed[0].strip())
        if meaning.role in MEASURED and (other := _MODEL_BEHIND.search(plain(text))):
            labels.setdefault("model", other["model"].strip())
        text = _STEP.sub("", mean_of_repeats(text))
        text = re.sub(r"(?<=\d),(?=\d)", ", ", text) if self.listed[place] else text
        hours = clock_of(meaning.header).endswith("m")
        if meaning.role in CLOCKED and (duration := read_duration(text, of_hours=hours)):
            return duration.times(meaning.factor)
        summed = meaning.role in (*CLOCKED, "throughput")
        if summed and (total := sum_of_parts(text, comma=self.comma[place])):
            self._note_once("cells with two numbers and a plus sign are read as their sum", text, total.value)
            text, cell = text.rsplit("+", 1)[-1], Cell(total)
        elif meaning.role in (*MEASURED, *STATED) and (mean := repeats_in(text, comma=self.comma[place])):
            self._note_once("cells with several numbers are read as their mean", text, mean.value)
            cell = replace(read_cell(unit_of_repeats(text), comma=self.comma[place]), printed=mean)
            text = unit_of_repeats(text)
        else:
            cell = read_cell(text, comma=self.comma[place])
        if meaning.role in MEASURED and cell.spread:
            self._note_mark("the spread behind numbers", f"\u00b1 {cell.spread:g}")
        if self.gain[place] and (cell.percent or says_percent(meaning.header)):
            return _speedup_of(cell.printed.times(0.01), saved=meaning.per == SAVED)
        if meaning.role in CLOCKED:
            if _OF_NO_TIME.match(cell.unit):
                raise ValueError(f"{text} is not a time")
            return cell.printed.times(SECONDS.get(unit_of_time(text) or meaning.unit, 1.0) * meaning.factor)
        if meaning.role in STATED:  # the mean of ratios is another number than the ratio of means
            last = cell.printed.last * 10 ** self.padded[place]
            plainly = (
                not self.padded[place] and not cell.spread and bool(re.match(r"\W*\d", text)) and "~" not in text
            )
            cell = replace(cell, printed=Printed(cell.printed.value, max(last, cell.spread), plainly))
        if meaning.role in STATED and of_another_quantity(cell.unit):
            raise ValueError(f"{text} has another unit")
        if self.percent[place]:
            factor = bool(re.match(r"x(?!\w)", cell.unit.lower())) and not is_in_percent(self.raw.cells(place))
            whole = factor or (not cell.percent and cell.printed.value <= _LIKE_A_FRACTION)
            return cell.printed if whole and self.signed[place] else cell.printed.times(0.01)
        if meaning.role in ("throughput", "steps_per_s") and cell.unit:
            said = meaning_of(cell.unit)
            if said.role == "throughput_per_gpu" or said.per == "gpu":
                labels["throughput_unit"] = "/gpu"
            own = said.factor if said.factor != 1 else meaning.factor  # the unit of a cell, or that of the header
            return cell.printed.times(own * prefix_of(cell.unit, self.raw.cells(place)))
        if self.binary[place] and re.fullmatch(r"\d+ ?k", plain(text).lower()):
            return cell.printed.times(1.024)
        return cell.printed.times(meaning.factor)

    def unit_of(self, places: Sequence[int], cells: Sequence[str]) -> str:
        """Return the unit of the throughput of a row, if its column has several: images/s and sentences/s."""
        for place in places:
            if (
                self.several_units[place]
                and place < len(cells)
                and (unit := meaning_of(quantity_of(cells[place])).unit)
            ):
                return unit
        return ""

    def _note_second_ratio(self, text: str) -> None:
        """Note once that the ratios behind numbers are not read."""
        words = "the second number of cells such as"
        if not any(note.startswith(words) for note in self.notes):
            self.notes[f"{words} '{text[:SHOWN]}' is not read"] = None

    def _note_mark(self, what: str, words: str) -> None:
        """Note once that a remark behind numbers is not read."""
        if not any(note.startswith(what) for note in self.notes):
            self.notes[f"{what}, such as '{words[:SHOWN]}', is not read"] = None

    def _note_once(self, words: str, text: str, value: float) -> None:
        """Note once how cells are read, with the first of them as an example."""
        if not any(note.startswith(words) for note in self.notes):
            self.notes[f"{words}, such as '{plain(text)[:SHOWN]}' as {value:.4g}"] = None

    def is_without_unit(self, meaning: Meaning) -> bool:
        """Return whether neither the header nor a cell of a column of times has a unit."""
        known = meaning.unit or clock_of(meaning.header) or meaning.role not in CLOCKED
        cells = self.raw.cells(self.meanings.index(meaning))
        named = (
            unit_of_time(cell) or is_duration_in_words(cell) or unit_of_time(unit_of_repeats(cell))
            for cell in cells
        )
        return not known and not any(named)
