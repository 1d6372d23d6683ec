"""From what a script calls to steps: each test is a kind of training loop; its clock ticks at every look."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

from scalestudy.attach.row import Row
from scalestudy.attach.steps import CHECKPOINT, EVALUATION, LOADER, Steps

TRAIN, VALID = 1, 2
MAIN = 11
"""The thread of the training."""


class Ticking:
    """A clock that advances by one second at every reading."""

    def __init__(self) -> None:
        self.time = 0.0

    def now(self) -> float:
        self.time += 1
        return self.time

    def between(self, begin: float, end: float) -> float:
        return end - begin


def steps_of(script: Callable[[Steps], None]) -> tuple[list[Row], Steps]:
    """(rows of the steps of a script, the object that recorded them)."""
    rows: list[Row] = []
    steps = Steps(rows.append)
    steps.clock = Ticking()
    script(steps)
    steps.finish()
    return rows, steps


def tell(steps: Steps, what: str, *arguments: object) -> None:
    """As the journal does: what happened, and when."""
    getattr(steps, what)(steps.clock.now(), *arguments)


def fetch(steps: Steps, loader: int = TRAIN, samples: int | None = 8) -> None:
    tell(steps, "fetch_begins", MAIN)
    tell(steps, "fetch_ends", MAIN, loader, samples, 1.0)


def backward(steps: Steps) -> None:
    tell(steps, "backward_begins")
    tell(steps, "backward_ends")


def update(steps: Steps, optimizer: int = 7, *, closure: bool = False) -> None:
    tell(steps, "update_begins", MAIN, optimizer)
    if closure:
        backward(steps)
    tell(steps, "update_ends", optimizer)


def seconds(row: Row, part: str) -> float:
    """Of the passes of a part, without what is nested in them."""
    own = sum(end - begin for name, begin, end in row.passes if name == part)
    return own - sum(end - begin for name, begin, end in row.nested if name == part)


def test_a_plain_loop_has_a_step_for_each_batch() -> None:
    def script(steps: Steps) -> None:
        for _ in range(3):
            fetch(steps)
            backward(steps)
            update(steps)

    rows, steps = steps_of(script)
    assert [row.loaders for row in rows] == [{TRAIN: 8}] * 3
    assert [row.updates for row in rows] == [1, 1, 1]
    assert all(before.end == after.begin for before, after in pairwise(rows))
    assert all(seconds(row, part) > 0 for row in rows for part in ("forward", "backward", "optimizer"))
    assert steps.backward_after == {TRAIN: 3}
    assert steps.fetches == {TRAIN: 3}


def test_accumulation_is_one_step_with_the_samples_of_all_its_batches() -> None:
    def script(steps: Steps) -> None:
        for _ in range(2):
            for _ in range(4):
                fetch(steps)
                backward(steps)
            update(steps)

    rows, _ = steps_of(script)
    assert [row.loaders for row in rows] == [{TRAIN: 32}] * 2
    assert [sum(part == "backward" for part, _, _ in row.passes) for row in rows] == [4, 4]


def test_two_optimizers_on_one_batch_are_one_step() -> None:
    def script(steps: Steps) -> None:
        for _ in range(3):
            fetch(steps)
            backward(steps)
            update(steps, 7)
            backward(steps)
            update(steps, 8)

    rows, _ = steps_of(script)
    assert [row.updates for row in rows] == [2, 2, 2]


def test_without_a_loader_a_step_ends_where_the_optimizer_begins_again() -> None:
    def script(steps: Steps) -> None:
        for _ in range(3):
            backward(steps)
            update(steps)

    rows, _ = steps_of(script)
    assert len(rows) == 3
    assert [row.loaders for row in rows] == [{}] * 3
    assert all(seconds(row, "backward") == 1 for row in rows), "none is counted to the step before"


def test_two_optimizers_without_a_loader() -> None:
    def script(steps: Steps) -> None:
        for _ in range(3):
            for optimizer in (7, 8):
                backward(steps)
                update(steps, optimizer)

    rows, _ = steps_of(script)
    assert [row.updates for row in rows] == [2, 2, 2]
    assert all(seconds(row, "backward") == 2 for row in rows)


def test_an_optimizer_for_each_parameter_within_the_backward_pass() -> None:
    def script(steps: Steps) -> None:
        for _ in range(3):
            fetch(steps)
            tell(steps, "backward_begins")
            for optimizer in (7, 8, 9):
                update(steps, optimizer)
            tell(steps, "backward_ends")

    rows, _ = steps_of(script)
    assert [row.updates for row in rows] == [3, 3, 3]
    assert all(row.end == row.passes[-1][2] for row in rows), "the step ends with the pass"
    assert all(seconds(row, "optimizer") == 3 for row in rows)
    assert all(seconds(row, "backward") > 0 for row in rows)


def test_passes_in_the_closure_of_an_optimizer_are_none_of_its_own_time() -> None:
    def script(steps: Steps) -> None:
        for _ in range(2):
            fetch(steps)
            update(steps, closure=True)

    rows, _ = steps_of(script)
    assert len(rows) == 2
    for row in rows:
        assert seconds(row, "forward") == 1
        assert seconds(row, "backward") == 1
        assert seconds(row, "optimizer") == 1


def test_a_scaler_around_an_optimizer_is_one_update_also_where_it_leaves_it_out() -> None:
    def script(steps: Steps) -> None:
        for skipped in (False, True, False):
            fetch(steps)
            backward(steps)
            tell(steps, "update_begins", MAIN, 7)
            if not skipped:
                update(steps, 7)
            tell(steps, "update_skipped" if skipped else "update_ends", 7)

    rows, steps = steps_of(script)
    assert [row.updates for row in rows] == [1, 1, 1]
    assert steps.skipped == 1


def test_batches_that_are_fetched_ahead_count_once() -> None:
    def script(steps: Steps) -> None:
        fetch(steps)
        for ahead in (True, True, False):
            if ahead:
                fetch(steps)
            backward(steps)
            update(steps)

    rows, _ = steps_of(script)
    assert [row.loaders.get(TRAIN, 0) for row in rows] == [16, 8, 0]


def test_a_validation_between_two_steps_is_told_with_the_step_after_it() -> None:
    def script(steps: Steps) -> None:
        for epoch in range(2):
            tell(steps, "loader_begins", TRAIN)
            for _ in range(2):
                fetch(steps)
                backward(steps)
                update(steps)
            fetch(steps, samples=None)
            if epoch == 0:
                tell(steps, "happens", EVALUATION)
                for _ in range(3):
                    fetch(steps, VALID)
                fetch(steps, VALID, samples=None)

    rows, steps = steps_of(script)
    assert [row.extra for row in rows] == [{LOADER}, set(), {EVALUATION, LOADER}, set()]
    assert [row.exhausted for row in rows] == [set(), set(), {TRAIN, VALID}, set()]
    assert rows[2].loaders == {VALID: 24, TRAIN: 8}
    assert steps.backward_after[TRAIN] == 4
    assert steps.backward_after.get(VALID, 0) == 0


def test_a_checkpoint_is_told_with_the_step_after_it() -> None:
    def script(steps: Steps) -> None:
        for number in range(3):
            fetch(steps)
            backward(steps)
            update(steps)
            if number == 0:
                tell(steps, "happens", CHECKPOINT)
                tell(steps, "saved", 0.5)

    rows, _ = steps_of(script)
    assert [row.checkpoint_s for row in rows] == [0, 0.5, 0]
    assert [row.extra for row in rows] == [set(), {CHECKPOINT}, set()]


def test_a_backward_pass_within_one_belongs_to_it() -> None:
    """As of activations that are computed again."""

    def script(steps: Steps) -> None:
        fetch(steps)
        tell(steps, "backward_begins")
        backward(steps)
        tell(steps, "backward_ends")
        update(steps)

    (row,), _ = steps_of(script)
    assert sum(part == "backward" for part, _, _ in row.passes) == 1


def test_an_update_that_fails_is_none() -> None:
    def script(steps: Steps) -> None:
        fetch(steps)
        tell(steps, "update_begins", MAIN, 7)
        tell(steps, "update_failed", 7)
        fetch(steps)
        backward(steps)
        update(steps)

    rows, _ = steps_of(script)
    assert len(rows) == 1


def test_a_batch_that_is_fetched_to_look_at_it_is_not_trained_on() -> None:
    """As `next(iter(loader))` does, before the loop makes an iterator of its own."""

    def script(steps: Steps) -> None:
        tell(steps, "loader_begins", TRAIN)
        fetch(steps)
        tell(steps, "loader_begins", TRAIN)
        for _ in range(2):
            fetch(steps)
            backward(steps)
            update(steps)

    rows, _ = steps_of(script)
    assert [row.loaders for row in rows] == [{TRAIN: 8}] * 2


def test_a_step_keeps_its_samples_where_the_clock_changes_in_it() -> None:
    """As at the first update on a GPU, when it is known that there is one."""

    def script(steps: Steps) -> None:
        for number in range(2):
            fetch(steps)
            backward(steps)
            if number == 0:
                steps.use_clock(Ticking())
            update(steps)

    rows, _ = steps_of(script)
    assert [row.loaders for row in rows] == [{TRAIN: 8}] * 2
    assert [sum(part == "forward" for part, _, _ in row.passes) for row in rows] == [0, 1]


def test_what_the_script_says_of_its_steps_is_not_cut_by_what_happens_in_them() -> None:
    """A checkpoint, a look at other data and two updates within what the script calls one step."""

    def script(steps: Steps) -> None:
        for _ in range(3):
            fetch(steps)
            tell(steps, "said_to_begin")
            backward(steps)
            update(steps)
            tell(steps, "happens", CHECKPOINT)
            fetch(steps, loader=VALID)
            update(steps)
            tell(steps, "said_to_end")

    rows, _ = steps_of(script)
    assert [row.updates for row in rows] == [2, 2, 2]
    assert [CHECKPOINT in row.extra for row in rows] == [True] * 3


def test_a_step_is_complete_once_it_has_the_updates_of_each_step_before() -> None:
    seen: list[bool] = []

    def script(steps: Steps) -> None:
        for _ in range(3):
            fetch(steps)
            backward(steps)
            for optimizer in (7, 8):
                update(steps, optimizer)
                seen.append(steps.is_complete)

    steps_of(script)
    assert seen == [False, False, False, True, False, True], "the first step is compared with none"


def test_no_step_is_complete_after_steps_with_other_numbers_of_updates() -> None:
    seen: list[bool] = []

    def script(steps: Steps) -> None:
        for optimizers in ((7,), (7, 8), (7,), (7, 8)):
            fetch(steps)
            backward(steps)
            for optimizer in optimizers:
                update(steps, optimizer)
            seen.append(steps.is_complete)

    steps_of(script)
    assert seen == [False, False, False, False]
