"""The same work on several cores: in order, and with its errors."""

from __future__ import annotations

import operator
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import alive
from scalestudy.cli.processes import cores, spread


@pytest.mark.parametrize("processes", [1, 2])
def test_what_is_made_comes_in_order(processes: int) -> None:
    made = spread(operator.sub, 10, range(20), processes=processes, at_once=3)
    assert made == [10 - number for number in range(20)]


@pytest.mark.parametrize("processes", [1, 2])
def test_what_goes_wrong_in_a_process_is_raised_here(processes: int) -> None:
    with pytest.raises(ZeroDivisionError):
        spread(operator.truediv, 6, [1, 2, 0, 3], processes=processes)


def ended_elsewhere(parent: int, number: int) -> int:
    if os.getpid() != parent:
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def test_work_of_a_process_that_was_killed_is_done_here() -> None:
    assert spread(ended_elsewhere, os.getpid(), range(4), processes=2) == [0, 1, 2, 3]


def called(table: list[Callable[[int], int]], number: int) -> int:
    return table[0](number)


@pytest.mark.parametrize("processes", [1, 2])
def test_what_the_work_has_in_common_is_inherited_and_not_sent(processes: int) -> None:
    """A function without a name cannot be sent to a process."""
    assert spread(called, [lambda number: number**2], range(5), processes=processes) == [0, 1, 4, 9, 16]


def test_there_is_a_core_to_work_on() -> None:
    assert cores() >= 1


WORKS = """
import os, sys, time
from scalestudy.cli.processes import spread
def work(folder, number):
    open(os.path.join(folder, str(os.getpid())), "w").close()
    time.sleep(60)
sys.modules["works"] = sys.modules["__main__"]
work.__module__ = "works"
spread(work, sys.argv[1], range(2), processes=2)
"""


def test_processes_end_with_whoever_started_them(tmp_path: Path) -> None:
    """A parent that is killed cannot end them, and they would wait for it without end."""
    parent = subprocess.Popen([sys.executable, "-c", WORKS, str(tmp_path)])
    end = time.monotonic() + 60
    while len(list(tmp_path.iterdir())) < 2:
        assert time.monotonic() < end
        time.sleep(0.05)
    parent.send_signal(signal.SIGKILL)
    parent.wait()
    workers = [int(path.name) for path in tmp_path.iterdir()]
    while any(alive(pid) for pid in workers):
        assert time.monotonic() < end
        time.sleep(0.05)
