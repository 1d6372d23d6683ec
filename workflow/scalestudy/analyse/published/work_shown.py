"""What the product of two columns, or a size of the work, shows of the work that a row is for."""

from __future__ import annotations

from collections.abc import Sequence

from scalestudy.analyse.published.alike import alike
from scalestudy.analyse.published.explained import CLOSE
from scalestudy.analyse.published.growth import FALLS, falls, in_order
from scalestudy.importers.published import PublishedRow, PublishedTable

WHOLE_TIMES = ("time_s", "total_time_s")


def is_of_constant_work(rows: Sequence[PublishedRow], role: str) -> bool:
    """Return whether throughput times time is constant and the time falls.

    A rate per device would give more work on more devices.
    """
    for time in WHOLE_TIMES:
        whole = [row for row in in_order(rows, time) if (row.number(role) or 0) > 0]
        work = [(row.number(role) or 0) * (row.number(time) or 0) for row in whole]
        if len(work) > 1 and alike(work, CLOSE) and falls(whole, time, FALLS):
            return True
    return False


def is_of_constant_batches(rows: Sequence[PublishedRow], role: str) -> bool:
    """Return whether throughput times step time grows as the devices do.

    A rate per device would give batches of each device that grow.
    """
    stepped = [row for row in in_order(rows, "step_time_s") if (row.number(role) or 0) > 0]
    work = [(row.number(role) or 0) * (row.number("step_time_s") or 0) / row.gpus for row in stepped]
    return len({row.gpus for row in stepped}) > 1 and alike(work, CLOSE)


def is_of_growing_work(table: PublishedTable, rows: Sequence[PublishedRow]) -> bool:
    """Return whether a size of the work grows as the devices do, and no printed speedup could contradict it.

    Efficiencies that follow from constant work are wrong then.
    """
    return table.grows_as_devices and not any("printed_speedup" in row.numbers for row in rows)
