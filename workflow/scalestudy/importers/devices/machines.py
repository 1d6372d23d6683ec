"""Machines beside a number of devices: their names, such as node12, how many there are, and what they have."""

from __future__ import annotations

import re
from collections.abc import Sequence

from scalestudy.importers.headers.meaning import Meaning, normal
from scalestudy.importers.headers.terms import NODE
from scalestudy.importers.numbers.printed import plain
from scalestudy.importers.raw import RawTable

_MACHINES = re.compile(rf"{NODE}(?: ?names?)?|hostnames?")
_NAME = re.compile(
    r"(?P<kind>(?:[a-z]+-)*(?:node|host|nid|cn|compute|worker|server|srv|vm|machine|gpu|cpu))-?(?P<number>\d{1,6})|"
    r"(?P<other>[a-z]+(?:-[a-z]+)*)-?(?P<padded>0\d{1,5})"
)
"""The name of one of several machines of a kind: node12, n012. The number of dgx-2 may be that of its kind."""
_WITH_DEVICES = re.compile(
    r"(?:(?P<count>[1-9]\d{0,3}) ?x ?)?(?P<kind>[A-Za-z][\w. -]*?) ?[(\[](?P<devices>[1-9]\d{0,5})[)\]]"
)
"""A kind of machine with its number and the devices of all: 4x DGX-1 (32)."""
_MOST_OF_A_MACHINE = range(2, 17)
_COUNT = re.compile(r"[1-9]\d{0,4}")


def role_of_machines(meanings: Sequence[Meaning], place: int, raw: RawTable) -> str:
    """Return what a column of machines beside one of devices is, or '' if its cells do not show it.

    Names of one kind are left out, and those of several kinds are the hardware. Numbers that grow as the devices
    do are nodes.
    """
    name, cells = normal(meanings[place].header), [plain(cell).lower() for cell in raw.cells(place)]
    others = [at for at, one in enumerate(meanings) if one.role in ("gpus", "nodes") and at != place]
    if not others or not cells or not _MACHINES.fullmatch(name):
        return ""
    named = [_NAME.fullmatch(cell) for cell in cells]
    numbered = [one for one in named if one]
    one_each = not name.endswith("s") or any((one["number"] or one["padded"]).startswith("0") for one in numbered)
    if one_each and len(numbered) == len(cells):  # n2 below `Nodes` may be two of them
        return "ignore" if len({one["kind"] or one["other"] for one in numbered}) == 1 else "hardware"
    if meanings[place].role == "hardware" and all(map(_COUNT.fullmatch, cells)):
        return "nodes" if _grow_as(raw, place, others[0]) else "label"
    return ""


def machines_across(header: Sequence[str]) -> dict[int, tuple[str, str]]:
    """Return place -> (devices, no other words) of headers of machines: DGX-1 (8), 4x DGX-1 (32).

    Nothing if the machines of a kind do not have as many devices each.
    """
    found = {at: one for at, name in enumerate(header) if at and (one := _WITH_DEVICES.fullmatch(plain(name)))}
    each = {int(one["devices"]) / int(one["count"] or 1) for one in found.values()}
    kinds = {one["kind"].lower() for one in found.values()}
    devices = {one["devices"] for one in found.values()}
    several = any(one["count"] for one in found.values()) and len(devices) == len(found) > 1
    if not several or len(kinds) != 1 or len(each) != 1 or each.pop() not in _MOST_OF_A_MACHINE:
        return {}
    return {at: (one["devices"], "") for at, one in found.items()}


def _grow_as(raw: RawTable, place: int, devices: int) -> bool:
    """Whether the devices are, in each row, as many on each of the machines."""
    rows = [(plain(row[place]), plain(row[devices])) for _, row in raw.rows if len(row) > max(place, devices)]
    if not all(map(_COUNT.fullmatch, (cell for row in rows for cell in row))):
        return False
    each = {int(gpus) / int(machines) for machines, gpus in rows}
    return len(each) == 1 and min(each) >= 1 and len({machines for machines, _ in rows}) > 1
