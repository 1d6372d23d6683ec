"""Headers that are one name of devices with different numbers: numbers of devices, or names of single ones."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from scalestudy.importers.cells import plain
from scalestudy.importers.terms import DEVICE, NODE

_NUMBERED = re.compile(r"(?P<words>[^\d]*[a-z#][^\d]*?)(?P<number>\d{1,6})")
_NAMES_COUNT = re.compile(rf"(?:\b(?:np|nt|nw|n ?procs?|ws|world ?size|mpi|omp|tp|pp|dp|ep|cp)|{DEVICE}|{NODE})$")
_NAMES_ONE = re.compile(r"(?:gpu|device|rank|accelerator|card|tpu|npu|worker|process|thread|core|node|host)$")
_FEW = 2


def numbers_across(header: Sequence[str]) -> dict[int, str]:
    """Return place -> number of the columns `MPI np 1`, `MPI np 2`, `MPI np 4`; none if there are none."""
    return next((places for words, places in _groups(header) if not _are_names(words, places)), {})


def single_devices(header: Sequence[str]) -> list[str]:
    """Return headers that may be the names of single devices: `GPU0`, `GPU1`, or `GPU1`, `GPU2`."""
    found = (places for words, places in _groups(header) if _are_names(words, places))
    return [plain(header[place]) for place in next(found, {})]


def _groups(header: Sequence[str]) -> Iterator[tuple[str, dict[int, str]]]:
    """Names of devices with the places and the numbers of their columns."""
    groups: dict[str, dict[int, str]] = {}
    for place, name in enumerate(header[1:], start=1):
        if found := _NUMBERED.fullmatch(plain(name).lower()):
            groups.setdefault(found["words"].strip(" =:_#-"), {})[place] = found["number"]
    for words, places in groups.items():
        if len(set(places.values())) == len(places) >= _FEW and _NAMES_COUNT.search(words):
            yield words, places


def _are_names(words: str, places: dict[int, str]) -> bool:
    numbers = list(map(int, places.values()))
    follow = numbers == list(range(numbers[0], numbers[0] + len(numbers))) and numbers[0] < _FEW
    return follow and _NAMES_ONE.search(words) is not None
