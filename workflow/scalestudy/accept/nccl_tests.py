"""Compares the bus bandwidth from nccl-tests with that from the probe of collectives."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import isfinite, isnan, nan
from pathlib import Path

from scalestudy.accept.disturbed import marks_of, unless_disturbed
from scalestudy.accept.model import Check, check, unproven
from scalestudy.analyse.communication.collectives import (
    BUS_BANDWIDTH,
    GIB,
    LARGEST,
    collectives_of,
    network_of,
)
from scalestudy.record.tables import Observation
from scalestudy.registry.words.percent import percent

NAME = "nccl-tests"
PROGRAM = "all_reduce_perf"
HOME = "NCCL_TESTS_HOME"
LIMIT = 0.20
"""Largest relative difference: nccl-tests may use another NCCL version, and drives all devices in one process."""


def find_program(environment: Mapping[str, str], which: Callable[[str], str | None]) -> str | None:
    """Return the path of all_reduce_perf, from its build in $NCCL_TESTS_HOME or on PATH; None if missing."""
    if home := environment.get(HOME):
        for path in (Path(home) / "build" / PROGRAM, Path(home) / PROGRAM):
            if path.is_file():
                return str(path)
    return which(PROGRAM)


def command(program: str, size: int, devices: int) -> list[str]:
    """The command that measures one size on all devices from one process."""
    return [program, "-b", str(size), "-e", str(size), "-g", str(devices), "-w", "5", "-n", "20"]


def bus_bandwidths(text: str) -> dict[int, float]:
    """Return GB/s of in-place all-reduces by size in bytes, from the output of all_reduce_perf.

    Columns are found by the header of the table, since versions differ in `redop`, `root` and `#wrong`.
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
    """Return (bytes, bus bandwidth in GB/s) of the largest probed all-reduce; (0, nan) if there is no probe."""
    network = network_of(collectives_of(observation.tables["collectives"]))
    if isnan(network[LARGEST]):
        return 0, nan
    return int(network[LARGEST]), network[BUS_BANDWIDTH] * GIB / 1e9


def nccl_tests_check(observation: Observation, exit_code: int, printed: str, marks: str = "") -> Check:
    """Check that both bus bandwidths at the largest message agree.

    printed: output of all_reduce_perf. marks: how this program was disturbed, as codes.
    """
    size, probed = largest_message(observation)
    measured = bus_bandwidths(printed).get(size, nan)
    if exit_code or not isfinite(measured):
        last = (printed.strip().splitlines() or ["nothing was printed"])[-1]
        return unproven(NAME, f"no bandwidth at {size} bytes; exit code {exit_code}: {last}")
    off = probed / measured - 1
    theirs = f"{measured:.3g} GB/s by nccl-tests at {size} bytes ({percent(off, 1, signed=True)})"
    found = f"{probed:.3g} GB/s by the probe, {theirs}"
    equal = check(NAME, abs(off) <= LIMIT, found, f"within {percent(LIMIT)}", value=off, limit=LIMIT)
    return unless_disturbed(equal, marks_of(observation) or marks)
