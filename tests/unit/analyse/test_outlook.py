"""Expected numbers of further runs: nominal coverage, and no further runs of settled comparisons."""

from __future__ import annotations

from math import exp, isnan, log, sqrt

import numpy as np
import pytest
from conftest import mlp_workload, small_content
from scalestudy.analyse.point.verdict import verdict_of
from scalestudy.analyse.statistics.intervals import Interval, mean
from scalestudy.analyse.study.decision_file import Comparison
from scalestudy.analyse.study.outlook import outlook
from scalestudy.study.config.load import parse_study
from scalestudy.study.plan import Plan, make_plan


@pytest.fixture
def plan() -> Plan:
    """A baseline, one process at half the batch, and two ranks: three configurations, one comparison."""
    content = small_content(repeats=3, max_repeats=12, workloads={"mlp": mlp_workload(scaling=["strong"])})
    return make_plan(parse_study(content, source="x"))


def compared(plan: Plan, logs: np.ndarray, settled: str = "no") -> Comparison:
    speedup = mean(logs, confidence=plan.study.level).map(exp)
    return Comparison(
        **{"workload": "mlp", "variant": "ddp", "scaling": "strong", "world_size": 2, "batch_per_rank": 16},
        repeats_compared=len(logs),
        **speedup.columns("speedup"),
        verdict=verdict_of(speedup, ranks=2, report=plan.study.report),
        settled=settled,
    )


def test_before_anything_is_measured_it_is_between_the_least_and_the_most(plan: Plan) -> None:
    found = outlook(plan, [], after=0, device_s={})
    assert 9 <= found.launches.low <= found.launches.value <= found.launches.high <= 36
    assert found.launches.low < found.launches.high
    assert isnan(found.device_hours.value)
    assert not found.next


def test_what_is_settled_is_not_launched_again(plan: Plan) -> None:
    device_s = dict.fromkeys(plan.runs, 1200.0)
    found = outlook(plan, [compared(plan, np.log([1.9, 1.91, 1.89]), "decided")], after=3, device_s=device_s)
    assert found.launches == Interval(9, 9, 9)
    assert found.device_hours == Interval(3, 3, 3)
    assert found.settled == 1
    assert not found.next


def test_twins_cost_as_many_launches_as_their_base_case() -> None:
    workloads = {"mlp": mlp_workload(scaling=["strong"])}
    content = small_content(repeats=3, max_repeats=12, workloads=workloads, measure={"floor": True})
    plan = make_plan(parse_study(content, source="x"))
    device_s = dict.fromkeys(plan.runs, 1200.0)
    found = outlook(plan, [compared(plan, np.log([1.9, 1.91, 1.89]), "decided")], after=3, device_s=device_s)
    assert found.launches == Interval(12, 12, 12)
    assert found.device_hours == Interval(4, 4, 4)


def test_idle_devices_are_part_of_the_expected_hours(plan: Plan) -> None:
    """Every third run occupies twice the devices that it uses."""
    settled = [compared(plan, np.log([1.9, 1.91, 1.89]), "decided")]
    device_s = {run: 2400.0 if spec.world_size == 1 else 1200.0 for run, spec in plan.runs.items()}
    idle_s = {run: 1200.0 if spec.world_size == 1 else 0.0 for run, spec in plan.runs.items()}
    found = outlook(plan, settled, after=3, device_s=device_s, idle_s=idle_s)
    assert (found.device_hours.value, found.idle_device_hours) == (5, 2)
    assert outlook(plan, settled, after=3, device_s=device_s).idle_device_hours == 0
    assert isnan(outlook(plan, settled, after=3, device_s={}).idle_device_hours)


def test_what_is_nearly_decided_is_decided_by_the_next_look(plan: Plan) -> None:
    logs = np.log(1.7) + 0.02 * np.array([-1, 0, 1])
    found = outlook(plan, [compared(plan, logs)], after=3, device_s={})
    (coming,) = found.next
    assert (coming.repeats, found.launches.value) == (5, 15)
    assert coming.decided > 0.8
    assert coming.half_width_then < coming.half_width / 2


def test_what_hardly_differs_from_the_target_stays_open(plan: Plan) -> None:
    logs = np.log(1.5) + 0.3 * np.array([-1, 0, 1])
    found = outlook(plan, [compared(plan, logs)], after=3, device_s={})
    assert found.settled < 0.3
    assert found.launches == Interval(36, pytest.approx(30, abs=6), 36)


def test_futures_are_as_likely_as_they_are_said_to_be(plan: Plan) -> None:
    """In studies of many efficiencies, nine of ten intervals include the number of repeats that was needed."""
    random, inside, probability, came = np.random.default_rng(5), [], [], []
    for efficiency in random.uniform(0.6, 0.9, 300):
        logs = log(2 * efficiency) + 0.04 * random.standard_normal(12)
        first = compared(plan, logs[:3])
        if first.verdict != "undecided":
            continue
        found = outlook(plan, [first], after=3, device_s={}, seed=int(random.integers(1000)))
        ends = [n for n in (5, 8) if compared(plan, logs[:n]).verdict != "undecided"]
        needed = 3 * min([*ends, 12])
        inside.append(found.launches.low <= needed <= found.launches.high)
        probability.append(found.next[0].decided)
        came.append(5 in ends)
    assert len(inside) > 80
    assert np.mean(inside) > 0.85
    assert abs(np.mean(probability) - np.mean(came)) < 3 * sqrt(0.25 / len(came))


def test_where_two_settings_are_compared_the_gain_has_to_be_decided() -> None:
    """The speedup is clear and the gain is not, and vice versa."""
    gain = {"before": {"workload": "mlp", "variant": "ddp"}, "after": {"workload": "mlp", "variant": "other"}}
    content = small_content(
        repeats=3,
        max_repeats=12,
        workloads={"mlp": mlp_workload(scaling=["strong"])},
        measure={"gains": [gain]},
    )
    content["variants"]["other"] = {"strategy": "ddp", "ddp": {"bucket_cap_mb": 1}, "base": "single"}
    content["variants"]["ddp"]["base"] = "single"
    plan = make_plan(parse_study(content, source="x"))
    nearly_no_gain, clear_gain = Interval(1.02, 0.96, 1.083), Interval(1.5, 1.47, 1.53)
    for speedups, of_gain, least, most in (
        (np.log([1.9, 1.91, 1.89]), nearly_no_gain, 0.0, 0.6),
        (np.log([1.4, 1.5, 1.6]), clear_gain, 0.99, 1.0),
    ):
        one = compared(plan, speedups)
        known = [one.model_copy(update={"variant": name, **of_gain.columns("gain")}) for name in ("ddp", "other")]
        found = outlook(plan, known, after=3, device_s={})
        assert [coming.quantity for coming in found.next] == ["gain", "gain"]
        assert all(least <= coming.decided <= most for coming in found.next)
        assert found.next[0].half_width == pytest.approx(of_gain.relative_half_width)
    assert found.launches.low < outlook(plan, [], after=0, device_s={}).launches.high
