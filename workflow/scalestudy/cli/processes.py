"""Runs the same function for many inputs on several cores."""

import gc
import os
import signal
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from itertools import repeat
from multiprocessing import get_context
from typing import Any, TypeVar

from scalestudy.launch.family import end_with_parent

Same = TypeVar("Same")
Given = TypeVar("Given")
Made = TypeVar("Made")


def cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0))


def spread(
    work: Callable[[Same, Given], Made], same: Same, given: Iterable[Given], *, processes: int, at_once: int = 1
) -> list[Made]:
    """Return work(same, one) for each given input, in their order. Raises what `work` raises.

    If a process ends before its work is done, as one that the system killed for its memory, this process does all
    of the work again.

    work: a module-level function, so that processes find it by name. at_once: number of inputs that a process gets
    at a time. The processes are forks of this one and share what it has imported and read.
    """
    if processes < 2:
        return [work(same, one) for one in given]
    given = list(given)
    context = get_context("fork")
    try:
        with ProcessPoolExecutor(
            processes, mp_context=context, initializer=_begin, initargs=(os.getpid(), same)
        ) as pool:
            return list(pool.map(_do, repeat(work), given, chunksize=at_once))
    except BrokenProcessPool:
        return [work(same, one) for one in given]


_inherited: list[Any] = []
"""In a process of `spread`: the argument `same`."""


def _begin(parent: int, same: Any) -> None:
    end_with_parent(signal.SIGKILL)
    if os.getppid() != parent:  # it died in the moment before
        os._exit(1)
    gc.freeze()  # what was imported stays; the collector need not look through it again
    _inherited.append(same)


def _do(work: Callable[[Any, Given], Made], one: Given) -> Made:
    return work(_inherited[0], one)
