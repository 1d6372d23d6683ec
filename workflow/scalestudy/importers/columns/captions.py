"""What the caption or the heading of a table says of its columns of numbers, if no header names a measurement."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

from scalestudy.importers.columns.labels import MOST_OF, is_length
from scalestudy.importers.counts.labels import count_or_none
from scalestudy.importers.devices.degrees import is_degree
from scalestudy.importers.devices.found import devices_of_labels
from scalestudy.importers.headers.batches import without_batches_of_each
from scalestudy.importers.headers.meaning import (
    Meaning,
    meaning_of,
    never_a_label,
    normal,
    place_of_devices,
    with_role,
)
from scalestudy.importers.headers.terms import DEVICE, ONE_EACH
from scalestudy.importers.headers.units import factor_alone
from scalestudy.importers.headers.units_in_words import measured_said
from scalestudy.importers.numbers.printed import plain, read_cell, share
from scalestudy.importers.published import BATCHES, MEASURED, RATES, STATED, TIMES
from scalestudy.importers.quantities import quantity_of
from scalestudy.importers.ratios.columns import CLOSE, without_quotients
from scalestudy.importers.ratios.following import POWERS, following
from scalestudy.importers.ratios.of_two_columns import is_of_two_columns
from scalestudy.importers.ratios.serial import is_serial
from scalestudy.importers.raw import UNSAID, RawTable

_OF_DEVICES = re.compile(rf"\d{{1,6}} ?-?{DEVICE}\b", re.IGNORECASE)
_OF_WHAT = ("step_time_s", "total_time_s")
_BARE_TIME = re.compile(
    r"(?:(?:wall|wall-clock|elapsed|run|real)[ -]?)?(?:time|duration|t)(?: ?[(\[][a-z]{1,7}[)\]])?"
)
"""Headers that do not say what a time is of."""
_FREE = ("ignore", "label", "strategy", "framework", "model")
"""Roles of columns that may be measurements which only the text names."""
_DEGREE = re.compile(r"\d{1,2}|128|256|512")
_MOST_TIMES = 1.5
"""Times its devices, a number above this is no speedup."""
_OF_ONE = 0.1
"""How far the ratio of one device may be from 1."""
_GROWN = 1.5
"""Ratio of the speedups on the most and on the fewest devices from which they grow."""


def times_by_caption(meanings: list[Meaning], raw: RawTable, said: set[str]) -> list[Meaning]:
    """Reads `Time` as that of a step or of an epoch, if the caption says which: Time for 1000 iterations.

    That of several steps stays the time of all of them, unless a batch beside it is that of one step.
    """
    near = filter(None, (raw.below, raw.caption, raw.opening, *raw.headings[-1:]))
    own = next((named for words in near if (named := _named_in(words)) and named.role in _OF_WHAT), None)
    times = [at for at, one in enumerate(meanings) if one.role in TIMES]
    if own is None or len(times) != 1 or not _BARE_TIME.fullmatch(normal(meanings[times[0]].header)):
        return meanings
    time = meanings[times[0]]
    if time.role != "time_s" or normal(time.header) in said:
        return meanings
    unit = time.unit or own.unit
    if own.factor != 1 and not _has_batch(meanings):
        return with_role(meanings, times[0], time.role, unit=unit)
    return with_role(meanings, times[0], own.role, factor=own.factor, unit=unit)


def note_on_several_steps(meanings: Sequence[Meaning]) -> list[str]:
    """Return a note if the times of several steps, as a caption calls them, are divided by their number."""
    for one in meanings:
        if one.role == "step_time_s" and one.factor < meaning_of(one.header).factor:
            steps = round(1 / one.factor)
            return [f"the text calls '{plain(one.header)}' the time of {steps} steps, so it is divided by them"]
    return []


def by_caption(meanings: list[Meaning], raw: RawTable, said: set[str]) -> list[Meaning]:
    """Reads columns of numbers as what the caption or the heading is of, if no header names a measurement.

    A rate is that of columns with a factor too, such as `ViT (k)` beside `GPT (tokens/s)`.
    """
    before, meanings = meanings, without_quotients(meanings, raw, said, fewest=2)
    several = [at for at, one in enumerate(meanings) if len(raw.cells(at)) > 1 or one.role in MEASURED]
    # a ratio of one row names no measurement, nor does one of two columns of the row
    known = [meanings[at] for at in several if not _is_of_another_column(meanings[at], raw)]
    measured = any(one.role in MEASURED for one in known) and UNSAID not in raw.header
    if measured and all(factor_alone(normal(name)) == 1 for name in raw.header):
        return before
    only_ratios = any(one.role in STATED for one in known) and UNSAID not in raw.header
    near = {raw.below, raw.caption, raw.opening, *raw.headings[-1:]}
    found = [(words, named) for words in raw.captions if (named := _named_in(words))]
    # `Scaling` in the title of a whole document says nothing of one of its tables
    for words, own in found:
        of_others = (only_ratios and own.role in STATED) or (measured and own.role not in RATES)
        if (words in near or own.role not in STATED) and not of_others:
            columns = before if measured else meanings
            result = _of_the_caption(words, own, raw, columns, said, measured=measured, only_ratios=only_ratios)
            if result != columns:
                return result
    return before


def _of_the_caption(
    words: str,
    own: Meaning,
    raw: RawTable,
    meanings: list[Meaning],
    said: set[str],
    *,
    measured: bool,
    only_ratios: bool,
) -> list[Meaning]:
    """The columns. Those that may be what the text names are read as it.

    words: the text. own: what it names. measured: whether headers name a measurement. only_ratios: whether they
    name ratios only.
    """
    below = own.role == "printed_speedup" and (is_serial(words) or _begins_at_one(raw, meanings))
    own = _of_all_steps(own, meanings)
    result = []
    for place, meaning in enumerate(meanings):
        factor = factor_alone(normal(meaning.header))
        read = not (measured and factor == 1) and normal(meaning.header) not in said
        numbers = read and _may_be_measured(place, meaning, meanings, raw)
        ratios = own.role not in STATED and _are_ratios(raw.cells(place))
        ratios = ratios or (own.role in STATED and not _may_be_ratios(raw, place, meanings, below=below))
        ratios = ratios or (only_ratios and not (numbers and _explains(place, own, raw, meanings)))
        result.append(_as(own, meaning) if numbers and not ratios else meaning)
    return result


def by_stated_unit(meanings: list[Meaning], raw: RawTable, said: set[str]) -> list[Meaning]:
    """Reads columns of numbers as what a sentence gives the unit of, if nothing is measured: `Times are in ms`."""
    if any(one.role in (*MEASURED, *STATED) for one in meanings) or place_of_devices(meanings) is None:
        return meanings
    if not (named := measured_said(raw.said)):
        return meanings
    return _of_the_caption(named, meaning_of(named), raw, meanings, said, measured=False, only_ratios=False)


def _of_all_steps(own: Meaning, meanings: Sequence[Meaning]) -> Meaning:
    """What a caption is of; the whole time of several steps, unless a batch is that of one step."""
    several = own.role == "step_time_s" and own.factor != 1
    return replace(own, role="time_s", factor=1.0) if several and not _has_batch(meanings) else own


def _has_batch(meanings: Sequence[Meaning]) -> bool:
    return any(one.role in BATCHES for one in meanings)


def _as(own: Meaning, meaning: Meaning) -> Meaning:
    """A column as the measurement that the text names. It keeps its header, and its factor if it has one."""
    rest, factor = normal(meaning.header), factor_alone(normal(meaning.header))
    factor = own.factor if factor == 1 else factor
    return replace(own, header=meaning.header, precisions=meaning.precisions, rest=rest, factor=factor)


def _may_be_measured(place: int, meaning: Meaning, meanings: Sequence[Meaning], raw: RawTable) -> bool:
    """Whether a column that nothing else names has numbers that are no devices, degrees, lengths or quotients."""
    cells = raw.cells(place)
    across = UNSAID in raw.header and raw.header[place] != UNSAID  # beside the numbers below the devices
    if place == 0 or across or meaning.role not in _FREE or never_a_label(meaning.header) or not cells:
        return False
    degrees = is_degree(meaning.header) and all(map(_DEGREE.fullmatch, map(plain, cells)))
    if degrees or is_length(normal(meaning.header)) or is_of_two_columns(raw, place, meanings):
        return False
    return share(cells, read_cell) >= MOST_OF and not any(_OF_DEVICES.match(plain(cell)) for cell in cells)


def _are_ratios(cells: Sequence[str]) -> bool:
    return all(quantity_of(cell) in ("efficiency", "speedup") for cell in cells)


def _explains(place: int, own: Meaning, raw: RawTable, meanings: Sequence[Meaning]) -> bool:
    """Whether all printed ratios of a table follow from a column of numbers, as the measurement that `own` is."""
    devices = place_of_devices(meanings)
    ratios = [at for at, one in enumerate(meanings) if one.role in POWERS]
    if devices is None or not ratios:
        return False
    read_as = [*meanings[:place], replace(own, header=meanings[place].header), *meanings[place + 1 :]]
    found = [
        following(
            raw,
            read_as,
            (devices, place, ratio),
            of_times=own.role in TIMES,
            close=CLOSE,
            power=POWERS[meanings[ratio].role],
        )
        for ratio in ratios
    ]
    return all(one and all(one) for one in found)


def _is_of_another_column(meaning: Meaning, raw: RawTable) -> bool:
    """Whether a header of a ratio has the header of another column in it: `Speedup of FSDP` beside `FSDP`."""
    words = f" {normal(meaning.header)} "
    return meaning.role in STATED and any(
        f" {other} " in words
        for name in raw.header
        if (other := normal(name)) != normal(meaning.header) and meaning_of(name).role in ("ignore", "strategy")
    )


def _begins_at_one(raw: RawTable, meanings: Sequence[Meaning]) -> bool:
    """Whether a column that nothing else names has ratios of about 1 on one device, which grow."""
    free = [at for at, one in enumerate(meanings) if one.role in ("ignore", "strategy", "framework", "model")]
    return any(_may_be_ratios(raw, at, meanings) and _grow(_ratios(raw, at, meanings)) for at in free)


def _may_be_ratios(raw: RawTable, place: int, meanings: Sequence[Meaning], *, below: bool = False) -> bool:
    """Whether no number of a column is far above its devices, so that it may be a speedup or an efficiency.

    That of one device is about 1. below: it may be less if the numbers grow, as those over another program do.
    """
    known = _ratios(raw, place, meanings)
    least = 0.0 if below and _grow(known) else 1 - _OF_ONE
    return all(
        value <= _MOST_TIMES * max(2, gpus) and (gpus != 1 or least < value <= 1 + _OF_ONE)
        for gpus, value in known
    )


def _ratios(raw: RawTable, place: int, meanings: Sequence[Meaning]) -> list[tuple[int, float]]:
    """Devices and numbers of a column, without per cents."""
    devices = place_of_devices(meanings)
    devices = place_of_devices(devices_of_labels([*meanings], raw)) if devices is None else devices
    known = []
    for _, row in raw.rows if devices is not None else ():
        with suppress(ValueError, IndexError):
            cell = read_cell(row[place])
            if not cell.percent and (count := count_or_none(row[devices or 0])):
                known.append((count.gpus, cell.printed.value))
    return known


def _grow(known: Sequence[tuple[int, float]]) -> bool:
    """Whether numbers grow with the devices to more than 1, which shares do not."""
    return bool(known) and max(known)[1] > max(_GROWN * min(known)[1], 1)


def _named_in(words: str) -> Meaning | None:
    """The measurement that a caption names with its unit: 'Throughput (images/s)'."""
    words = without_batches_of_each(ONE_EACH.sub("", words))
    for part in (
        words,
        *re.findall(r"[(\[\uff08]([^()\[\]\uff08\uff09]+)[)\]\uff09]", words),
        *re.split(r"[:,;\uff1a]| of ", words),
    ):
        found = meaning_of(part.strip()) if part else None
        if found and found.role in (*RATES, "steps_per_s", *TIMES, *STATED):
            return found
    return None
