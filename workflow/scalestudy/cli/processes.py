"""The same work many times over, on several cores."""

import gc
import os
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor
from itertools import repeat
from multiprocessing import get_context
from typing import TypeVar

Same = TypeVar("Same")
Given = TypeVar("Given")
Made = TypeVar("Made")


def cores() -> int:
    """Those that this process may use."""
    return len(os.sched_getaffinity(0))


def spread(
    work: Callable[[Same, Given], Made], same: Same, given: Iterable[Given], *, processes: int, at_once: int = 1
) -> list[Made]:
    """work(same, one) for each that is given, in their order.

    work: a function of a module, by whose name processes find it. at_once: handed to a process at a time. What it
    raises is raised here.
    """
    if processes < 2:
        return [work(same, one) for one in given]
    context = get_context("forkserver")
    context.set_forkserver_preload([work.__module__])  # imported once, and not by every process
    # What was imported stays; the collector need not look through it again.
    with ProcessPoolExecutor(processes, mp_context=context, initializer=gc.freeze) as pool:
        return list(pool.map(work, repeat(same), given, chunksize=at_once))
