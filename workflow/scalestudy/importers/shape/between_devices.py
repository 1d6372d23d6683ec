"""Columns without devices in their headers, between or behind those that have them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from scalestudy.importers.numbers.printed import plain
from scalestudy.importers.shape.ratios_across import size_of

_BARE = re.compile(r"(?P<number>[1-9]\d{0,5})(?: ?\([^()\d]{1,20}\))?")
_FEW = 2  # columns of devices from which a table has devices across


def bare_between(header: Sequence[str], found: dict[int, tuple[str, str]]) -> dict[int, tuple[str, str]]:
    """Return columns with a number only, perhaps with a remark, in a row of devices that grow.

    An example is `1 GPU | 2 | 4 GPUs`.
    """
    bare = {place: one for place, name in enumerate(header) if place and (one := _BARE.fullmatch(plain(name)))}
    own = {place: one["number"] for place, one in bare.items() if place not in found}
    sizes = {place: size_of(devices) for place, (devices, _) in found.items()}
    sizes |= {place: int(number) for place, number in own.items()}
    places = range(min(sizes, default=0), max(sizes, default=0) + 1)
    grows = all(sizes.get(few, 0) < sizes.get(many, 0) for few, many in pairwise(places))
    alike = len(found) >= _FEW and {words for _, words in found.values()} == {""}
    return {place: (number, "") for place, number in own.items()} if alike and grows else {}


def repeated_behind(header: Sequence[str], found: dict[int, tuple[str, str]]) -> dict[int, tuple[str, str]]:
    """Return columns with one name behind those of all devices.

    An example is `1 thread before | after | 8 threads before | after`.
    """
    names = [plain(name) for name in header]
    behind = {
        place: (devices, names[place + 1]) for place, (devices, _) in found.items() if place + 1 < len(names)
    }
    whole = len(found) >= _FEW and len(behind) == len(found) and all(words for _, words in found.values())
    free = not any(place + 1 in found for place in found)
    alike = len({name for _, name in behind.values()}) == len({words for _, words in found.values()}) == 1
    return {place + 1: said for place, said in behind.items()} if whole and free and alike else {}
