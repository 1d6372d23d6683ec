"""What each column of a table is: from its header, its cells, and what the user says."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from scalestudy.errors import UserError
from scalestudy.importers.cells.both_said import with_first_of_both
from scalestudy.importers.cells.brackets_said import with_each_in_brackets
from scalestudy.importers.cells.nouns import without_nouns
from scalestudy.importers.cells.pairs import (
    with_batch_products,
    with_pairs,
    with_rate_products,
    with_remarks_of_batches,
)
from scalestudy.importers.cells.second_ratios import with_ratios_of_both
from scalestudy.importers.cells.together import with_ratios
from scalestudy.importers.columns.batch_in_labels import with_batch_of_labels, without_numbers_of_names
from scalestudy.importers.columns.batch_in_words import batches_of_devices
from scalestudy.importers.columns.by_cells import by_cells, with_unit_of_cells
from scalestudy.importers.columns.by_units import by_units
from scalestudy.importers.columns.captions import by_caption, by_stated_unit, times_by_caption
from scalestudy.importers.columns.labels import by_blocks, by_parameters, by_sizes, strategies, telling_labels
from scalestudy.importers.columns.parts import (
    parts_of_times,
    sum_of_parts,
    without_other_phases,
    without_other_units,
)
from scalestudy.importers.columns.units_said import units_said
from scalestudy.importers.counts.cells import read_count
from scalestudy.importers.counts.labels import count_in_words
from scalestudy.importers.devices.across import with_devices_of_the_caption, with_noun_of_the_first
from scalestudy.importers.devices.chosen import one_of_devices
from scalestudy.importers.devices.degrees import degrees
from scalestudy.importers.devices.found import devices_of
from scalestudy.importers.devices.hardware_in_labels import (
    hardware_of_devices,
    with_hardware_of_labels,
    with_pieces,
)
from scalestudy.importers.devices.in_headings import with_devices_of_crossed_rows, with_devices_of_headings
from scalestudy.importers.devices.listed import with_placements
from scalestudy.importers.devices.numbered_labels import with_numbered_labels
from scalestudy.importers.devices.of_a_node import with_devices_of_a_node
from scalestudy.importers.devices.products import threads_beside_processes
from scalestudy.importers.devices.serial_rows import with_serial_rows
from scalestudy.importers.headers.meaning import (
    IN_WORDS,
    NAMELESS,
    ROLES,
    TEXTS,
    Meaning,
    meaning_of,
    normal,
    with_role,
)
from scalestudy.importers.numbers.printed import plain, share
from scalestudy.importers.published import TIMES
from scalestudy.importers.ratios.beside import over_rows_beside
from scalestudy.importers.ratios.by_latency import of_all_by_latency
from scalestudy.importers.ratios.columns import (
    ratio_of_columns,
    relative_columns,
    repeated_ratios,
    without_quotients,
)
from scalestudy.importers.ratios.efficiencies import by_their_ratios, without_shares
from scalestudy.importers.ratios.explained import (
    actual_beside_ideal,
    bare_percents,
    by_printed_ratios,
    by_what_follows,
    factors,
)
from scalestudy.importers.ratios.gains import gains
from scalestudy.importers.ratios.lettered import letters_behind_names, letters_of_devices
from scalestudy.importers.ratios.means import mean_ratios
from scalestudy.importers.ratios.of_all import (
    of_all_by_its_work,
    of_each_beside_all,
    per_device_in_words,
    shares_of_times,
    without_flops_of_unknown_devices,
)
from scalestudy.importers.ratios.of_named_parts import times_of_named_parts
from scalestudy.importers.ratios.of_no_scaling import without_other_ratios, without_shares_of_the_added
from scalestudy.importers.ratios.of_which import begins_at_one, of_the_measurement
from scalestudy.importers.ratios.rows import with_quantity_of_the_first, with_ratio_rows, with_unit_of_labels
from scalestudy.importers.ratios.serial import serial_times
from scalestudy.importers.ratios.statistics import by_statistic, means_of_runs, minima
from scalestudy.importers.ratios.whose import (
    by_the_clock,
    comparisons,
    latencies_of_requests,
    of_each_node,
    of_one_scaling,
    over_other_systems,
    per_node,
    per_others,
    tasks_beside_nodes,
)
from scalestudy.importers.raw import RawTable
from scalestudy.importers.shape.centred import (
    with_centred_labels,
    with_dashes_filled_down,
    with_devices_filled_down,
    with_dittos_filled_down,
    with_groups_filled_down,
)
from scalestudy.importers.shape.lists_in_cells import with_lists_in_cells
from scalestudy.importers.shape.machines import with_machines_as_nodes
from scalestudy.importers.shape.moved_rows import without_moved_rows
from scalestudy.importers.shape.serial_beside import with_serial_beside
from scalestudy.importers.shape.steps_up import with_steps
from scalestudy.importers.shape.unit_columns import with_unit_of_a_column
from scalestudy.importers.shape.upright import upright

_MOST_NAMED = 20
_KINDS_OF_WORDS = ("strategy", "model", "framework", "precision")


@dataclass(frozen=True)
class Corrections:
    """What the user says of a file."""

    columns: Mapping[str, str]
    """Header -> one of ROLES, for columns that were misunderstood."""
    table: int | None = None
    """Line of the header of the only table to read."""


NOTHING_CORRECTED = Corrections({})


def arranged(raw: RawTable) -> RawTable:
    """Return a table with a row per number of devices and a column per quantity."""
    whole = with_placements(with_lists_in_cells(without_moved_rows(raw)))
    whole = with_dittos_filled_down(with_pieces(whole))
    whole = with_groups_filled_down(whole)
    whole = with_dashes_filled_down(whole)
    whole = with_devices_filled_down(whole)
    whole = with_serial_beside(with_centred_labels(whole))
    paired = with_first_of_both(with_pairs(with_devices_of_headings(with_devices_of_crossed_rows(whole))))
    named = without_numbers_of_names(paired)
    named = with_batch_of_labels(with_remarks_of_batches(with_batch_products(with_rate_products(named))))
    named = with_noun_of_the_first(with_devices_of_the_caption(with_unit_of_a_column(named)))
    named = with_ratio_rows(with_unit_of_labels(with_quantity_of_the_first(named)))
    turned = upright(with_ratios(with_ratios_of_both(with_steps(named))))
    turned = with_devices_of_a_node(with_ratios(with_each_in_brackets(turned)))
    turned = with_machines_as_nodes(turned)
    return with_hardware_of_labels(with_serial_rows(without_nouns(with_numbered_labels(turned))))


def columns_of(raw: RawTable, corrected: Mapping[str, str]) -> list[Meaning]:
    """Return the meaning of each column of a table. corrected: header -> role, as the user says."""
    meanings = minima([_corrected(header, corrected) for header in raw.header], {*map(normal, corrected)})
    return _by_values(meanings, raw, corrected)


def check_corrections(corrections: Corrections, raw: Sequence[RawTable], path: Path) -> None:
    """Raises UserError if a correction names a kind, a column or a table that does not exist."""
    read = [arranged(table) for table in raw] if corrections.columns else []
    headers = {normal(header) for table in read for header in table.header}
    for header, role in corrections.columns.items():
        if role not in ROLES:
            raise UserError(f"--column {header}={role}: no such kind of column; choose from {', '.join(ROLES)}")
        if normal(header) not in headers:
            text = f"--column {header}={role}: {path} has no such column"
            named = dict.fromkeys(plain(name) or NAMELESS for table in read for name in table.header)
            raise UserError(f"{text}; as they are read, its columns are {', '.join([*named][:_MOST_NAMED])}")
    lines = [table.line for table in raw]
    if corrections.table is not None and corrections.table not in lines:
        raise UserError(f"--line {corrections.table}: {path} has tables at lines {', '.join(map(str, lines))}")


def _corrected(header: str, corrected: Mapping[str, str]) -> Meaning:
    meaning = meaning_of(header)
    said = {normal(name): role for name, role in corrected.items()}.get(normal(header))
    if said is None:
        return meaning
    if said == "step_time_ms":
        return replace(meaning, role="step_time_s", unit="ms")
    timed = said in (*TIMES, "step_time_s") and said != meaning.role
    named = "" if "+" in header else meaning_of(f"time {header}").unit  # `m+2s` has no unit
    unit = named or "s" if timed else ""
    per = {"throughput": "all", "throughput_per_gpu": "gpu"}.get(said, meaning.per)
    return replace(meaning, role=said, unit=meaning.unit or unit, per=per)


def _by_values(meanings: list[Meaning], raw: RawTable, corrected: Mapping[str, str]) -> list[Meaning]:
    """Settles what a header leaves open by the cells below it: GPU may be a number or the name of a device."""
    said = {normal(name) for name in corrected}
    stated = any(meaning.role == "printed_speedup" for meaning in meanings)
    result = [
        with_unit_of_cells(_in_words(meaning, raw.cells(place)), raw.cells(place))
        if normal(meaning.header) in said or not raw.cells(place)
        else by_cells(meaning, raw, place, meanings, stated=stated)
        for place, meaning in enumerate(comparisons(letters_of_devices(meanings, raw, said), said))
    ]
    result = latencies_of_requests(by_the_clock(result, said), said)
    result = [_scaling_words(one, raw.cells(place)) for place, one in enumerate(result)]
    result = threads_beside_processes(result, raw, said)
    result = strategies(one_of_devices(relative_columns(result, raw, said), raw, said), raw, said)
    result = by_units(telling_labels(batches_of_devices(result, raw, said), raw, said), raw, said)
    result = _speedups_of_precisions(telling_labels(result, raw, said), said)  # of what units alone say too
    result = times_of_named_parts(letters_behind_names(serial_times(result, raw, said), raw, said), raw, said)
    result = ratio_of_columns(without_other_ratios(result, raw, said), raw, said)
    result = tasks_beside_nodes(result, raw, said)
    result = times_by_caption(sum_of_parts(result, raw, said), raw, said)
    of_a_caption = by_stated_unit(by_caption(result, raw, said), raw, said)
    result = result if of_a_caption == result else ratio_of_columns(of_a_caption, raw, said)
    found = degrees(devices_of(of_each_node(result, raw, said), raw), raw, said)
    found = factors(actual_beside_ideal(found, raw, said), raw, said)
    found = by_blocks(telling_labels(found, raw, said, of_words=True), raw, said)  # devices in words
    found = shares_of_times(of_each_beside_all(found, raw, said), raw, said)
    found = of_all_by_latency(of_all_by_its_work(per_device_in_words(found, raw, said), raw, said), raw, said)
    found = without_flops_of_unknown_devices(per_others(per_node(found, said), raw, said), said)
    found = relative_columns(found, raw, said)
    found = over_rows_beside(gains(found, raw, said), raw, said)
    of_models = by_sizes(by_parameters(over_other_systems(found, raw, said), raw, said), raw, said)
    found = of_models if of_models == found else telling_labels(of_models, raw, said)
    found = without_shares(found, raw, said)
    found = bare_percents(by_what_follows(found, raw, said), raw, said)
    found = by_printed_ratios(means_of_runs(found, raw, said), raw, said)
    found = without_shares_of_the_added(without_quotients(found, raw, said), raw, said)
    found = without_other_units(without_other_phases(found, said), raw, said)
    found = parts_of_times(by_their_ratios(found, raw, said), raw, said)
    found = of_the_measurement(mean_ratios(repeated_ratios(found, raw, said), raw, said), said)
    found = hardware_of_devices(begins_at_one(found, raw, said), raw, said)
    found = _second_as_label(_case_as_label(found, raw, said), said)
    return units_said(by_statistic(of_one_scaling(found, said), raw, said), raw, said)


def _in_words(meaning: Meaning, cells: Sequence[str]) -> Meaning:
    """Reads devices among other words, if the user says that a column is of devices and no cell is a number."""
    words = bool(cells) and share(cells, read_count) == 0 and share(cells, count_in_words) > 0
    return replace(meaning, per=IN_WORDS) if meaning.role == "gpus" and words else meaning


def _second_as_label(meanings: list[Meaning], said: set[str]) -> list[Meaning]:
    """Reads a second column of models, strategies or the like as a label, such as `Task` behind `Model`."""
    kinds = [one.role for one in meanings]
    return [
        replace(one, role="label")
        if one.role in _KINDS_OF_WORDS and one.role in kinds[:place] and normal(one.header) not in said
        else one
        for place, one in enumerate(meanings)
    ]


def _case_as_label(meanings: list[Meaning], raw: RawTable, said: set[str]) -> list[Meaning]:
    """Reads a column `case` as a label if another label repeats in the cases, so that a case is several series.

    So it is if each row has a name of its own, as `Experiment` may have.
    """
    roles = [one.role for one in meanings]
    names = roles.index("case") if "case" in roles else None
    if names is not None and normal(meanings[names].header) not in said:
        cells = raw.cells(names)
        if len(set(cells)) == len(cells) > 1:
            return with_role(meanings, names, "label")
    case, label = (roles.index(role) if role in roles else None for role in ("case", "label"))
    if case is None or label is None or normal(meanings[case].header) in said:
        return meanings
    pairs = {(plain(row[case]), plain(row[label])) for _, row in raw.rows if len(row) == len(meanings)}
    crossed = len(pairs) > max(len({one for one, _ in pairs}), len({other for _, other in pairs}))
    return with_role(meanings, case, "label") if crossed else meanings


def _scaling_words(meaning: Meaning, cells: Sequence[str]) -> Meaning:
    """Reads a column of labels as the kind of scaling if all of its cells say weak or strong."""
    words = {re.sub(r"\W*scaling\W*", "", plain(cell).lower()) for cell in cells}
    kinds = bool(words) and words <= {"weak", "strong"} and meaning.role in ("ignore", *TEXTS)
    return replace(meaning, role="scaling") if kinds else meaning


def _speedups_of_precisions(meanings: list[Meaning], said: set[str]) -> list[Meaning]:
    """Reads 'mixed precision speedup' as the speedup over devices if another precision has such a column too."""
    single = {meaning.precisions for meaning in meanings if meaning.role in ("printed_speedup", "scaling_ratio")}
    return [
        replace(meaning, role="printed_speedup")
        if meaning.role == "precision_ratio"
        and len(meaning.precisions) == 1
        and normal(meaning.header) not in said
        and any(len(other) == 1 and other != meaning.precisions for other in single)
        and meaning.precisions not in single
        else meaning
        for meaning in meanings
    ]
