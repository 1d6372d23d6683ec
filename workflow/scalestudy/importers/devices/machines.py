"""Machines beside a number of devices: their names, such as node12, or how many there are."""

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


def _grow_as(raw: RawTable, place: int, devices: int) -> bool:
    """Whether the devices are, in each row, as many on each of the machines."""
    rows = [(plain(row[place]), plain(row[devices])) for _, row in raw.rows if len(row) > max(place, devices)]
    if not all(map(_COUNT.fullmatch, (cell for row in rows for cell in row))):
        return False
    each = {int(gpus) / int(machines) for machines, gpus in rows}
    return len(each) == 1 and min(each) >= 1 and len({machines for machines, _ in rows}) > 1
