"""The bus bandwidth that nccl-tests measures, beside that of the probe of collectives."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import isfinite, isnan, nan
from pathlib import Path

from scalestudy.accept.model import Check, check, unproven
from scalestudy.analyse.communication.collectives import (
    BUS_BANDWIDTH,
    GIB,
    LARGEST,
    collectives_of,
    network_of,
)
from scalestudy.record.tables import Observation

NAME = "nccl-tests"
PROGRAM = "all_reduce_perf"
HOME = "NCCL_TESTS_HOME"
LIMIT = 0.20
"""Relative difference that is allowed: its NCCL may be another version, and one process drives all its devices."""


def find_program(environment: Mapping[str, str], which: Callable[[str], str | None]) -> str | None:
    """Path of all_reduce_perf in $NCCL_TESTS_HOME, where nccl-tests builds it, or on PATH; None without it."""
    if home := environment.get(HOME):
        for path in (Path(home) / "build" / PROGRAM, Path(home) / PROGRAM):
            if path.is_file():
                return str(path)
    return which(PROGRAM)


def command(program: str, size: int, devices: int) -> list[str]:
    """The command that measures one size on all devices from one process."""
    return [program, "-b", str(size), "-e", str(size), "-g", str(devices), "-w", "5", "-n", "20"]


def bus_bandwidths(text: str) -> dict[int, float]:
    """GB/s of in-place all-reduces by their size in bytes, of what all_reduce_perf prints.

    The line of names above the table says which column is which: versions have `redop`, `root`, `#wrong` or not.
    """
    found: dict[int, float] = {}
    column = None
    for line in text.splitlines():
        words = line.lstrip("#").split()
        if line.startswith("#") and words.count("busbw") == 2:
            column = len(words) - 1 - words[::-1].index("busbw")  # out of place first, in place second
        elif column is not None and not line.startswith("#") and len(words) > column:
            try:
                found[int(words[0])] = float(words[column])
            except ValueError:  # a line of NCCL's log
                continue
    return found


def largest_message(observation: Observation) -> tuple[int, float]:
    """(bytes, bus bandwidth in GB/s) of the largest all-reduce that the probe measured; (0, nan) without any."""
    network = network_of(collectives_of(observation.tables["collectives"]))
    if isnan(network[LARGEST]):
        return 0, nan
    return int(network[LARGEST]), network[BUS_BANDWIDTH] * GIB / 1e9


def nccl_tests_check(observation: Observation, exit_code: int, printed: str) -> Check:
    """Whether both bus bandwidths at the largest message agree. printed: by all_reduce_perf at that size."""
    size, probed = largest_message(observation)
    measured = bus_bandwidths(printed).get(size, nan)
    if exit_code or not isfinite(measured):
        last = (printed.strip().splitlines() or ["nothing was printed"])[-1]
        return unproven(NAME, f"no figure at {size} bytes; exit code {exit_code}: {last}")
    off = probed / measured - 1
    found = f"{probed:.3g} GB/s by the probe, {measured:.3g} GB/s by nccl-tests at {size} bytes ({off:+.1%})"
    return check(NAME, abs(off) <= LIMIT, found, f"within {LIMIT:.0%}", value=off, limit=LIMIT)
