"""Ratios that letters say: `Large S` beside `Large time (s)`, and S(T) beside the devices T."""

from __future__ import annotations

import re
from dataclasses import replace

from scalestudy.importers.counts.cells import read_count
from scalestudy.importers.headers.meaning import Meaning, meaning_of, normal, place_of_devices, with_role
from scalestudy.importers.numbers.printed import plain, share
from scalestudy.importers.published import MEASURED
from scalestudy.importers.ratios.columns import LETTERS, by_devices, starts_at_one
from scalestudy.importers.raw import RawTable

_BEHIND = re.compile(r"(?P<name>.*\w)\W*[ _](?P<letter>[SE])(?: ?[(\[]?%[)\]]?)?")


_OF_A_LETTER = re.compile(r"(?P<ratio>[SE])\((?P<letter>[A-Za-z])\)(?: ?[(\[]?%[)\]]?)?")
"""A ratio with the letter of its devices."""


def letters_of_devices(meanings: list[Meaning], raw: RawTable, said: set[str]) -> list[Meaning]:
    """Read the column of a letter as the devices if a ratio is a function of it: T beside S(T), with a size n."""
    names = [plain(one.header) for one in meanings]
    for place, name in enumerate(names):
        found = _OF_A_LETTER.fullmatch(name)
        letter = found["letter"] if found else ""
        at = names.index(letter) if letter in names else -1
        if found is None or at < 0 or meanings[at].role == "gpus" or normal(letter) in said:
            continue
        if share(raw.cells(at), read_count) == 1:
            sizes = [
                replace(one, role="label") if one.role == "gpus" and normal(one.header) not in said else one
                for one in meanings
            ]
            of_devices = with_role(sizes, at, "gpus", unit="", rest="")
            return with_role(of_devices, place, LETTERS[found["ratio"]])
    return meanings


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
