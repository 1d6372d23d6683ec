"""Turns tables with devices across or several measurements in a row into one row per scale."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from scalestudy.importers.devices.across import (
    counted_across,
)
from scalestudy.importers.devices.products import with_product
from scalestudy.importers.headers.meaning import TEXTS, is_utilization, meaning_of, never_a_label, normal
from scalestudy.importers.headers.terms import SECONDS, STRATEGIES
from scalestudy.importers.numbers.printed import BEGINS_WITH_NUMBER, is_blank, plain, read_cell, says_failed, share
from scalestudy.importers.published import MEASURED, STATED, TIMES
from scalestudy.importers.quantities import known_role, quantity_of
from scalestudy.importers.ratios.best import columns_of_best, size_of_best
from scalestudy.importers.ratios.columns import is_quotient
from scalestudy.importers.ratios.kinds import by_ratio
from scalestudy.importers.ratios.of_rows import without_foreign_rows
from scalestudy.importers.ratios.serial import is_serial
from scalestudy.importers.raw import UNSAID, RawTable
from scalestudy.importers.shape.batches_across import with_batches_of_headers
from scalestudy.importers.shape.corners import with_corner, with_degrees
from scalestudy.importers.shape.devices_across import devices_across
from scalestudy.importers.shape.further_columns import is_of_one_size, is_without_number
from scalestudy.importers.shape.pivots import pivoted
from scalestudy.importers.shape.quantities_of_rows import (
    in_one_row,
    names_of_rows,
    place_of_names,
)
from scalestudy.importers.shape.quantities_with_devices import with_devices_of_rows
from scalestudy.importers.shape.quantity_across import quantity_across, with_measured_base
from scalestudy.importers.shape.ratios_across import size_of
from scalestudy.importers.shape.ways_across import with_ways

IDEAL = re.compile(
    r"(?:ideal|linear|perfect|theor\w*|expected|target)(?: (?:speed-?up|scaling|throughput))?|"
    r"(?:hardware|theor\w*|nominal|data ?sheet) peak(?: \(?[a-z/]+\)?)?"
)
"""Rows that were not measured."""
_MOST = 0.5
"""Share of the cells of a row that are numbers if it is one of measurements."""
_RANGE = re.compile(r"~?\d[\d.]* ?[%x]? ?[-\u2013\u2014] ?~?\d[\d.]* ?[%x]?")
_GAIN = re.compile(r"(?:improvement|change|gain|factor|ratio|difference|delta)s?")
_NAME = re.compile(r"[^\W\d_]{3,}(?: [\w.-]+){0,3}")
"""A name of a program, perhaps with a version or a remark."""
_FACTOR = re.compile(r"~?\d+(?:\.\d+)? ?x(?!\w)")


def upright(table: RawTable) -> RawTable:
    """Return a table with one row per scale and measured series.

    'GPUs | 1 | 2 | 4' with a row per quantity is turned round. 'Model | 1 GPU | 8 GPUs' becomes a row per model
    and number of devices.
    """
    table = with_batches_of_headers(with_devices_of_rows(pivoted(with_corner(with_degrees(table)))))
    table, across = devices_across(table)
    if not across:
        return with_product(table)
    first = names_of_rows(table, across)
    known = [meaning_of(name).role for name in first]
    if not {*known} & {*MEASURED}:
        known = [known_role(name) for name in first]
    of_peak = list(map(is_utilization, first))
    if not {*known} & {*MEASURED} and sum(of_peak) == 1:  # proportional to the rate of a device
        known = ["throughput_per_gpu" if of else role for of, role in zip(of_peak, known, strict=True)]
    others = [place for place in range(1, len(table.header)) if place not in across]
    measured = [place for place, role in enumerate(known) if role in MEASURED]
    kinds = {known[place] for place in measured}
    labels = 2 * len(measured) < len(known) or (len(measured) > len(kinds) == 1 and not set(known) & {*STATED})
    first_header = meaning_of(table.header[0])  # `Workload, milliseconds`
    labels = labels or (first_header.role in TIMES and first_header.unit in SECONDS and kinds <= {*TIMES})
    own_unit = _of_one_unit(table, across) or (first_header.role in TIMES and not {*known} & {*STATED})
    if own_unit and labels:  # names such as `ONNX Runtime`, or the times of several parts
        return _stacked(table, across)
    unknown = [
        row
        for (_, row), role, name in zip(table.rows, known, first, strict=True)
        if role in ("ignore", *TEXTS) and not never_a_label(name)  # such as memory
    ]
    stated = [role for role in known if role in STATED]
    of_a_ratio = len(unknown) == 1 and len({*stated}) == len(stated) > 0  # which shows what the numbers are
    named = not any(share(row[1:], read_cell) > _MOST for row in unknown) or bool(measured or of_a_ratio)
    if not others and named and any(role not in ("ignore", *TEXTS) for role in known):
        return _turned(table, across, first)
    own = first != [row[0] if row else "" for _, row in table.rows]  # units
    if measured and (own or meaning_of(table.header[0]).role not in ("model", "strategy", "framework")):
        best = min(measured, key=lambda place: MEASURED.index(known[place]))
        ratios = [place for place in others if _is_ratio(table, place, best)]
        ratios = [place for place in ratios if not _is_of_another(table, place, others)]
        left = [plain(table.header[place]) for place in others if place not in ratios and table.header[place]]
        table = table.noted(f"{' and '.join(left)} is of no number of devices, so it was left out" if left else "")
        rest = [
            name
            for at, (name, (_, cells)) in enumerate(zip(first, table.rows, strict=True))
            if at != best and at in measured and any(not is_blank(cells[at]) for at in ratios if at < len(cells))
        ]
        said = f"the ratio of {' and '.join(rest)} is not read, only that of {first[best]}" if rest else ""
        own_cells = table.rows[best][1]
        of_others = [place for place in ratios if place >= len(own_cells) or is_blank(own_cells[place])]
        names = " and ".join(plain(table.header[place]) for place in of_others)
        said = f"{names} has no value for {first[best]}, so it was left out" if names else said
        ratios = [place for place in ratios if place not in of_others]
        return _with_ratios(_turned(table.noted(said), across, first), table, ratios, best)
    return _stacked(table, across)


def _is_ratio(table: RawTable, place: int, best: int) -> bool:
    """Whether a column has a ratio of a row: by its header, or by its cell below `Improvement`: 3.6x faster."""
    cells = table.rows[best][1]
    gain = (
        _GAIN.fullmatch(normal(table.header[place])) and place < len(cells) and _FACTOR.match(plain(cells[place]))
    )
    return meaning_of(table.header[place]).role in STATED or bool(gain)


def _is_of_another(table: RawTable, ratio: int, others: Sequence[int]) -> bool:
    """Whether a ratio has the name of a further column that is of no devices: GPU Speedup beside GPU (CUDA)."""
    words = [word for word in normal(table.header[ratio]).split() if meaning_of(word).role not in STATED]
    return bool(words) and any(
        normal(table.header[place]).split()[: len(words)] == words
        for place in others
        if place != ratio and meaning_of(table.header[place]).role not in STATED
    )


def _of_one_unit(table: RawTable, across: Iterable[int]) -> bool:
    """Whether the cells of several rows have one unit of a measurement: 402 rps."""
    cells = [cells[place] for _, cells in table.rows for place in across if place < len(cells)]
    named = [quantity_of(cell) for cell in cells if not is_blank(cell)]
    return len(table.rows) > 1 and len(set(named)) == 1 and named[0] != ""


def _turned(table: RawTable, across: dict[int, tuple[str, str]], first: list[str]) -> RawTable:
    """A row per column of devices. Its other words are a label if they tell columns of one size, or all, apart."""
    told = len(across) > len({devices for devices, _ in across.values()}) or _are_of_other_programs(across)
    measured = [at for at, name in enumerate(first) if not IDEAL.fullmatch(normal(name).strip(" :"))]
    first = [first[at] for at in measured]
    lines = [table.rows[at][1] for at in measured]
    said = {words for _, words in across.values()}
    if len(said) == 1 and (unit := meaning_of(said.pop()).unit) in SECONDS:  # 1 GPU (ms) | 2 GPUs (ms)
        first = [f"{name} ({unit})" if known_role(name) in TIMES else name for name in first]
    rows = tuple(
        (
            table.line,
            (
                devices,
                *([words] if told else []),
                *(cells[place] if place < len(cells) else "" for cells in lines),
            ),
        )
        for place, (devices, words) in across.items()
    )
    name = "strategy" if any(STRATEGIES.fullmatch(words) for _, words in across.values()) else "setup"
    corner = meaning_of(table.header[0]).role in ("gpus", "nodes")
    own = table.header[0] if corner else counted_across(table.header[place] for place in across)
    return replace(table, header=(own, *([name] if told else []), *first), rows=rows)


def _are_of_other_programs(across: dict[int, tuple[str, str]]) -> bool:
    """Whether each column has a name of its own beside its devices: `Apache (1 worker) | Nginx (16 workers)`."""
    names = {words for _, words in across.values()}
    own = len(names) == len(across) and all(_NAME.fullmatch(name) for name in names)
    return own and not any(STRATEGIES.search(name) or meaning_of(name).role in MEASURED for name in names)


def _with_ratios(turned: RawTable, table: RawTable, ratios: list[int], best: int) -> RawTable:
    """The turned table with the speedups behind its best measurement, as those of the most devices."""
    cells = table.rows[best][1]
    stated = [cells[place] if place < len(cells) else "" for place in ratios]
    sizes = [size_of(cells[0]) for _, cells in turned.rows]
    last = len(sizes) - 1 - sizes[::-1].index(max(sizes))
    rows = tuple(
        (line, (*row, *(stated if place == last else [""] * len(stated))))
        for place, (line, row) in enumerate(turned.rows)
    )
    return replace(turned, header=(*turned.header, *(table.header[place] for place in ratios)), rows=rows)


def _stacked(table: RawTable, across: dict[int, tuple[str, str]]) -> RawTable:
    """A row per number of devices. A column keeps its other words; columns that differ only in devices are one."""
    table, across = with_ways(table, with_measured_base(table, across))
    corner = quantity_across(
        table, [place for place, (_, words) in across.items() if meaning_of(words).role not in STATED]
    )
    units = {words for _, words in across.values() if meaning_of(words).role in MEASURED}
    # `Step time, 1 -> 2 GPUs` beside `1 GPU | 2 GPUs` is another quantity
    sizes_of = {words: {devices for devices, own in across.values() if own == words} for words in (*units, "")}
    if corner == UNSAID and len(units) == 1 and not set.intersection(*sizes_of.values()):
        corner = units.pop()  # `1 GPU [ms/step] | 2 GPUs`: the first header has the unit of all
    others = [
        place
        for place in range(len(table.header))
        if place not in across and not is_of_one_size(table, place, across)
    ]
    metric = place_of_names(table, others)
    others = [place for place in others if place != metric]
    sizes = list(dict.fromkeys(devices for devices, _ in across.values()))
    for place in [kept for kept in others if kept > min(across) and is_without_number(table, kept)]:
        others.remove(place)
    for place in sorted(set(range(len(table.header))) - {*across, *others, metric}):
        table = table.noted(f"{plain(table.header[place])} is of no number of devices, so it was left out")
    for place in [kept for kept in others if _are_ratios_of_rows(table, kept)]:
        table = table.noted(
            f"{plain(table.header[place])} is a range over the devices of a row, so it was left out"
        )
        others.remove(place)
    numbered = [any(BEGINS_WITH_NUMBER.match(plain(cell)) for cell in table.cells(kept)) for kept in others]
    roles = [meaning_of(table.header[kept]).role for kept in others]
    stated = [place for place, role in enumerate(roles) if role in (*STATED, "scaling") and numbered[place]]
    of_the_last = stated + [  # ratios by their cells
        place
        for place, kept in enumerate(others)
        if kept > min(across) and all(quantity_of(cell) == "speedup" for cell in table.cells(kept))
    ]
    whose = {place: _size_of_ratio(table, others[place], across) for place in of_the_last}
    beside = [place for place, (_, words) in across.items() if meaning_of(words).role in STATED]
    numbers = [place for place, (_, words) in across.items() if words in ("", UNSAID)]
    ratios = [others[place] for place in stated]
    ratios += [place for place in reversed(beside) if numbers and across[place][0] == across[numbers[-1]][0]]
    ratios += [others[place] for place in of_the_last]
    if corner == UNSAID and ratios and len(numbers) > 1 and size_of(across[numbers[0]][0]):
        factor = size_of(across[numbers[-1]][0]) / size_of(across[numbers[0]][0])
        corner = by_ratio(table, (numbers[0], numbers[-1]), ratios[0], factor)
    quantities = list(dict.fromkeys(words or corner for _, words in across.values()))
    own = counted_across(table.header[place] for place in across)
    bare = all(plain(table.header[place]).isdecimal() for place in across)
    of_devices = bare and meaning_of(table.header[0]).role in ("gpus", "nodes")  # Threads | 1 | 2
    labels = (
        "name"
        if place < min(across) and (of_devices or _is_measured(table.header[place], table.cells(place), corner))
        else table.header[place]
        for place in others
    )
    named = [] if metric is None else list(dict.fromkeys(plain(cells[metric]) for _, cells in table.rows))
    quantities = [*named, *(one for one in quantities if not named or one != corner)]
    header = (*labels, table.header[0] if of_devices else own, *quantities)
    of_times = known_role(quantities[0]) in TIMES
    rows = []
    table = without_foreign_rows(table, across, corner)
    places = {at: devices for at, (devices, words) in across.items() if words in ("", corner)}
    of_best = columns_of_best(table, [others[at] for at in whose], places, of_times=of_times)
    for line, cells in table.rows:
        if cells and IDEAL.fullmatch(normal(cells[0]).strip(" :")):
            continue
        best = size_of_best(cells, {at: devices for at, (devices, _) in across.items()}, of_times=of_times)
        of_row = {place: best if others[place] in of_best else own for place, own in whose.items()}
        for size in sizes:
            kept = [cells[place] if place < len(cells) else "" for place in others]
            kept = [cell if of_row.get(place, size) == size else "" for place, cell in enumerate(kept)]
            values = dict.fromkeys(quantities, "")
            for place, (devices, words) in across.items():
                if devices == size and place < len(cells):
                    name = words or (corner if metric is None else plain(cells[metric]))
                    values[name] = values[name] if is_blank(cells[place]) else cells[place]
            if not all(is_blank(value) for value in values.values()):
                rows.append((line, (*kept, size, *values.values())))
    rows = rows if metric is None else in_one_row(rows, len(quantities))
    failed = [
        line for line, cells in table.rows if any(says_failed(cells[at]) for at in across if at < len(cells))
    ]
    where = f"line{'s' if len(failed) > 1 else ''} {' and '.join(map(str, failed))}"
    table = table.noted(f"cells of failed runs in {where} were left out" if failed else "")
    return replace(table, header=header, rows=tuple(rows))


def _are_ratios_of_rows(table: RawTable, place: int) -> bool:
    """Whether a column has ratios that are ranges, such as 85-90%, each of all devices of a row."""
    cells = table.cells(place)
    stated = meaning_of(table.header[place]).role in STATED
    return stated and bool(cells) and all(_RANGE.fullmatch(plain(cell)) for cell in cells)


def _size_of_ratio(table: RawTable, ratio: int, across: dict[int, tuple[str, str]]) -> str:
    """The devices that a ratio in a further column is of: the last, unless it is one to another further column."""
    others = [
        place
        for place, name in enumerate(table.header)
        if place != ratio
        and place not in across
        and not never_a_label(name)
        and meaning_of(name).role not in STATED
    ]
    fewest = min(size_of(devices) for devices, _ in across.values())
    found = [place for place in across if any(is_quotient(table, ratio, (one, place)) for one in others)]
    if meaning_of(table.header[ratio]).role == "printed_efficiency":  # it is 1 on the fewest
        found = [place for place in found if size_of(across[place][0]) > fewest]
    return across[found[0] if found else max(across)][0]


def _is_measured(header: str, cells: Sequence[str], corner: str) -> bool:
    """Whether the header of the labels is of the numbers beside them: Throughput (img/s) | 1 GPU | 2 GPUs."""
    if is_serial(header) and meaning_of(header).role in TIMES:
        return False  # the baseline of all columns
    if corner == UNSAID:  # a setting, such as a period of 10 ms
        return meaning_of(header).role in TIMES or any(map(quantity_of, cells))
    return header == corner or (corner in header and meaning_of(header).role in MEASURED)
