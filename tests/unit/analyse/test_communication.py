"""Communication from probes with known answers: the identity, who is late, what the network gives."""

from __future__ import annotations

from dataclasses import replace
from math import isnan
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from builders import observation
from scalestudy.analyse.communication.arrivals import late_rank, waits_by_round
from scalestudy.analyse.communication.collectives import (
    bus_factor,
    collectives_frame,
    enqueue_of,
    latency_and_bandwidth,
    network_of,
)
from scalestudy.analyse.communication.probes import communication_of, communication_row, compare_methods
from scalestudy.analyse.statistics.blocks import ratio_in_blocks
from scalestudy.analyse.statistics.bootstrap import FEWEST_BLOCKS, bootstrap_ratio
from scalestudy.record.tables import Observation
from scalestudy.registry.codes import Methods
from scalestudy.study.config.load import parse_study
from scalestudy.study.plan import make_plan
from scalestudy.study.spec import RunSpec

ROUNDS, STEPS = 4, 5


@pytest.fixture
def spec(content: dict[str, Any]) -> RunSpec:
    return next(s for s in make_plan(parse_study(content, source="x")).runs.values() if s.world_size == 2)


def probed(spec: RunSpec, *, hidden_ms: float = 0.0, costs_ms: float = 2.0, noise_ms: float = 0.0) -> Observation:
    """A run whose probes have a known answer, in ms.

    Rank 0 computes 3 forward and 4 backward, rank 1 half a ms more of backward. With synchronisation the backward
    computation takes 1 longer (interference) and `costs_ms` of communication are exposed. `hidden_ms` is lost
    somewhere that neither logger nor hook sees.
    """
    random = np.random.default_rng(1)
    made = observation(spec, [[0.01] * 40] * 2)
    rows, block, step = [], 4, 40
    for _ in range(ROUNDS):
        for phase in ("probe-sync", "probe-no-sync", "probe-logger", "probe-arrival", "probe-arrival-no-sync"):
            for _ in range(STEPS):
                for rank in (0, 1):
                    compute = 4 + rank * 0.5
                    backward = compute if "no-sync" in phase else 5 + 0.5 + costs_ms + hidden_ms
                    backward += noise_ms * random.normal()
                    row = dict.fromkeys(made.steps.columns, 0.0) | {"phase": phase, "rank": rank, "step": step}
                    row |= {"block": block, "forward_time_s": 3e-3, "backward_time_s": backward * 1e-3}
                    row["step_time_s"] = 3e-3 + backward * 1e-3
                    # Rank 0 has its gradients half a ms earlier and waits for rank 1.
                    exposed = costs_ms + 0.5 - rank * 0.5
                    row["backward_compute_time_s"] = (compute + 1) * 1e-3 if phase == "probe-logger" else np.nan
                    row["communication_span_s"] = (exposed + 3) * 1e-3
                    row["communication_overlap_s"] = 3e-3
                    rows.append(row)
                step += 1
            block += 1
    together = pd.concat([made.steps, pd.DataFrame(rows)], ignore_index=True)
    bucket_rows = buckets(late=1, by_s=0.5e-3, transfer_s=costs_ms * 1e-3)
    return replace(made, tables={**made.tables, "steps": together, "buckets": bucket_rows})


def buckets(*, late: int, by_s: float, transfer_s: float, ranks: int = 2) -> pd.DataFrame:
    """Two buckets a step; one rank is late with both."""
    return pd.DataFrame(
        [
            {
                "rank": rank,
                "block": block,
                "step": block * STEPS + step,
                "bucket": bucket,
                "bytes": 1000,
                "ready_s": 10 * block + step + 0.001 * bucket + (by_s if rank == late else 0),
                "done_s": 10 * block + step + 0.001 * bucket + by_s + transfer_s,
            }
            for block in range(ROUNDS)
            for step in range(STEPS)
            for bucket in (0, 1)
            for rank in range(ranks)
        ]
    )


def test_the_identity_of_the_methods(spec: RunSpec) -> None:
    row = communication_of(probed(spec), confidence=0.95)
    assert row["differential_s"] == pytest.approx(3.25e-3)  # 7.5 less the mean of 4 and 4.5
    assert row["exposed_span_s"] == pytest.approx(2.25e-3)
    assert row["interference_s"] == pytest.approx(1e-3)
    assert row["remainder_s"] == pytest.approx(0, abs=1e-12)
    assert row["imbalance_s"] == pytest.approx(0.25e-3)
    assert row["exposed_hook_s"] == pytest.approx(2.25e-3)
    assert row["hook_cost_s"] == pytest.approx(0, abs=1e-12)
    assert row["wait_time_s"] == pytest.approx(0.25e-3)
    assert row["transfer_time_s"] == pytest.approx(2e-3)
    together = row["exposed_span_s"] + row["interference_s"] + row["remainder_s"]
    assert together == pytest.approx(row["differential_s"])


def test_methods_agree_within_noise_and_disagree_beyond_it(spec: RunSpec) -> None:
    agreeing = communication_of(probed(spec, noise_ms=0.2), confidence=0.95)
    assert agreeing["methods"] == Methods.AGREE
    assert agreeing["remainder_s_low"] < 0 < agreeing["remainder_s_high"]
    found = communication_of(probed(spec, noise_ms=0.2, hidden_ms=1.5), confidence=0.95)
    assert found["methods"] == Methods.DISAGREE
    assert 1e-3 < found["remainder_s_low"] < 1.5e-3 < found["remainder_s_high"] < 2e-3


def test_a_hook_that_sees_something_else_is_told() -> None:
    values = {
        "differential": np.array([5.0e-3, 5.1e-3, 4.9e-3]),
        "remainder": np.array([0.1e-3, -0.1e-3, 0.05e-3]),
        "exposed_hook": np.array([5.0e-3, 5.1e-3, 4.9e-3]),
        "exposed_span": np.array([2.0e-3, 2.1e-3, 1.9e-3]),
        "hook_cost": np.array([0.5e-3, 0.6e-3, 0.4e-3]),
    }
    found = compare_methods(values, confidence=0.95)
    assert found["methods"] == Methods.DISAGREE
    assert found["hook_difference_s"] == pytest.approx(2.5e-3)
    assert 0 < found["hook_difference_s_low"] < 2.5e-3 < found["hook_difference_s_high"]
    costly = values | {"hook_cost": np.array([3.0e-3, 3.1e-3, 2.9e-3])}
    assert compare_methods(costly, confidence=0.95)["methods"] == Methods.AGREE, "the hook took the rest"
    one_round = {name: value[:1] for name, value in values.items()}
    found = compare_methods(one_round, confidence=0.95)
    assert found["methods"] == Methods.NOT_COMPARED_ONE_ROUND
    assert isnan(found["hook_difference_s"])


def test_a_negative_differential_stays_negative(spec: RunSpec) -> None:
    """The value is never clipped. A note reports that it does not differ significantly from zero."""
    observation = probed(spec, costs_ms=0.0, noise_ms=1.0)
    sync = observation.steps["phase"] == "probe-sync"
    observation.steps.loc[sync, "step_time_s"] -= 1.6e-3
    row = communication_of(observation, confidence=0.95)
    assert row["differential_s"] < 0
    assert row["differential_s_low"] < row["differential_s"] < row["differential_s_high"]


def test_of_fsdp_the_reduce_scatter_alone_is_told(spec: RunSpec) -> None:
    """Without synchronisation its optimizer does nothing, and this does not count as communication."""
    made = probed(spec)
    kept = made.steps["phase"].isin(["measured", "probe-sync", "probe-no-sync"])
    steps = made.steps[kept].copy()
    synchronised = steps["phase"] == "probe-sync"
    steps.loc[synchronised, "optimizer_time_s"] = 1e-3
    steps.loc[synchronised, "step_time_s"] += 1e-3
    record = made.record.model_copy(update={"spec": spec.model_copy(update={"strategy": "fsdp"})})
    found = replace(made, record=record, tables={**made.tables, "steps": steps, "buckets": made.buckets.iloc[:0]})
    row = communication_of(found, confidence=0.95)
    assert row["differential_s"] == pytest.approx(3.25e-3)
    assert isnan(row["exposed_span_s"])
    assert isnan(row["remainder_s"])
    assert row["methods"] == Methods.NOT_COMPARED_FSDP


def test_a_rank_that_is_late_in_one_launch_is_late_by_chance(spec: RunSpec) -> None:
    rounds = communication_of(probed(spec), confidence=0.95)
    seen = [(0, 0.8, 0.0), (1, 1.0, 0.6e-3), (0, 0.6, 0.02e-3)]
    runs = pd.DataFrame(
        [
            rounds
            | network_of(collectives_frame(pd.DataFrame()))
            | {"late_rank": rank, "late_share": share, "lateness_s": late_s}
            for rank, share, late_s in seen
        ]
    )
    row = communication_row(runs, confidence=0.95)
    assert row["late_rank"] == 0
    assert row["late_share"] == pytest.approx(1.4 / 3)
    assert row["lateness_s_low"] < 0 < row["lateness_s"] < 0.01e-3


def test_without_probes_nothing_is_said(spec: RunSpec) -> None:
    row = communication_of(observation(spec, [[0.01] * 40] * 2), confidence=0.95)
    assert isnan(row["differential_s"])
    assert row["methods"] == Methods.NONE


def test_over_launches_the_interval_is_over_launches(spec: RunSpec) -> None:
    runs = pd.DataFrame(
        [
            communication_of(probed(spec, costs_ms=cost), confidence=0.95)
            | late_rank(buckets(late=1, by_s=0.5e-3, transfer_s=cost * 1e-3))
            | network_of(collectives_frame(pd.DataFrame()))
            for cost in (1.9, 2.0, 2.1)
        ]
    )
    row = communication_row(runs, confidence=0.95)
    assert row["exposed_span_s"] == pytest.approx(2.25e-3)
    assert row["exposed_span_s_high"] - row["exposed_span_s"] == pytest.approx(
        4.3027 * 0.1e-3 / np.sqrt(3), rel=1e-4
    )
    assert row["late_rank"] == 1
    assert row["late_share"] == 1.0
    assert row["lateness_s_low"] == pytest.approx(row["lateness_s"]) == pytest.approx(0.5e-3)
    alone = communication_row(runs.iloc[:1], confidence=0.95)
    assert alone["exposed_span_s_low"] == runs["exposed_span_s_low"].iloc[0], "one launch: over its rounds"


@pytest.mark.filterwarnings("error")
def test_a_single_rank_is_not_late() -> None:
    found = late_rank(buckets(late=0, by_s=0.2, transfer_s=0.001, ranks=1))
    assert all(isnan(value) for value in found.values())


@pytest.mark.parametrize("late", [0, 2])
def test_the_late_rank_is_named(late: int) -> None:
    found = late_rank(buckets(late=late, by_s=0.2, transfer_s=0.001, ranks=4))
    assert found == {"late_rank": late, "late_share": 1.0, "lateness_s": pytest.approx(0.2)}
    waits = waits_by_round(buckets(late=late, by_s=0.2, transfer_s=0.001, ranks=4))
    assert waits["wait_time"] == pytest.approx(np.full(ROUNDS, 0.75 * 0.2))
    assert waits["transfer_time"] == pytest.approx(np.full(ROUNDS, 0.001))


@pytest.mark.parametrize(
    ("collective", "factor"), [("all-reduce", 1.5), ("all-gather", 0.75), ("reduce-scatter", 0.75)]
)
def test_bus_factors_of_nccl_tests(collective: str, factor: float) -> None:
    assert bus_factor(collective, 4) == factor


def test_latency_and_bandwidth_are_found_again() -> None:
    sizes = np.array([4, 1024, 2**20, 2**24])
    latency, bandwidth = latency_and_bandwidth(sizes, 50e-6 + sizes / 2e9)
    assert latency == pytest.approx(50e-6)
    assert bandwidth == pytest.approx(2e9)
    assert all(isnan(x) for x in latency_and_bandwidth(sizes[:2], np.array([1.0, 2.0])))
    assert all(isnan(x) for x in latency_and_bandwidth(sizes, np.array([1.0, 0.5, 0.2, 0.1])))


def test_calls_that_the_events_did_not_resolve_have_no_bandwidth() -> None:
    times_s = {1024: 0.0, 65536: 0.0, 1 << 20: 20e-6, 1 << 24: 200e-6}
    calls = pd.DataFrame(
        [
            {"rank": 0, "collective": "all-reduce", "bytes": size, "call": call, "time_s": time_s}
            for size, time_s in times_s.items()
            for call in range(3)
        ]
    )
    frame = collectives_frame(calls)
    assert frame["time_s"].isna().tolist() == [True, True, False, False]
    assert frame["bandwidth_gib_per_s"].isna().tolist() == [True, True, False, False]
    network = network_of(frame)
    assert isnan(network["all_reduce_latency_s"]), "two sizes have a time, and the fit needs three"


def test_a_table_without_calls_has_the_columns_of_one_with_calls() -> None:
    calls = pd.DataFrame({"collective": "all-reduce", "bytes": 64, "call": 0, "rank": [0, 1], "time_s": 1e-3})
    assert list(collectives_frame(calls.iloc[:0])) == list(collectives_frame(calls))


def test_a_collective_takes_as_long_as_its_slowest_rank() -> None:
    calls = pd.DataFrame(
        [
            {"rank": rank, "collective": "all-reduce", "bytes": 2**30, "call": call, "time_s": 1.0 + rank}
            for rank in (0, 1)
            for call in range(5)
        ]
    )
    row = collectives_frame(calls).iloc[0]
    assert (row["time_s"], row["calls"]) == (2.0, 5)
    assert row["bandwidth_gib_per_s"] == row["bus_bandwidth_gib_per_s"] == 0.5  # the factor is 1 for two ranks


def test_bootstrap_needs_repeats_enough() -> None:
    few = [[1.0, 1.1]] * (FEWEST_BLOCKS - 1)
    assert isnan(bootstrap_ratio(few, few, confidence=0.95).value)


def test_bootstrap_covers_and_agrees_with_student_on_normal_logarithms() -> None:
    """With a drift of 5 % that the runs of a repeat share, which is in neither interval."""
    random = np.random.default_rng(4)
    hits, widths = 0, []
    for number in range(400):
        drift = random.normal(0, 0.05, 8)
        above, below = (
            [np.exp(host + random.normal(0, cv) + random.normal(0, 0.02, 6)) for host in drift]
            for cv in (0.01, 0.02)
        )
        found = bootstrap_ratio(above, below, confidence=0.95, seed=number)
        hits += found.low <= 1 <= found.high
        means = [pd.Series([times.mean() for times in launches]) for launches in (above, below)]
        student = ratio_in_blocks(*means, planned=8, confidence=0.95)
        assert found.value == pytest.approx(student.value)
        widths.append((found.high - found.low) / (student.high - student.low))
    assert 0.92 <= hits / 400 <= 0.98
    assert np.median(widths) == pytest.approx(1, abs=0.1)


@pytest.mark.parametrize(("small_s", "share"), [(0.0005, 0.1), (0.006, 1.2)])
def test_a_small_message_is_told_beside_the_largest(small_s: float, share: float) -> None:
    calls = [
        {"rank": rank, "collective": "all-reduce", "bytes": size, "call": call, "time_s": time_s}
        for rank in (0, 1)
        for call in range(5)
        for size, time_s in ((8, 0.0004), (16384, small_s), (600_000, 0.005))
    ]
    assert network_of(collectives_frame(pd.DataFrame(calls)))["all_reduce_small_share"] == pytest.approx(share)


def test_the_launch_of_an_all_reduce_is_told_apart_where_it_was_timed() -> None:
    """The smallest message, the slowest rank, the median call."""
    calls = pd.DataFrame(
        [
            {"rank": rank, "collective": name, "bytes": size, "call": call, "time_s": 1e-3, "enqueue_s": host_s}
            for name, size, of_ranks in (
                ("all-reduce", 8, ([1, 3, 2], [2, 1, 9])),
                ("all-reduce", 1024, ([50, 50, 50], [50, 50, 50])),
                ("broadcast", 4, ([70, 70, 70], [70, 70, 70])),
            )
            for rank, host in enumerate(of_ranks)
            for call, host_s in enumerate(host)
        ]
    )
    assert enqueue_of(calls) == 3
    assert enqueue_of(pa.Table.from_pandas(calls)) == 3
    assert isnan(enqueue_of(calls.assign(enqueue_s=np.nan)))
    assert isnan(enqueue_of(calls.drop(columns="enqueue_s")))
    assert isnan(enqueue_of(pd.DataFrame(columns=calls.columns)))
    assert isnan(enqueue_of(pa.Table.from_pandas(calls).slice(0, 0)))
