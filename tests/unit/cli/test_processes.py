"""The same work on several cores: in order, and with its errors."""

from __future__ import annotations

import operator
from collections.abc import Callable

import pytest
from scalestudy.cli.processes import cores, spread


@pytest.mark.parametrize("processes", [1, 2])
def test_what_is_made_comes_in_order(processes: int) -> None:
    made = spread(operator.sub, 10, range(20), processes=processes, at_once=3)
    assert made == [10 - number for number in range(20)]


@pytest.mark.parametrize("processes", [1, 2])
def test_what_goes_wrong_in_a_process_is_raised_here(processes: int) -> None:
    with pytest.raises(ZeroDivisionError):
        spread(operator.truediv, 6, [1, 2, 0, 3], processes=processes)


def called(table: list[Callable[[int], int]], number: int) -> int:
    return table[0](number)


@pytest.mark.parametrize("processes", [1, 2])
def test_what_the_work_has_in_common_is_inherited_and_not_sent(processes: int) -> None:
    """A function without a name cannot be sent to a process."""
    assert spread(called, [lambda number: number**2], range(5), processes=processes) == [0, 1, 4, 9, 16]


def test_there_is_a_core_to_work_on() -> None:
    assert cores() >= 1
