"""The order of the probes in a script's last steps."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

from scalestudy.attach.probes import LOGGER, NO_SYNC, SETTLE, SETTLE_STEPS, SYNC, phases_of


def test_every_kind_has_as_many_steps_and_the_order_is_that_of_the_seed() -> None:
    phases = phases_of(rounds=5, steps=4, seed=3)
    assert Counter(phases) == {SYNC: 20, NO_SYNC: 20, LOGGER: 20, SETTLE: SETTLE_STEPS + 5}
    assert phases == phases_of(rounds=5, steps=4, seed=3)
    assert any(phases_of(rounds=5, steps=4, seed=seed) != phases for seed in range(4, 9))


def test_the_step_in_which_drifted_ranks_wait_for_each_other_counts_to_no_kind() -> None:
    for seed in range(20):
        phases = phases_of(rounds=3, steps=2, seed=seed)
        assert {after for before, after in pairwise(phases) if before == NO_SYNC} == {NO_SYNC, SETTLE}
