"""Batches of a CSV file that is read through Python, without a thread that outlives them."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Generator
from time import monotonic, sleep
from typing import Any

import pyarrow as pa
from pyarrow import csv

LONGEST_S = 2.0
"""Limit of the wait for Arrow's thread. It ends after the block that it reads."""


class _Lent:
    """A file that nothing but Arrow refers to."""

    closed = False

    def __init__(self, read: Callable[[int], bytes]) -> None:
        self.read = read

    def close(self) -> None:
        """Nothing: who opened the file closes it."""


def batches(read: Callable[[int], bytes], **options: Any) -> Generator[pa.RecordBatch, None, None]:
    """Yield the batches of a CSV file. read: returns its next part. options: those of `pyarrow.csv.open_csv`.

    Arrow reads ahead in a thread of its own. If Python ends while that thread calls `read`, the process is aborted
    (SIGABRT). So the end of this iterator waits for that thread, also if the file was not read to its end.
    """
    file = [_Lent(read)]  # without a name of its own, so that Arrow has the last reference
    needed = weakref.ref(file[0])
    try:
        yield from csv.open_csv(pa.PythonFile(file.pop(), mode="r"), **options)
    finally:
        until = monotonic() + LONGEST_S
        while needed() is not None and monotonic() < until:
            sleep(0.001)
