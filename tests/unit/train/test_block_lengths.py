"""How many steps a block has: as many as are requested, unless they are long or short."""

import pytest
from scalestudy.train.probes.alternation import turn_steps
from scalestudy.train.probes.rounds import block_steps


@pytest.mark.parametrize(
    ("step_s", "of_probes", "of_turns"),
    [
        (0.0001, 10, 50),
        (0.0008, 10, 25),
        (0.004, 10, 10),
        (0.03, 5, 5),
        (1.0, 3, 3),
    ],
)
def test_blocks_are_neither_over_in_no_time_nor_long(step_s: float, of_probes: int, of_turns: int) -> None:
    assert block_steps(10, step_s) == of_probes
    assert turn_steps(10, step_s) == of_turns


def test_more_steps_than_turns_would_have_are_made_where_they_are_asked_for() -> None:
    assert turn_steps(80, 0.001) == 80
