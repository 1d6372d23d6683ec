"""Reads the scaling tables of a file as they are printed, and says how each column was understood."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from scalestudy.errors import UserError
from scalestudy.importers.columns.captions import note_on_several_steps
from scalestudy.importers.columns.meanings import (
    NOTHING_CORRECTED,
    Corrections,
    arranged,
    check_corrections,
    columns_of,
)
from scalestudy.importers.counts.labels import note_on_servers
from scalestudy.importers.devices.counted import ON_ONE
from scalestudy.importers.devices.products import factors_in
from scalestudy.importers.headers.meaning import NAMELESS, Meaning, normal, with_role
from scalestudy.importers.headers.terms import PER_NODE
from scalestudy.importers.hints import devices_hint, measurement_hint, one_size_hint
from scalestudy.importers.numbers.printed import is_blank, plain, read_cell, share
from scalestudy.importers.published import MEASURED, STATED, PublishedFile, PublishedTable, by_scaling
from scalestudy.importers.ratios.across_cases import with_cases_as_one_series
from scalestudy.importers.ratios.beside import notes_on_rows_beside
from scalestudy.importers.ratios.by_latency import notes_on_latencies
from scalestudy.importers.ratios.in_weak_scaling import with_ratios_of_weak_times
from scalestudy.importers.ratios.means import notes_on_mean_ratios
from scalestudy.importers.ratios.of_all import note_on_words
from scalestudy.importers.ratios.of_devices import column_of_devices, with_devices_of_ratios
from scalestudy.importers.ratios.own_tables import with_ratios_of_own_tables
from scalestudy.importers.ratios.owners import owners_of_ratios
from scalestudy.importers.ratios.said import claims_beside
from scalestudy.importers.ratios.serial_said import with_serial_time
from scalestudy.importers.raw import UNSAID, RawTable
from scalestudy.importers.rows import Reader
from scalestudy.importers.shape.continued import continued, note_on_joined
from scalestudy.importers.shape.corners import with_devices_across
from scalestudy.importers.shape.merged_rows import label_of_merged_rows, notes_on_merged_rows
from scalestudy.importers.shape.variants import variants_of
from scalestudy.importers.tables import read_tables

_MOST_SHOWN = 5


class _NoScalingError(UserError):
    """A table that does not show scaling; `hint` says what to add."""

    def __init__(self, text: str, hint: str = "", tables: Sequence[PublishedTable] = ()) -> None:
        """tables: what was read nevertheless, on one number of devices."""
        super().__init__(text)
        self.hint = hint
        self.tables = tables


def read_published(path: Path, corrections: Corrections = NOTHING_CORRECTED) -> PublishedFile:
    """Return the tables of a file that show scaling.

    A table needs a column of devices, and throughput, a time or a speedup. Raises UserError if no table has both,
    with what is missing.
    """
    return published_in(read_tables(path), path, corrections)


def published_in(raw: Sequence[RawTable], path: Path, corrections: Corrections) -> PublishedFile:
    """Return the tables that show scaling among those of a file. path: its name in errors."""
    said = {normal(name): role for name, role in corrections.columns.items()}
    across = [with_devices_across(one, said) for one in raw]
    turned = [one for one, after in zip(raw, across, strict=True) if after is not one]
    used = {name for one in turned for name in map(normal, one.header) if said.get(name) in ("gpus", "nodes")}
    raw, columns = across, {name: role for name, role in corrections.columns.items() if normal(name) not in used}
    corrections = replace(corrections, columns=columns)
    check_corrections(corrections, raw, path)
    tables: list[PublishedTable] = []
    others: list[_NoScalingError] = []
    alone = len(raw) < 2 or corrections.table is not None
    for one in continued(raw) if corrections.table is None else raw:
        if corrections.table in (None, one.line):
            try:
                tables += _read(one, corrections.columns, alone=alone, path=path)
            except _NoScalingError as error:
                if alone:
                    raise UserError(f"{error}{error.hint}") from None
                others.append(error)
    if not tables:
        reasons = [f"{_without(path, other)}{other.hint}" for other in others][:_MOST_SHOWN]
        without = "none was recognised; write a line of headers and a line per row, with | or commas between cells"
        why = "; ".join(reasons) if reasons else without
        raise UserError(f"{path}: no table of scaling: {why}")
    tables, joined = with_ratios_of_own_tables(tables, [one for other in others for one in other.tables])
    left = [_without(path, other) for other in others if not any(one.line in joined for one in other.tables)]
    return PublishedFile(tuple(_named(tables)), tuple(left))


def _without(path: Path, error: UserError) -> str:
    """An error without the name of the file."""
    return str(error).removeprefix(f"{path}: ")


def _nameless(raw: RawTable) -> list[str]:
    """The different texts in columns without a header; none if these are numbers, such as those of the rows."""
    cells = [cell for place, header in enumerate(raw.header) if not header for cell in raw.cells(place)]
    return list(dict.fromkeys(plain(cell) for cell in cells if not share([cell], read_cell)))


def _read(raw: RawTable, corrected: Mapping[str, str], *, alone: bool, path: Path) -> list[PublishedTable]:
    """The variants of a table. Raises _NoScalingError if it does not show scaling."""
    where = str(path) if alone else f"{path}: table at line {raw.line}"
    if line := _beyond_headers(raw):
        cells = f"{max(len(row) for at, row in raw.rows if at == line)} cells below {len(raw.header)} headers"
        raise _NoScalingError(f"{where}: line {line} has {cells}; add the header that is missing")
    crooked = _notes_on_short_rows(raw)
    raw = arranged(raw)
    meanings = columns_of(raw, corrected)
    if not {"gpus", "nodes"} & {one.role for one in meanings}:
        counted = with_devices_of_ratios(raw, meanings)
        meanings = meanings if counted is raw else columns_of(counted, corrected)
        raw = counted
        if (place := column_of_devices(raw, meanings)) is not None:
            meanings = with_role(meanings, place, "gpus")
            raw = raw.noted(f"'{plain(raw.header[place])}' is read as devices: the printed efficiencies show it")
    roles = {meaning.role for meaning in meanings}
    listed = ", ".join(filter(None, map(plain, raw.header)))
    has = f"its columns are {listed}" if listed else "it has no columns"
    if not roles & {"gpus", "nodes"}:
        text = f"{where}: no column of devices, such as gpus; {_short(has)}"
        raise _NoScalingError(text, f"; {raw.legend_lacks or devices_hint(raw, meanings)}")
    unsaid = any(one.header == UNSAID and one.role not in STATED for one in meanings)
    if not roles & {*MEASURED} and unsaid:
        kinds = {
            "throughput": "of all devices",
            "throughput_per_gpu": "per device",
            "total_time_s": "for a time",
            "printed_speedup": "for speedups",
        }
        options = ", ".join(f"--column '{UNSAID}={kind}' ({words})" for kind, words in kinds.items())
        raise _NoScalingError(f"{where}: what are the numbers below the devices? Add one of {options}")
    if not roles & {*MEASURED, *STATED}:
        text = f"{where}: no column of a throughput, a step time or a speedup; {_short(has)}"
        raise _NoScalingError(text, f"; {measurement_hint(raw, meanings)}")
    if not raw.rows:
        raise _NoScalingError(f"{where}: no rows below the header")
    reader = Reader(raw, meanings)
    tables = _by_variant(reader)
    telling = []
    while (place := label_of_merged_rows(tables, raw, meanings, set(map(normal, corrected)))) is not None:
        telling.append(plain(meanings[place].header))
        meanings = with_role(meanings, place, "label")
        reader = Reader(raw, meanings)
        tables = _by_variant(reader)
    used = {meaning.header for table in tables for meaning in table.columns}
    factors = set().union(*map(factors_in, used))
    unread = [
        plain(header) for header in raw.header if header and header not in used and normal(header) not in factors
    ]
    notes = [*note_on_words(meanings, raw), *notes_on_rows_beside(meanings), *notes_on_mean_ratios(meanings)]
    notes += [*note_on_several_steps(meanings), *notes_on_latencies(meanings, raw)]
    notes += [*note_on_joined(raw), *filter(None, [raw.note])]
    notes += [f"{name} tells rows on the same devices apart, so it is read as a label" for name in telling]
    notes += notes_on_merged_rows(tables, raw, meanings)
    notes += crooked
    said = [note for table in tables for note in table.notes]
    notes += _notes_on_empty_rows(raw, meanings, said)
    notes += [
        f"--column '{plain(one.header)}={one.role}' changes nothing: other columns of this kind are read instead"
        for one in meanings
        if one.header not in used and one.role != "ignore" and normal(one.header) in map(normal, corrected)
    ]
    notes += [*_notes_on_empty_columns(raw, meanings), *_notes_on_nodes(meanings), *_notes_on_one(meanings)]
    notes += note_on_servers(cell for _, row in raw.rows for cell in (*raw.header, *row))
    notes += [f"line {line} has a measurement too, but it was not read as a row" for line in raw.left_out]
    if "" not in used and (names := _nameless(raw)):
        unread.append(NAMELESS)
        notes += [
            f"the column without a header ({', '.join(names[:3])}) is not read; if these are different models,"
            f" add --column '{NAMELESS}=model'"
        ]
    claims = claims_beside(raw)
    tables = [
        replace(table, unread=tuple(unread), notes=(*table.notes, *notes), claims=claims)
        for table in tables
        if table.rows
    ]
    tables = [part for table in tables for part in by_scaling(with_serial_time(table, raw.text))]
    if not tables:
        raise _NoScalingError(
            f"{where}: no row has both a number of devices and a measurement; {reader.first_note()}"
        )
    if not any(map(_has_two_scales, tables)):
        hint = one_size_hint(raw, meanings)
        if not alone:
            why = "only one number of devices, so it shows no scaling"
            raise _NoScalingError("; ".join(filter(None, (f"{where}: {why}", hint))), tables=tables)
        tables = [replace(table, notes=(*table.notes, *filter(None, [hint]))) for table in tables]
    return _without_variants_on_one(tables)


def _without_variants_on_one(tables: list[PublishedTable]) -> list[PublishedTable]:
    """The variants without those on one number of devices beside others, with a note that names them."""
    scaled = [table for table in tables if _has_two_scales(table)]
    names = list(dict.fromkeys(table.name for table in tables if table not in scaled))
    if not scaled or not all(names) or not names:
        return tables
    note = f"{' and '.join(map(repr, names))} {'is' if len(names) == 1 else 'are'} on one number of devices only"
    return [replace(table, notes=(*table.notes, f"{note}, so no scaling is shown of it")) for table in scaled]


def _by_variant(reader: Reader) -> list[PublishedTable]:
    """A table for each variant of the columns, with the ratios that follow from its measurements."""
    owners = owners_of_ratios(reader.meanings, reader.raw)
    tables = with_cases_as_one_series([reader.table(one) for one in variants_of(reader.meanings, owners)])
    return [*map(with_ratios_of_weak_times, tables)]


def _beyond_headers(raw: RawTable) -> int:
    """The first of the lines with more cells than headers if most lines have them; else 0."""
    beyond = [line for line, row in raw.rows if any(cell.strip() for cell in row[len(raw.header) :])]
    return beyond[0] if 2 * len(beyond) > len(raw.rows) else 0


def _notes_on_short_rows(raw: RawTable) -> list[str]:
    """Return a note on each row with fewer cells than headers, if most rows have as many."""
    short = [line for line, row in raw.rows if 1 < len(row) < len(raw.header)]
    few = short if 2 * len(short) < len(raw.rows) else []
    return [f"line {line} has fewer cells than headers, so its numbers may be below other headers" for line in few]


def _notes_on_nodes(meanings: Sequence[Meaning]) -> list[str]:
    """Return what rates of a device are multiplied with, if the table has nodes and not the devices of one."""
    roles = {one.role for one in meanings}
    of_labels = any(one.role == "gpus" and one.unit == "nodes" for one in meanings)
    of_column = "nodes" in roles and not roles & {"gpus", "gpus_per_node"}
    each = [
        one for one in meanings if one.role == "throughput_per_gpu" and not PER_NODE.search(normal(one.header))
    ]
    if not each or "throughput" in roles or not (of_labels or of_column):
        return []
    return [
        "rates of all devices are those of one device of each node: the table does not say how many a node has"
    ]


def _notes_on_one(meanings: Sequence[Meaning]) -> list[str]:
    """Return a note if the column of devices counts processes that share one device."""
    shared = [plain(one.header) for one in meanings if one.role == "gpus" and ON_ONE.search(normal(one.header))]
    return [
        f"'{name}' counts what shares one device, so this does not show scaling over devices" for name in shared
    ]


def _notes_on_empty_columns(raw: RawTable, meanings: Sequence[Meaning]) -> list[str]:
    """Return a note on the columns of measurements and ratios in which no cell has a value."""
    places = [place for place, one in enumerate(meanings) if one.role in (*MEASURED, *STATED)]
    names = [plain(meanings[place].header) for place in places if not raw.cells(place)]
    return [f"no cell below {' and '.join(map(repr, names))} has a value"] if names else []


def _notes_on_empty_rows(raw: RawTable, meanings: Sequence[Meaning], said: Sequence[str]) -> list[str]:
    """Return a note on the rows that have a number of devices and dashes instead of all measurements.

    said: the notes on rows that were left out.
    """
    devices = [place for place, one in enumerate(meanings) if one.role in ("gpus", "nodes")]
    measured = [place for place, one in enumerate(meanings) if one.role in (*MEASURED, *STATED)]
    left_out = {int(found[1]) for note in said if (found := re.match(r"line (\d+)\b", note))}
    lines = [
        line
        for line, row in raw.rows
        if len(row) == len(meanings)
        and line not in left_out
        and any(not is_blank(row[place]) for place in devices)
        and all(row[place].strip() and is_blank(row[place]) for place in measured)
    ]
    if not lines:
        return []
    named = ", ".join(map(str, lines[:_MOST_SHOWN])) + (" and others" if len(lines) > _MOST_SHOWN else "")
    return [f"line {named} has no measurement" if len(lines) == 1 else f"lines {named} have no measurement"]


def _has_two_scales(table: PublishedTable) -> bool:
    """Whether one measurement of a table is on two numbers of devices."""
    kinds = (*MEASURED, *STATED)
    return any(len({row.gpus for row in table.rows if kind in row.numbers}) > 1 for kind in kinds)


def _named(tables: Sequence[PublishedTable]) -> list[PublishedTable]:
    """Tables of a file with several have the line of their header in their names."""
    if len({table.line for table in tables}) < 2:
        return list(tables)
    return [replace(table, name=f"line {table.line} {table.name}".strip()) for table in tables]


def _short(text: str) -> str:
    return text if len(text) <= 300 else f"{text[:300]} ..."
