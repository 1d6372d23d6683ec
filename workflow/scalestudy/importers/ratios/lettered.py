"""Ratios that a letter behind a name says: `Large S` and `Large E` beside `Large time (s)`."""

from __future__ import annotations

import re

from scalestudy.importers.headers.meaning import Meaning, meaning_of, normal, place_of_devices, with_role
from scalestudy.importers.numbers.printed import plain
from scalestudy.importers.published import MEASURED
from scalestudy.importers.ratios.columns import LETTERS, by_devices, starts_at_one
from scalestudy.importers.raw import RawTable

_BEHIND = re.compile(r"(?P<name>.*\w)\W*[ _](?P<letter>[SE])(?: ?[(\[]?%[)\]]?)?")


def letters_behind_names(meanings: list[Meaning], raw: RawTable, said: set[str]) -> list[Meaning]:
    """Read a name with a letter as a ratio of the measurement with this name, if it begins at 1."""
    devices = place_of_devices(meanings)
    names = {one.rest for one in meanings if one.role in MEASURED and one.rest}
    result = list(meanings)
    for place, one in enumerate(meanings):
        found = _BEHIND.fullmatch(plain(one.header))
        if devices is None or found is None or one.role != "ignore" or normal(one.header) in said:
            continue
        name = meaning_of(f"{found['name']} time").rest
        ratios = by_devices(raw, devices, place) if name in names else []
        if len({gpus for gpus, _ in ratios}) > 1 and starts_at_one(ratios):
            result = with_role(result, place, LETTERS[found["letter"]], rest=name)
    return result
