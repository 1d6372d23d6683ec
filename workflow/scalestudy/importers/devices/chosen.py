"""Which of several columns counts the devices: the first of their kinds, a product, or ranks beyond a node."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from scalestudy.importers.devices.products import product_of_others
from scalestudy.importers.headers.meaning import Meaning, normal, with_role
from scalestudy.importers.headers.terms import DEVICE
from scalestudy.importers.numbers.printed import plain
from scalestudy.importers.raw import RawTable

KINDS = (
    *("gpu", "pu", "device", "accel", "card", "gcd", "chip"),
    *("rank", "proc", "worker", "core", "task", "thread", ""),
)
"""Kinds of devices in headers, the first counts."""
_OF_A_PART = re.compile(rf"(?:#|n|num(?:ber)?(?: of)?)? ?(?:\w+ )?{DEVICE}(?: ?/ ?| per )(?:mpi )?{DEVICE}")
"""Headers of devices of each other device: threads per rank."""
_VASP = re.compile(r"\bvasp\b|\b[kn]par\b|\bloop\+")
"""Words of VASP, whose NCORE is a setting."""
_TASKS = re.compile(r"n?tasks?\b|[tpr]pn$")
"""Headers of the tasks of a node, each of which may have several devices."""


def one_of_devices(meanings: list[Meaning], raw: RawTable, said: set[str]) -> list[Meaning]:
    """Reads `Workers` or `Threads` beside `GPUs` as a label: devices are the first of KINDS that the table has.

    A column that is the product of two others, such as the cores of processes with threads, counts them all.
    """
    meanings = _tasks_of_nodes(_without_settings(_without_ids(meanings, raw, said), raw, said), raw, said)
    devices = [one for one in meanings if one.role == "gpus"]
    parts = [one for one in devices if _OF_A_PART.fullmatch(normal(one.header)) and normal(one.header) not in said]
    if parts and len(devices) > 1:  # the others count all, also on each node
        meanings = [
            replace(one, role="label") if one in parts or one.role == "gpus_per_node" else one for one in meanings
        ]
        devices = [one for one in devices if one not in parts]
    if len(devices) < 2 or any(normal(one.header) in said for one in devices):
        return meanings
    if product := next((one for one in devices if " x " in normal(one.header)), None):  # of these columns
        return [
            replace(one, role="ignore") if one.role == "gpus" and one is not product else one for one in meanings
        ]
    counts = [raw.cells(at) if one.role == "gpus" else [] for at, one in enumerate(meanings)]
    if (total := product_of_others(counts)) is not None:
        return [
            replace(one, role="label") if one.role == "gpus" and at != total else one
            for at, one in enumerate(meanings)
        ]
    if (whole := _beyond_a_node(meanings, raw)) is not None:
        return [
            replace(one, role="gpus_per_node") if one.role == "gpus" and at != whole else one
            for at, one in enumerate(meanings)
        ]
    if len(named := [one for one in devices if normal(one.header) != "n"]) == 1:
        # n is the size of a problem, or how often a run was repeated
        return [
            one
            if one.role != "gpus" or one in named
            else replace(one, role="ignore" if _are_repeats(raw.cells(at)) else "label")
            for at, one in enumerate(meanings)
        ]
    ranks = [next(place for place, kind in enumerate(KINDS) if kind in normal(one.header)) for one in devices]
    best = devices[ranks.index(min(ranks))]
    if ranks.count(min(ranks)) > 1:
        return meanings
    return [replace(one, role="label") if one.role == "gpus" and one is not best else one for one in meanings]


def _without_ids(meanings: list[Meaning], raw: RawTable, said: set[str]) -> list[Meaning]:
    """The meanings without a rank, from 0 on, that is below another number of devices in each row."""
    places = [at for at, one in enumerate(meanings) if one.role == "gpus"]
    rows = [[plain(row[at]) for at in places] for _, row in raw.rows if len(row) == len(meanings)]
    if len(places) < 2 or not rows or not all(cell.isdecimal() for row in rows for cell in row):
        return meanings
    columns = {place: [int(row[at]) for row in rows] for at, place in enumerate(places)}
    below = [
        place
        for place, own in columns.items()
        if min(own) == 0
        and any(all(few < many for few, many in zip(own, one, strict=True)) for one in columns.values())
    ]
    return [
        replace(one, role="ignore") if at in below and normal(one.header) not in said else one
        for at, one in enumerate(meanings)
    ]


def _without_settings(meanings: list[Meaning], raw: RawTable, said: set[str]) -> list[Meaning]:
    """The meanings without NCORE of VASP beside nodes: how many cores work on a band, and no number of all."""
    words = (*raw.header, *raw.captions, *raw.text)
    if all(one.role != "nodes" for one in meanings) or not any(_VASP.search(plain(one).lower()) for one in words):
        return meanings
    return [
        replace(one, role="ignore") if normal(one.header) == "ncore" and "ncore" not in said else one
        for one in meanings
    ]


def _tasks_of_nodes(meanings: list[Meaning], raw: RawTable, said: set[str]) -> list[Meaning]:
    """The meanings without the tasks of a node beside devices, unless the devices are these: 8 tasks on 4 GPUs."""
    roles = [one.role for one in meanings]
    if not {"gpus", "nodes", "gpus_per_node"} <= {*roles}:
        return meanings
    places = [roles.index(role) for role in ("gpus", "nodes", "gpus_per_node")]
    name = normal(meanings[places[2]].header)
    rows = [[plain(row[at]) for at in places] for _, row in raw.rows if len(row) == len(meanings)]
    if name in said or not _TASKS.match(name) or not all(cell.isdecimal() for row in rows for cell in row):
        return meanings
    all_of_them = all(int(gpus) == int(nodes) * int(each) for gpus, nodes, each in rows)
    return meanings if all_of_them else with_role(meanings, places[2], "label")


def _are_repeats(cells: Sequence[str]) -> bool:
    """Whether all numbers are as small as numbers of repeats are."""
    return all(re.fullmatch(r"[1-9]|10", plain(cell)) for cell in cells)


def _beyond_a_node(meanings: Sequence[Meaning], raw: RawTable) -> int | None:
    """The place of ranks 1, 2, 4, 8, 16 beside GPUs 1, 2, 4, 4, 4, which are those of a node; else None."""
    places = [at for at, one in enumerate(meanings) if one.role == "gpus"]
    cells = [[plain(row[at]) for at in places] for _, row in raw.rows if len(row) == len(meanings)]
    if len(places) != 2 or len(cells) < 3 or not all(cell.isdecimal() for row in cells for cell in row):
        return None
    first, second = zip(*(map(int, row) for row in cells), strict=True)
    for each, whole, place in ((first, second, places[1]), (second, first, places[0])):
        most = max(each)
        beyond = {count for count in whole if count > most}
        if len(beyond) < 2 or len({*whole} - beyond) < 2:
            continue
        if all(own == min(count, most) for own, count in zip(each, whole, strict=True)):
            return place
    return None
