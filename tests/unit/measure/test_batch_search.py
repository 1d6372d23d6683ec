"""The search for a batch, on simulated machines with a memory limit and a saturating throughput."""

from __future__ import annotations

from collections.abc import Callable
from math import nan

import pytest
from scalestudy.measure.batch_search import BatchTrial, search_batch


def trial(batch: int, outcome: str, throughput: float, reason: str) -> BatchTrial:
    return BatchTrial(
        run_id=f"batch-{batch}",
        batch_per_rank=batch,
        outcome=outcome,
        reason=reason,
        throughput_samples_per_s=throughput,
        peak_gib=nan,
    )


def machine(*, fits: float = float("inf"), half_at: float = 1.0, fails_at: int = 0) -> Callable[[int], BatchTrial]:
    """A trial on a machine with memory for `fits` samples and half of its throughput of 1000 at `half_at`."""

    def attempt(batch: int) -> BatchTrial:
        if batch == fails_at:
            return trial(batch, "failed", nan, "the link is down")
        if batch > fits:
            return trial(batch, "oom", nan, "out of memory")
        return trial(batch, "ok", 1000 * batch / (batch + half_at), "")

    return attempt


def test_memory_ends_the_search_and_is_bisected() -> None:
    found = search_batch(machine(fits=700, half_at=5000), first=32, unit=1, most=None)
    assert 700 - 700 / 8 <= found.largest <= 700
    assert found.largest == max(trial.batch_per_rank for trial in found.trials if trial.ok)
    assert "the memory limit is between" in found.reason
    assert {trial.outcome for trial in found.trials} == {"ok", "oom"}


def test_a_first_batch_that_is_too_large_is_halved() -> None:
    found = search_batch(machine(fits=10, half_at=5000), first=256, unit=1, most=None)
    assert found.largest in (9, 10)
    assert [trial.batch_per_rank for trial in found.trials[:5]] == [256, 128, 64, 32, 16]


def test_no_batch_fits() -> None:
    found = search_batch(machine(fits=1), first=8, unit=4, most=None)
    assert (found.best, found.largest) == (None, None)
    assert found.reason == "out of memory already with 4 samples per rank"


def test_throughput_that_no_longer_grows_ends_it_and_the_smallest_batch_that_has_it_is_looked_for() -> None:
    found = search_batch(machine(half_at=20), first=8, unit=1, most=None)
    top = max(trial.throughput_samples_per_s for trial in found.trials)
    throughput = {trial.batch_per_rank: trial.throughput_samples_per_s for trial in found.trials}
    assert throughput[found.best] >= 0.95 * top
    assert all(value < 0.95 * top for batch, value in throughput.items() if batch < found.best)
    assert "throughput grows by less than 5%" in found.reason
    below = [batch for batch in throughput if batch < found.best]
    assert found.best - max(below) <= max(below) / 4  # bisected


def test_the_data_end_it() -> None:
    found = search_batch(machine(half_at=1e6), first=10, unit=1, most=50)
    assert found.largest == 40
    assert "more than the 50 that the data provide" in found.reason


def test_what_sets_the_limit_is_said() -> None:
    found = search_batch(machine(half_at=1e6), first=10, unit=1, most=15, limit="that --most allows")
    assert found.reason == "20 samples per rank are more than the 15 that --most allows"


@pytest.mark.parametrize("unit", [1, 3, 4])
def test_batches_are_multiples_of_the_unit_and_none_is_tried_twice(unit: int) -> None:
    found = search_batch(machine(fits=1000, half_at=3000), first=8 * unit, unit=unit, most=None)
    batches = [trial.batch_per_rank for trial in found.trials]
    assert len(batches) == len(set(batches))
    assert not [batch for batch in batches if batch % unit]


def test_a_failure_that_is_not_memory_ends_it_with_its_reason() -> None:
    found = search_batch(machine(half_at=1e6, fails_at=64), first=16, unit=1, most=None)
    assert found.largest == 32
    assert found.reason == "64 samples per rank ended as failed: the link is down"
