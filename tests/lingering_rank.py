"""A rank whose process group never ends, as NCCL's where another rank is in a kernel or gone.

Started in the place of `scalestudy.train`, with the same arguments. FAILS names what rank 1 does in its training:
`memory`, `probe` (out of memory in a probe) or `nothing`.
"""

from __future__ import annotations

import ctypes
import os
import time
from typing import Any

from scalestudy.train import rank
from scalestudy.train.__main__ import run
from scalestudy.train.loop import Trainer
from scalestudy.train.place import watchdog
from scalestudy.train.strategies.base import Grouped

FAILS = "TEST_FAILS"


def wait_for_ever(_: Grouped) -> None:
    time.sleep(3600)


def run_out_of_memory(_: Trainer) -> Any:
    if os.environ["RANK"] == "1":
        raise MemoryError
    library, mutex = ctypes.CDLL(None), ctypes.create_string_buffer(64)
    for _ in range(2):  # as in a kernel that waits for the other rank, where no handler of Python's runs
        library.pthread_mutex_lock(mutex)


if __name__ == "__main__":
    rank.LEAVING_S, watchdog.ANSWER_S = 2, 1.0
    Grouped.close = wait_for_ever
    if os.environ[FAILS] == "memory":
        Trainer.train = run_out_of_memory
    if os.environ[FAILS] == "probe":
        rank.run_probes = run_out_of_memory
    run()
