"""Batches of a CSV file that is read through Python, without a thread that outlives them."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Generator
from time import monotonic, sleep
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import csv

LONGEST_S = 2.0
"""Limit of the wait for Arrow's thread. It ends after the block that it reads."""


class _Lent:
    """A file that nothing but Arrow refers to. lent: receives a reference to each part that was read."""

    closed = False

    def __init__(self, read: Callable[[int], bytes], lent: list[weakref.ref[Any]]) -> None:
        def read_part(size: int) -> np.ndarray:
            part = np.frombuffer(read(size), np.uint8)  # bytes cannot be referred to weakly
            lent[:] = [one for one in lent if one() is not None]
            lent.append(weakref.ref(part))
            return part

        self.read = read_part
        lent.append(weakref.ref(self))

    def close(self) -> None:
        """Nothing: who opened the file closes it."""


def batches(read: Callable[[int], bytes], **options: Any) -> Generator[pa.RecordBatch, None, None]:
    """Yield the batches of a CSV file. read: returns its next part. options: those of `pyarrow.csv.open_csv`.

    Arrow reads ahead in a thread of its own. If Python ends while that thread calls `read`, or releases what it
    returned, the process is aborted (SIGABRT). So the end of this iterator waits until Arrow has released all,
    also if the file was not read to its end.
    """
    lent: list[weakref.ref[Any]] = []
    try:
        yield from csv.open_csv(pa.PythonFile(_Lent(read, lent), mode="r"), **options)
    finally:
        until = monotonic() + LONGEST_S
        while any(one() is not None for one in lent) and monotonic() < until:
            sleep(0.001)
