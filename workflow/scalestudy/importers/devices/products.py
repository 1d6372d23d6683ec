"""Numbers of devices that are products: of degrees of parallelism, processes and threads, nodes and tasks."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations, permutations
from math import prod
from operator import mul

from scalestudy.importers.counts.labels import count_of_degrees
from scalestudy.importers.devices.degrees import OF_A_DEGREE
from scalestudy.importers.headers.meaning import Meaning, meaning_of, normal, with_role
from scalestudy.importers.headers.terms import DEVICE, KIND, MAKER, NODE
from scalestudy.importers.numbers.printed import is_blank, plain
from scalestudy.importers.published import TIMES
from scalestudy.importers.raw import RawTable

_MOST_THREADS = 1024
_MOST_COLUMNS = 6
"""Columns of devices of which products are looked for."""
_PAIR = re.compile(rf"(\d{{1,6}}) ?(?:n|{NODE})? ?[(/] ?(\d{{1,7}}) ?(?:{DEVICE})? ?\)?", re.IGNORECASE)
_WITH_NOUN = re.compile(
    rf"(?P<nodes>\d{{1,6}}) ?(?:n|{NODE})? ?[(\[] ?=? ?(?P<own>\d{{1,7}}) ?x? ?(?:{DEVICE}|{MAKER}*{KIND}s?)"
    r"(?P<each> ?(?:each|(?:per|/) ?node))? ?[)\]]",
    re.IGNORECASE,
)
"""Nodes with their devices, or with those of each: 2 (16 GPUs), 2 (8 GPUs each)."""
_CODE = re.compile(r"(?P<nodes>\d{1,4})n[-_x]?(?P<each>\d{1,4})[gpc]")
"""Nodes with the devices of each: 2n4g."""
_NUMBER_OF = r"(?:# |no\.? of |num(?:ber)? ?(?:of )?|n )?"
_RANKS = re.compile(
    rf"{_NUMBER_OF}(?:mpi )?(?:ranks?|process(?:es)?|procs?|tasks?)(?: ?(?:/|per) ?(?:node|host))?|mpi"
)
_THREADS = re.compile(
    rf"{_NUMBER_OF}(?:omp |openmp )?threads?(?: ?(?:/|per) ?(?:mpi )?(?:rank|process|proc|task))?|omp|openmp"
)
_OF_A_JOB = {
    "nodes": re.compile(r"(?:num(?:ber of)? |n )?nodes"),
    "tasks": re.compile(r"n?tasks(?: per node)?"),
    "each": re.compile(r"(?:cpus|cores|threads) per task"),
}
"""Columns of the options of a SLURM job, whose product is the number of its processors."""
_TIMES = " x "


def threads_beside_processes(meanings: list[Meaning], raw: RawTable, said: set[str]) -> list[Meaning]:
    """Reads whole numbers below `t` beside another time as threads, and products of two columns as devices."""
    result = list(meanings)
    for place, one in enumerate(meanings):
        others = [other for at, other in enumerate(meanings) if at != place and other.role in TIMES]
        if one.role in TIMES and normal(one.header) == "t" and others and normal(one.header) not in said:
            counts = _numbers(raw.cells(place))
            if counts and max(counts) <= _MOST_THREADS:
                result = with_role(result, place, "gpus", unit="")
    devices = [_numbers(raw.cells(place)) for place, one in enumerate(result) if one.role == "gpus"][
        :_MOST_COLUMNS
    ]
    products = [list(map(mul, *pair)) for pair in combinations(devices, 2) if len(pair[0]) == len(pair[1]) > 1]
    for place, one in enumerate(result):
        if one.role == "ignore" and normal(one.header) not in said and _numbers(raw.cells(place)) in products:
            return with_role(result, place, "gpus")
    return result


def with_product(table: RawTable) -> RawTable:
    """Return a table with the product of its two or more degrees of parallelism as devices, if it has no other."""
    table = _with_grid(_of_a_job(_with_degrees_of_labels(_with_nodes_of_codes(_with_nodes(table)))))
    names = [normal(header) for header in table.header]
    hybrid = "mpi" in names and ("omp" in names or "openmp" in names)
    if hybrid or any(meaning_of(header).role in ("gpus", "nodes") for header in table.header):
        return _with_threads(table)
    found: dict[str, int] = {}
    for place, header in enumerate(table.header):
        named = OF_A_DEGREE.fullmatch(normal(header))
        sizes = table.cells(place)
        if named and sizes and all(re.fullmatch(r"\d{1,6}", plain(cell)) for cell in sizes):
            found.setdefault(named["short"] or f"{named['long'][0]}p", place)
    if {"tp", "pp"} & {*found}:
        found.pop("mp", None)  # their product
    if len(found) < 2:
        return table
    return _with_column(table, " x ".join(found).upper(), list(found.values()))


def _with_grid(table: RawTable) -> RawTable:
    """A table of HPL with the product of the rows P and the columns Q of its grid of processes."""
    names = [normal(header) for header in table.header]
    of_hpl = {"n", "nb"} & {*names} or any("flop" in name for name in names)
    if not of_hpl or names.count("p") != 1 or names.count("q") != 1:
        return table
    places = [names.index("p"), names.index("q")]
    return _with_column(table, "P x Q", places) if all(_numbers(table.cells(at)) for at in places) else table


def _with_nodes(table: RawTable) -> RawTable:
    """A table with nodes and devices in one column with a column of each.

    They are `1 (8)` below `Nodes (GPUs)`, or `1 (8 GPUs)` below `Nodes`.
    """
    for place, header in enumerate(table.header):
        named = re.fullmatch(rf"(?:# ?)?({NODE}) ?\( ?(?:# ?)?({DEVICE})\)", normal(header))
        names = named.groups() if named else ("nodes", "gpus")
        if not named and meaning_of(header).role != "nodes":
            continue
        pairs = [_pair(row[place], noun=not named) if place < len(row) else None for _, row in table.rows]
        filled = [cell for cell in table.cells(place) if not is_blank(cell)]
        if not filled or len([pair for pair in pairs if pair]) < len(filled):
            continue
        rows = tuple(
            (line, (*cells[:place], *(pair or ("", "")), *cells[place + 1 :]))
            for (line, cells), pair in zip(table.rows, pairs, strict=True)
        )
        return replace(table, header=(*table.header[:place], *names, *table.header[place + 1 :]), rows=rows)
    return table


def _pair(cell: str, *, noun: bool) -> tuple[str, str] | None:
    """The nodes and the devices of a cell; None for another. noun: whether it has to name the devices."""
    if found := _WITH_NOUN.fullmatch(plain(cell)):
        each = int(found["nodes"]) if found["each"] else 1
        return found["nodes"], str(int(found["own"]) * each)
    found = None if noun else _PAIR.fullmatch(plain(cell))
    return (found[1], found[2]) if found else None


def _with_nodes_of_codes(table: RawTable) -> RawTable:
    """A table whose labels are codes of nodes and the devices of each, 2n4g beside 8, with the nodes instead."""
    roles = [meaning_of(name).role for name in table.header]
    if roles.count("gpus") != 1 or {"nodes", "gpus_per_node"} & {*roles}:
        return table
    devices = roles.index("gpus")
    for place, role in enumerate(roles):
        codes = [_CODE.fullmatch(plain(row[place]).lower()) if place < len(row) else None for _, row in table.rows]
        found = [one for one in codes if one]
        whole = [int(one["nodes"]) * int(one["each"]) for one in found]
        counts = [plain(row[devices]) for _, row in table.rows if devices < len(row)]
        if role not in ("ignore", "label", "case") or not found or list(map(str, whole)) != counts:
            continue
        rows = tuple(
            (line, (*row[:place], one["nodes"], *row[place + 1 :]))
            for (line, row), one in zip(table.rows, found, strict=True)
        )
        return replace(table, header=(*table.header[:place], "nodes", *table.header[place + 1 :]), rows=rows)
    return table


def _with_degrees_of_labels(table: RawTable) -> RawTable:
    """A table of nodes whose labels are degrees of parallelism, TP8 PP1 DP2, with their product as the devices.

    The label keeps the degrees without that of the data.
    """
    roles = [meaning_of(name).role for name in table.header]
    if roles.count("nodes") != 1 or {"gpus", "gpus_per_node"} & {*roles}:
        return table
    nodes = roles.index("nodes")
    for place in range(len(table.header)):
        found = [count_of_degrees(plain(row[place])) if place < len(row) else None for _, row in table.rows]
        known = [
            (count.gpus, degrees) for count, degrees in filter(None, found) if "dp" in degrees and len(degrees) > 1
        ]
        counts = [plain(row[nodes]) for _, row in table.rows if nodes < len(row)]
        if len(known) < len(table.rows) or len(counts) < len(table.rows) or not all(map(str.isdecimal, counts)):
            continue
        if len({gpus / int(own) for (gpus, _), own in zip(known, counts, strict=True)}) != 1:
            continue
        rows = []
        for (line, row), (gpus, degrees) in zip(table.rows, known, strict=True):
            label = " ".join(f"{kind.upper()}{size}" for kind, size in degrees.items() if kind != "dp")
            rows.append((line, (*row[:place], label, *row[place + 1 :], str(gpus))))
        return replace(table, header=(*table.header, "gpus"), rows=tuple(rows)).noted(
            "the devices are the product of the degrees in the labels"
        )
    return table


def _of_a_job(table: RawTable) -> RawTable:
    """A table of the nodes, tasks and processors of SLURM jobs, with their product instead of the last two."""
    names = [normal(name) for name in table.header]
    factors = {
        kind: place for place, name in enumerate(names) for kind, form in _OF_A_JOB.items() if form.fullmatch(name)
    }
    places = list(factors.values())
    counted = all(re.fullmatch(r"[1-9]\d{0,5}", plain(cell)) for place in places for cell in table.cells(place))
    if "each" not in factors or len(factors) < 2 or not counted:
        return table
    whole = _with_column(table, "cores", places)
    whole = whole.noted(f"cores are {_TIMES.join(plain(table.header[place]) for place in sorted(places))}")
    dropped = {place + 1 for kind, place in factors.items() if kind != "nodes"}
    keep = [place for place in range(len(whole.header)) if place not in dropped]
    rows = tuple((line, tuple(cells[place] for place in keep if place < len(cells))) for line, cells in whole.rows)
    return replace(whole, header=tuple(whole.header[place] for place in keep), rows=rows)


def _with_threads(table: RawTable) -> RawTable:
    """A table of processes that have different numbers of threads, with their product as its first column."""
    names = [normal(header) for header in table.header]
    threads = [place for place, name in enumerate(names) if _THREADS.fullmatch(name)]
    ranks = [place for place, name in enumerate(names) if _RANKS.fullmatch(name)]
    of_devices = [
        place for place, header in enumerate(table.header) if meaning_of(header).role in ("gpus", "nodes")
    ]
    if len(threads) != 1 or len(ranks) != 1 or set(of_devices) - {*threads, *ranks}:
        return table
    cells = [[plain(cell) for cell in table.cells(place)] for place in (*ranks, *threads)]
    counted = all(re.fullmatch(r"[1-9]\d{0,5}", cell) for column in cells for cell in column)
    if not counted or len(set(cells[1])) < 2:
        return table
    counts = zip(*([int(cell) for cell in column] for column in cells), strict=False)
    each = {threads / ranks for ranks, threads in counts}
    if len(each) == 1 and len(set(cells[0])) > 1:
        return table  # the threads of all ranks, as many on each
    both = re.sub(r" ?(?:/|per) ?(?:node|host)$", "", names[ranks[0]]), names[threads[0]]
    name = "ranks x threads" if "mpi" in both else " x ".join(both)
    return _with_column(table, name, [ranks[0], threads[0]])


def factors_in(header: str) -> set[str]:
    """Return the names, in normal form, of the columns whose product a column is: ranks x threads."""
    parts = header.split(_TIMES)
    return set(map(normal, parts)) if len(parts) > 1 else set()


def _with_column(table: RawTable, name: str, places: Sequence[int]) -> RawTable:
    """The table with the product of columns in front of them."""
    rows: list[tuple[int, tuple[str, ...]]] = []
    for line, cells in table.rows:
        parts = [plain(cells[place]) if place < len(cells) else "" for place in places]
        whole = str(prod(map(int, parts))) if all(part.isdecimal() for part in parts) else ""
        rows.append((line, (whole, *cells)))
    return replace(table, header=(name, *table.header), rows=tuple(rows))


def product_of_others(columns: Sequence[Sequence[str]]) -> int | None:
    """Return the place of the column that is in each row the product of two others, both of which are not 1."""
    numbers = {
        place: [int(cell) for cell in cells]
        for place, cells in enumerate([[plain(cell) for cell in column] for column in columns])
        if cells and all(re.fullmatch(r"[1-9]\d{0,5}", cell) for cell in cells)
    }
    for whole, *factors in permutations(numbers, 3):
        first, second = (numbers[place] for place in factors)
        if numbers[whole] not in (first, second) and numbers[whole] == list(map(mul, first, second)):
            return whole
    return None


def _numbers(cells: Sequence[str]) -> list[int]:
    """The whole numbers of a column; none if it has other cells."""
    texts = list(map(plain, cells))
    return (
        [int(text) for text in texts] if texts and all(text.isdecimal() and text != "0" for text in texts) else []
    )
