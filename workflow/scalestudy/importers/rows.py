"""Reads the rows of a table: cells to numbers in our own units, words to labels."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from scalestudy.importers.cells.reader import CellReader
from scalestudy.importers.columns.one_variant import of_one_variant
from scalestudy.importers.columns.sizes import growing_size, odd_size, scaling_beside
from scalestudy.importers.counts.cells import CHANGE, Count, read_count
from scalestudy.importers.counts.instances import devices_of_instance, family_of_instance
from scalestudy.importers.counts.labels import count_in_words, each_node, names_one, pairs_in
from scalestudy.importers.counts.of_one_node import with_node
from scalestudy.importers.devices.found import of_kind
from scalestudy.importers.devices.hardware import of_one_hardware, one_of_its_kind
from scalestudy.importers.devices.listed import ids_in, with_placements_of_products
from scalestudy.importers.devices.serial_rows import OF_ONE, is_only_serial, is_outside
from scalestudy.importers.headers.meaning import IDS, IN_WORDS, INSTANCES, TEXTS, Meaning, normal
from scalestudy.importers.headers.scalings import scaling_of_title
from scalestudy.importers.numbers.printed import (
    BEGINS_WITH_NUMBER,
    SHOWN,
    Printed,
    is_blank,
    is_ditto,
    plain,
    says_base,
    says_failed,
)
from scalestudy.importers.numbers.repeats import why_unread
from scalestudy.importers.published import (
    BY_TABLE,
    CLOCKED,
    FOOTNOTE,
    MEASURED,
    STATED,
    PrecisionRatio,
    PublishedRow,
    PublishedTable,
)
from scalestudy.importers.ratios.whose import run_lengths
from scalestudy.importers.raw import RawTable
from scalestudy.importers.shape.centred import begins_group
from scalestudy.importers.shape.not_measured import rows_not_measured
from scalestudy.importers.shape.variants import Variant, own_part

_MOST_NOTES = 20
_KINDS = ("weak", "strong")


class Reader:
    """Reads the rows of one table, once per variant."""

    def __init__(self, raw: RawTable, meanings: Sequence[Meaning]) -> None:
        self.raw = raw
        self.meanings = meanings
        self.notes: dict[str, None] = {}
        self.noted: set[int] = set()
        self._known_pairs: dict[int, frozenset[tuple[int, int]]] = {}
        self._not_measured = rows_not_measured(raw, meanings)
        self._footnotes = {line: {FOOTNOTE: text} for line, text in raw.footnotes}
        self.lengths = run_lengths(meanings, raw)
        self.cells = CellReader(raw, meanings, self.notes)
        roles = {meaning.role for meaning in meanings}
        self._is_outside = partial(
            is_outside, raw, has_ratios=bool(roles & {*STATED}), has_labels=bool(roles & {*TEXTS})
        )

    def first_note(self) -> str:
        """Return the first thing that was left out."""
        return next(iter(self.notes), "all of its cells are empty")

    def _few_notes(self) -> tuple[str, ...]:
        notes = tuple(self.notes)
        more = len(notes) - _MOST_NOTES
        return notes if more <= 0 else (*notes[:_MOST_NOTES], f"{more} further cells or rows were left out")

    def table(self, variant: Variant) -> PublishedTable:
        """Return the rows of a variant."""
        rows, outside, ratios = [], [], []
        above: dict[int, str] = {}
        for line, cells in self.raw.rows:
            row = self._row(line, cells, variant, above)
            if row is not None and row.gpus == 0:
                outside.append(row)
            elif row is not None:
                rows.append(row)
                ratios += self._ratio(row, cells, variant)
        columns = [self.meanings[place] for place in variant.places]
        *around, own = ("", *self.raw.headings)
        contexts = (" ".join((own, self.raw.caption, self.raw.below)), *reversed(around))
        named = next(filter(None, map(scaling_of_title, contexts)), [])
        scaling = {*named, *(one.scaling for one in columns)} - {""}
        beside, by = ("", BY_TABLE) if scaling else scaling_beside(self.raw, columns, self.meanings, rows)
        size, of_each = growing_size(self.raw, self.meanings, rows)
        return PublishedTable(
            name=variant.name,
            line=self.raw.line,
            rows=of_one_hardware(with_placements_of_products(of_one_variant(rows))),
            columns=tuple(columns),
            scaling=scaling.pop() if len(scaling) == 1 else beside,
            scaling_by=by,
            unknown_units=frozenset(one.role for one in columns if self.cells.is_without_unit(one)),
            notes=self._few_notes(),
            ratios=tuple(ratios),
            outside=tuple(outside),
            growing_size=size,
            grows_as_devices=of_each,
            odd_size=odd_size(self.raw, self.meanings, rows),
            by_case=any(meaning.role == "case" for meaning in columns),
        )

    def _row(
        self, line: int, cells: Sequence[str], variant: Variant, above: dict[int, str]
    ) -> PublishedRow | None:
        if (line, cells) in self._not_measured:
            self.notes[f"line {line} is marked as failed or not measured, so it was left out"] = None
            return None
        if not self._has_number(cells):
            self.noted.add(line)
            self.notes[f"line {line} has no number, so it was left out"] = None
            return None
        numbers: dict[str, Printed] = {}
        labels, before = dict(variant.labels), dict(above)
        for place in variant.places:
            meaning, text = self.meanings[place], cells[place] if place < len(cells) else ""
            if meaning.role in TEXTS:
                text = plain(text)
                empty = is_ditto(text) or (is_blank(text) and (not text or meaning.role != "strategy"))
                if text.startswith("+") and re.match(r"\+ ?[A-Za-z]", text) and above.get(-1 - place):
                    text = f"{above[-1 - place]} {text}"  # a variant of the row above
                elif not empty:
                    above[-1 - place] = text
                begins = (
                    empty and text and not is_ditto(text) and begins_group(self.meanings, cells, place, before)
                )
                above[place] = text = "" if begins else above.get(place, "") if empty else text
                name = meaning.role if meaning.role != "label" else normal(meaning.header)
                labels[name] = text
            elif not is_blank(text) and not (meaning.role in STATED and says_base(text)):
                self._number(line, place, text, variant, numbers, labels)
            elif meaning.role in MEASURED and says_failed(text):
                self._leave_out(line, meaning, f"'{plain(text)}' instead of a number")
        if self.lengths is not None and (time := numbers.get("total_time_s")):
            counted = plain(self.meanings[self.lengths].header)
            self.notes[f"the times are of different numbers of {counted} and are divided by them"] = None
            numbers["total_time_s"] = time.times(1 / int(plain(cells[self.lengths]).replace(",", "")))
        gpus = self._devices(line, cells, numbers)
        if gpus is None and self._is_base_of_all(line, cells, numbers):
            gpus = 0
        if gpus is None or not set(numbers) & {*MEASURED, *STATED}:
            return None
        if "throughput" in numbers and labels.get("throughput_unit", "").lower().endswith(("/gpu", "/device")):
            numbers["throughput"] = numbers["throughput"].times(gpus)
        if labels.get("scaling"):
            labels["scaling"] = next((kind for kind in _KINDS if kind in labels["scaling"].lower()), "")
        own, unit = labels | self._footnotes.get(line, {}), self.cells.unit_of(variant.places, cells)
        return PublishedRow(line, gpus, numbers, own, unit)

    def _has_number(self, cells: Sequence[str]) -> bool:
        """Whether a row has a number below a header that is not of words; a second line of headers has none."""
        places = [place for place, meaning in enumerate(self.meanings) if meaning.role not in (*TEXTS, "ignore")]
        filled = [cells[place] for place in places if place < len(cells) and not is_blank(cells[place])]
        return not filled or any(BEGINS_WITH_NUMBER.match(plain(cell)) for cell in filled)

    def _number(
        self,
        line: int,
        place: int,
        text: str,
        variant: Variant,
        numbers: dict[str, Printed],
        labels: dict[str, str],
    ) -> None:
        meaning = self.meanings[place]
        quoted = f"'{text}'" if len(text) <= SHOWN else f"'{text[:SHOWN]}...'"
        try:
            if meaning.role == "gpus" and meaning.per != IDS and self._is_outside(text, place):
                numbers["gpus"] = Printed(0.0)
                text = "is a serial run or on no device, so it is no scale; printed ratios may be relative to it"
                self.notes[f"line {line} {text}"] = None
            elif meaning.role in ("gpus", "nodes", "gpus_per_node"):
                count = self._count(place, text)
                if not is_only_serial(text, self.raw.cells(place)):
                    count = of_kind(count, text, self.raw.values(place))
                    serial = plain(text) if OF_ONE.match(plain(text)) and count.gpus == 1 else ""
                    count = replace(count, words=count.words or serial)
                numbers[meaning.role] = Printed(count.gpus)
                if meaning.role == "gpus":
                    if count.nodes is not None:
                        numbers.setdefault("nodes", Printed(count.nodes))
                    said = {"hardware": count.hardware, "strategy": count.words, "model": count.model}
                    for name, words in {**said, "comment": count.comment}.items():
                        if words:
                            labels.setdefault(name, words)
            else:
                part = own_part(text, meaning, variant)
                number = self.cells.number(place, part, labels)
                if meaning.role in MEASURED or number.value > 0:  # the audit has a finding for a measured 0
                    numbers[meaning.role] = number
                else:
                    self._leave_out(line, meaning, f"{quoted} is not above 0")
        except ValueError as error:
            why = str(error) if meaning.role in ("gpus", "nodes", "gpus_per_node") and len(text) <= SHOWN else ""
            named = "whole number" in why or "names no" in why or why.endswith("is not a number of devices")
            self._leave_out(line, meaning, why if named else f"{quoted} {why_unread(text)}")

    def _is_base_of_all(self, line: int, cells: Sequence[str], numbers: dict[str, Printed]) -> bool:
        """Whether a row without a number of devices is what the speedups are over: `original`, 247 s, 1.00x."""
        named = next((one for one in self.meanings if one.role == "gpus"), None)
        speedup = numbers.get("printed_speedup")
        if named is None or speedup is None or speedup.value != 1 or not set(numbers) & {*MEASURED}:
            return False
        start = f"line {line}, {plain(named.header)[:SHOWN]}: "
        cell = next((cell for one, cell in zip(self.meanings, cells, strict=False) if one is named), "")
        if CHANGE.search(plain(cell)) or not (
            is_blank(cell) or any(note.startswith(start) for note in self.notes)
        ):
            return False
        self.notes = {note: None for note in self.notes if not note.startswith((start, f"line {line}: no number"))}
        self.cells.notes = self.notes
        return True

    def _leave_out(self, line: int, meaning: Meaning, why: str) -> None:
        self.noted.add(line)
        self.notes[f"line {line}, {plain(meaning.header)[:SHOWN]}: {why}, so the cell was left out"] = None

    def _count(self, place: int, text: str) -> Count:
        meaning = self.meanings[place]
        if meaning.role == "nodes":
            bare = re.sub(r"\s*(?:nodes?|hosts?|machines?)$", "", plain(text))
            return read_count(bare if bare.isdecimal() else text)
        if meaning.per == IDS:
            return Count(len(ids_in(text)))
        if meaning.per == INSTANCES and (gpus := devices_of_instance(text)):
            self.notes[
                f"'{plain(text)[:SHOWN]}' has {gpus} device{'' if gpus == 1 else 's'} by its provider's list"
            ] = None
            return Count(gpus, hardware=family_of_instance(text))
        if one := one_of_its_kind(text, self.raw.values(place)):
            return one
        if meaning.per == IN_WORDS:
            return self._on_nodes(self._named(text, self.raw.cells(place)), text, place)
        return self._on_nodes(read_count(text), text, place)

    def _on_nodes(self, count: Count, text: str, place: int) -> Count:
        """The devices of a cell that names nodes, by what other cells say of a node."""
        return each_node(with_node(count, text, self.raw.values(place)), self._pairs(place))

    def _pairs(self, place: int) -> frozenset[tuple[int, int]]:
        """The nodes and devices that the cells of a column name."""
        if place not in self._known_pairs:
            self._known_pairs[place] = pairs_in(self.raw.values(place))
        return self._known_pairs[place]

    def _named(self, text: str, cells: Sequence[str]) -> Count:
        """The devices that a label names; one if it names none, as a baseline beside labels of several."""
        try:
            count = count_in_words(text)
            # the only serial row is the baseline of all others, also with a name of its own: `Serial CNN (CPU)`
            return replace(count, words="") if is_only_serial(text, cells) and count.gpus == 1 else count
        except ValueError:
            if names_one(cells):
                raise ValueError(f"'{plain(text)}' names no number of devices") from None
            self.notes[f"'{plain(text)[:SHOWN]}' names no number of devices and is read as one"] = None
            return Count(1, words=plain(text))

    def _devices(self, line: int, cells: Sequence[str], numbers: dict[str, Printed]) -> int | None:
        """The number of devices; nodes if the table has no column of devices."""
        if "gpus" in numbers:
            return int(numbers.pop("gpus").value)
        if "nodes" in numbers and all(meaning.role != "gpus" for meaning in self.meanings):
            each = numbers.get("gpus_per_node")
            if each is None:
                self.notes["scales are nodes: the table does not say how many devices a node has"] = None
            return int(numbers["nodes"].value * (each.value if each else 1))
        if any(not is_blank(cell) for cell in cells) and line not in self.noted:
            self.notes[f"line {line}: no number of devices, so the row was left out"] = None
        return None

    def _ratio(self, row: PublishedRow, cells: Sequence[str], variant: Variant) -> list[PrecisionRatio]:
        """The printed speedup of a precision, if this variant is the one that it is checked with."""
        printed = row.numbers.get("precision_ratio")
        if printed is None or variant.pair is None:
            return []
        first, second = variant.pair
        try:
            numbers = self.cells.number(first, cells[first], {}), self.cells.number(second, cells[second], {})
        except (ValueError, IndexError):
            return []
        names = [meaning.precisions for meaning in (self.meanings[first], self.meanings[second])]
        both = (names[0][0] if len(names[0]) == 1 else "", names[1][0] if len(names[1]) == 1 else "")
        return [PrecisionRatio(row.line, row.gpus, printed, *numbers, both, self.meanings[first].role in CLOCKED)]
