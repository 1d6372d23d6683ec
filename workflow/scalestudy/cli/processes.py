"""The same work many times over, on several cores."""

import gc
import os
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor
from itertools import repeat
from multiprocessing import get_context
from typing import Any, TypeVar

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
    raises is raised here. The processes are forks of this one, and begin with what it has imported and read.
    """
    if processes < 2:
        return [work(same, one) for one in given]
    context = get_context("fork")
    with ProcessPoolExecutor(processes, mp_context=context, initializer=_begin, initargs=(same,)) as pool:
        return list(pool.map(_do, repeat(work), given, chunksize=at_once))


_inherited: list[Any] = []
"""In a process of `spread`: what all of its work has in common."""


def _begin(same: Any) -> None:
    gc.freeze()  # what was imported stays; the collector need not look through it again
    _inherited.append(same)


def _do(work: Callable[[Any, Given], Made], one: Given) -> Made:
    return work(_inherited[0], one)
