"""Each cause from its evidence: which is named first, which is not named, and that patches are valid."""

from __future__ import annotations

from math import nan
from typing import Any

import pytest
from builders import diagnosed, summary_of
from scalestudy.diagnose.cause import Stage
from scalestudy.diagnose.causes import CAUSES
from scalestudy.diagnose.findings import Diagnosis
from scalestudy.study.config.load import merge, parse_study
from scalestudy.study.plan import make_plan

# ms a step: a point at 2 ranks with an overhead of 3.4 ms, and one that is healthy.
SLOW = {("mlp", 1, 32): 0.0010, ("mlp", 1, 16): 0.0006, ("mlp", 2, 16): 0.0040, ("mlp", 2, 32): 0.0041}
HEALTHY = {("mlp", 1, 32): 0.0100, ("mlp", 1, 16): 0.0055, ("mlp", 2, 16): 0.0058, ("mlp", 2, 32): 0.0104}
NOISE = (1.0, 1.004, 0.997)


def limits(name: str, value: float, spread: float = 0.01) -> dict[str, float]:
    """NAME with its limits."""
    return {name: value, f"{name}_low": value * (1 - spread), f"{name}_high": value * (1 + spread)}


def diagnose(
    content: dict[str, Any], times: dict, seen: dict[str, Any], variant: dict[str, Any] | None = None
) -> Diagnosis:
    """The diagnosis of strong scaling on two ranks whose row has these columns."""
    content = content | {"repeats": 3}
    parts = {"accumulation_steps": (variant or {}).get("accumulation_steps", 1)}  # the baseline has as many
    single, ddp = content["variants"]["single"] | parts, content["variants"]["ddp"] | (variant or {})
    content["variants"] = {"single": single, "ddp": ddp}
    plan = make_plan(parse_study(content, source="x"))
    summary = summary_of(plan, {key: [time * factor for factor in NOISE] for key, time in times.items()})
    row = (summary["scaling"] == "strong") & (summary["world_size"] == 2)
    for name, value in seen.items():
        if isinstance(value, str):
            summary[name] = summary[name].astype(object)
        summary.loc[summary.index if name == "device" else row, name] = value
    found = next(d for d in diagnosed(plan, summary) if d.scaling == "strong")
    for finding in found.findings:
        for advice in finding.recommendations:
            if advice.patch:
                patched = parse_study(merge(content, advice.patch), source="patched")
                assert patched != parse_study(content, source="x"), "a patch changes something"
    return found


def causes(diagnosis: Diagnosis) -> list[str]:
    return [finding.cause for finding in diagnosis.findings]


NETWORK = {
    "all_reduce_latency_s": 1e-4,
    "all_reduce_gib_per_s": 1.0,
    "all_reduce_bus_gib_per_s": 1.0,
    "all_reduce_small_share": 0.05,
    "buckets": 1,
}
SLOW_LINK = {"all_reduce_gib_per_s": 0.05, "all_reduce_bus_gib_per_s": 0.05}


def bus(gib_per_s: float) -> dict[str, float]:
    """A bus bandwidth, in all runs and by the line through all sizes."""
    names = ("all_reduce_gib_per_s", "all_reduce_bus_gib_per_s", "all_reduce_bus_gib_per_s_max")
    return dict.fromkeys(names, gib_per_s)


NVLINK = (
    NETWORK
    | bus(9.0)
    | {
        "device": "NVIDIA H100 80GB HBM3",
        "slowest_link": "nvlink",
        "slowest_link_name": "18 NVLinks 4.0",
        "link_bus_gib_per_s": 345.3,
        "all_reduce_largest_bytes": 256 * 2**20,
        "gradient_bytes": 3e7,
    }
)
PCIE = {"slowest_link": "pcie", "slowest_link_name": "PCIe 4.0 x16", "link_bus_gib_per_s": 22.4}
LATE = {"late_rank": 1.0, "late_share": 0.95, "lateness_s": 0.003}
TWO_MODES = {
    "steadiness": "two_modes",
    "fast_mode_s": 0.003,
    "slow_mode_s": 0.006,
    "slow_mode_share": 0.4,
    "launches_of_two_modes": 3,
}
SLOWING = {
    "steadiness": "level_change",
    "level_change": 0.09,
    "level_changed_after_steps": 60,
    "launches_unsteady": 3,
}
GROWING = {
    "memory_growth_kind": "resident",
    "memory_growth_rank": 1.0,
    "memory_growth_gib_per_1000_steps": 0.1,
    "memory_growth_gib_per_1000_steps_low": 0.09,
    "memory_growth_gib_per_1000_steps_high": 0.11,
}
SYNCED = {"ddp": {"sync_batch_norm": True}}
CASES: dict[str, tuple[dict, dict[str, Any], dict[str, Any], list[str]]] = {
    # what is seen, how it was run, what is said
    "nothing but overhead": (SLOW, {}, {}, ["comm-bound"]),
    "waiting for data": (SLOW, limits("data_time_s", 0.0033), {}, ["input-bound"]),
    "waiting for data, and more": (SLOW, limits("data_time_s", 0.0010), {}, ["input-bound", "comm-bound"]),
    "waiting for data, healthy": (HEALTHY, limits("data_time_s", 0.0030), {}, ["input-bound"]),
    "little waiting for data": (HEALTHY, limits("data_time_s", 0.0003), {}, ["healthy"]),
    "waiting that is not sure": (HEALTHY, limits("data_time_s", 0.0008, 0.5), {}, ["healthy"]),
    "logging": (SLOW, limits("logging_time_s", 0.0032), {"log_every_steps": 1}, ["sync-logging"]),
    "checkpoints": (SLOW, limits("checkpoint_time_s", 0.0032), {"checkpoint_every_steps": 2}, ["checkpointing"]),
    "a late rank": (SLOW, LATE | {"lateness_s": 0.0032}, {}, ["straggler"]),
    "a rank that is late by chance": (SLOW, LATE | {"late_share": 0.6}, {}, ["comm-bound"]),
    "a rank that is late in some launches": (
        SLOW,
        LATE | {"lateness_s": 0.0032, "lateness_s_low": -0.001, "lateness_s_high": 0.0074},
        {},
        ["comm-bound"],
    ),
    "a rank that is hardly late": (SLOW, LATE | {"lateness_s": 0.0001}, {}, ["comm-bound"]),
    "a slow link": (
        SLOW,
        NETWORK | SLOW_LINK | {"gradient_bytes": 1e5},
        {},
        ["transport"],
    ),
    "slow in some launches, not a slow link": (
        SLOW,
        NETWORK | SLOW_LINK | {"gradient_bytes": 1e5, "all_reduce_bus_gib_per_s_max": 0.5},
        {},
        ["comm-bound"],
    ),
    "slow in every launch": (
        SLOW,
        NETWORK | SLOW_LINK | {"gradient_bytes": 1e5, "all_reduce_bus_gib_per_s_max": 0.06},
        {},
        ["transport"],
    ),
    "NVLink that NCCL does not use": (SLOW, NVLINK | {"nccl_transport": "shm"}, {}, ["transport"]),
    "NVLink that NCCL uses, and that is slow": (SLOW, NVLINK | {"nccl_transport": "p2p"}, {}, ["transport"]),
    "NVLink as it should be": (
        SLOW,
        NVLINK | bus(200.0) | {"nccl_transport": "p2p"},
        {},
        ["comm-bound"],
    ),
    "sockets inside a node": (
        SLOW,
        NVLINK | PCIE | bus(1.5) | {"nccl_transport": "net_socket", "all_reduce_small_share": 0.9},
        {},
        ["transport"],
    ),
    "host memory between GPUs on PCIe": (
        SLOW,
        NVLINK | PCIE | bus(9.0) | {"nccl_transport": "shm"},
        {},
        ["comm-bound"],
    ),
    "a small message says nothing of NVLink": (
        SLOW,
        NVLINK | {"all_reduce_largest_bytes": 2**20},
        {},
        ["comm-bound"],
    ),
    "one size that was slow, not a slow link": (
        SLOW,
        NETWORK | {"all_reduce_bus_gib_per_s": 0.05, "gradient_bytes": 1e5},
        {},
        ["comm-bound"],
    ),
    "a host with other work, not a slow link": (
        SLOW,
        NETWORK | SLOW_LINK | {"all_reduce_small_share": 1.1, "gradient_bytes": 1e5},
        {},
        ["comm-bound"],
    ),
    "small messages": (SLOW, NETWORK | SLOW_LINK, {}, ["comm-bound"]),
    "a slow link that does not matter": (HEALTHY, NETWORK | SLOW_LINK, {}, ["healthy"]),
    "synchronised each time": (
        SLOW,
        {},
        {"accumulation_steps": 4, "accumulation_sync": True},
        ["accum-no-nosync", "comm-bound"],
    ),
    "looking for nothing": (
        SLOW,
        {"unused_parameter_bytes": 0.0},
        {"ddp": {"find_unused_parameters": True}},
        ["unused-params", "comm-bound"],
    ),
    "looking for something": (
        SLOW,
        {"unused_parameter_bytes": 288.0},
        {"ddp": {"find_unused_parameters": True}},
        ["comm-bound"],
    ),
    "many buckets": (
        SLOW,
        NETWORK | {"buckets": 30, "gradient_bytes": 1e6},
        {"ddp": {"bucket_cap_mb": 0.01}},
        ["bucket-size", "comm-bound"],  # 2.9 of 3.4 ms are told: half a millisecond of four is left
    ),
    "many buckets, whose bytes take longer still": (
        SLOW,
        NETWORK | {"buckets": 30, "gradient_bytes": 4e6},
        {"ddp": {"bucket_cap_mb": 0.01}},
        ["bucket-size", "comm-bound"],
    ),
    "some buckets, which hardly matter": (
        SLOW,
        NETWORK | {"buckets": 6, "gradient_bytes": 4e6},
        {"ddp": {"bucket_cap_mb": 1}},
        ["comm-bound"],
    ),
    "one bucket": (
        SLOW,
        NETWORK | {"gradient_bytes": 1e8} | limits("exposed_span_s", 0.003),
        {"ddp": {"bucket_cap_mb": 1000}},
        ["bucket-size", "comm-bound"],
    ),
    "large buffers": (
        SLOW,
        NETWORK | {"buffer_broadcast_s": 0.0031, "buffer_bytes": 8e6},
        {},
        ["buffers"],
    ),
    "small buffers": (SLOW, NETWORK | {"buffer_broadcast_s": 2e-5, "buffer_bytes": 8e2}, {}, ["comm-bound"]),
    "statistics over ranks": (SLOW, NETWORK | {"synchronised_norms": 16.0}, SYNCED, ["sync-bn"]),
    "statistics over ranks, not probed": (SLOW, {"synchronised_norms": 16.0}, SYNCED, ["sync-bn", "comm-bound"]),
    "no statistics over ranks": (SLOW, NETWORK | {"synchronised_norms": 0.0}, {}, ["comm-bound"]),
    "more samples on a rank": (
        SLOW,
        LATE | {"lateness_s": 0.0032, "samples_excess": 0.2, "heaviest_rank": 1},
        {},
        ["imbalance", "comm-bound"],
    ),
    "more samples on a rank, another is late": (
        SLOW,
        LATE | {"lateness_s": 0.0032, "samples_excess": 0.2, "heaviest_rank": 0},
        {},
        ["imbalance", "straggler"],
    ),
    "hardly more samples": (SLOW, {"samples_excess": 0.01, "heaviest_rank": 1}, {}, ["comm-bound"]),
    "a rank on two memory nodes": (SLOW, {"numa_ranks": "[1]", "numa_excess_s": 0.0033}, {}, ["numa"]),
    "a rank off the socket of its GPU": (
        SLOW,
        {"far_ranks": '[[1, 1, "0", "1"]]', "numa_excess_s": 0.0033},
        {},
        ["numa"],
    ),
    "on two memory nodes to no effect": (
        SLOW,
        {"numa_ranks": "[1]", "numa_excess_s": 1e-6},
        {},
        ["comm-bound"],
    ),
    "two modes": (
        HEALTHY,
        TWO_MODES,
        {},
        ["healthy", "two-modes"],
    ),
    "a clock that falls": (
        HEALTHY,
        SLOWING | {"launches_throttled": 3},
        {},
        ["healthy", "thermal"],
    ),
    "a hot GPU": (
        HEALTHY,
        {"launches_hot": 2, "thermal_slowdown_share": 0.9},
        {},
        ["healthy", "thermal"],
    ),
    "a GPU at its power limit, hot in one launch": (
        HEALTHY,
        {"launches_hot": 1, "thermal_slowdown_share": 0.1, "power_cap_share": 1.0},
        {},
        ["healthy"],
    ),
    "no steady state, and clocks that stay": (
        HEALTHY,
        SLOWING,
        {},
        ["healthy"],
    ),
    "one unsteady launch": (
        HEALTHY,
        TWO_MODES | {"launches_of_two_modes": 1},
        {},
        ["healthy"],
    ),
    "growing memory": (
        HEALTHY,
        GROWING | {"launches_growing": 3},
        {},
        ["healthy", "memory-growth"],
    ),
    "memory that grows in one launch": (
        HEALTHY,
        GROWING | {"launches_growing": 1},
        {},
        ["healthy"],
    ),
    "short memory": (HEALTHY, {"allocation_retries": 3.0}, {}, ["healthy", "memory-pressure"]),
    "memory in pieces": (
        HEALTHY,
        {"allocation_retries": 3.0, "peak_reserved_gib": 60.0, "peak_allocated_gib": 30.0},
        {},
        ["healthy", "memory-pressure", "fragmentation"],
    ),
    "lost accuracy": (
        HEALTHY,
        {"accuracy_kept": "lower", "accuracy_difference": -0.05, "accuracy_difference_low": -0.06}
        | {"accuracy_difference_high": -0.04},
        {},
        ["healthy", "large-batch"],
    ),
}


@pytest.mark.parametrize("name", list(CASES))
def test_what_is_seen_is_said(content: dict[str, Any], name: str) -> None:
    times, seen, variant, said = CASES[name]
    assert causes(diagnose(content, times, seen, variant)) == said


def test_two_modes_lead_where_the_verdict_hangs_on_them(content: dict[str, Any]) -> None:
    """An efficiency of 83 % on the average, with an interval that includes the target of 75 %."""
    unsteady = TWO_MODES
    wide = {"speedup": 1.66, "speedup_low": 1.2, "speedup_high": 1.9}
    assert causes(diagnose(content, HEALTHY, unsteady | wide)) == ["two-modes"]
    waiting = limits("data_time_s", 0.0020)
    assert causes(diagnose(content, HEALTHY, unsteady | wide | waiting)) == ["input-bound", "two-modes"]


def test_a_rank_off_the_socket_of_its_gpu_is_named_with_both_sockets(content: dict[str, Any]) -> None:
    seen = {"far_ranks": '[[1, 1, "0", "1"]]', "numa_excess_s": 0.0033}
    (finding,) = (one for one in diagnose(content, SLOW, seen).findings if one.cause == "numa")
    said = "rank 1 on GPU 1 runs on socket 0, its GPU is attached to socket 1"
    assert finding.explanation.startswith(f"R{said[1:]}. ")
    assert [(one.id, one.name, one.value) for one in finding.evidence][:2] == [
        ("far_ranks", said, 1),
        ("extra_host_work", "additional host work of these ranks", pytest.approx(3.3)),
    ]
    assert "cores on each GPU's socket" in finding.recommendations[0].change


def test_a_step_that_does_not_shrink_is_launch_bound(content: dict[str, Any]) -> None:
    times = HEALTHY | {("mlp", 1, 16): 0.0090, ("mlp", 2, 16): 0.0092}
    on_a_cpu, on_a_gpu = (diagnose(content, times, seen) for seen in ({}, {"enqueue_share": 0.98}))
    assert causes(on_a_cpu) == causes(on_a_gpu) == ["launch-bound"]
    measured = {one.id: one.value for one in on_a_gpu.findings[0].evidence}
    assert measured.pop("enqueue_share") == pytest.approx(98)
    assert set(measured) == {one.id for one in on_a_cpu.findings[0].evidence}


def variants(content: dict[str, Any], times: dict[str, list[Any]]) -> dict[str, Diagnosis]:
    """Diagnoses of DDP and FSDP side by side, strong scaling on two ranks; step times by variant."""
    content = content | {"repeats": 2}
    content["variants"] = {**content["variants"], "fsdp": {"strategy": "fsdp", "base": "single"}}
    content["variants"]["ddp"] = {"strategy": "ddp", "base": "single"}
    plan = make_plan(parse_study(content, source="x"))
    both = {key: [time, time] for key, time in HEALTHY.items()}
    summary = summary_of(plan, both)
    for variant, values in times.items():
        row = (summary["variant"] == variant) & (summary["scaling"] == "strong")
        summary.loc[row, ["step_time_s", "step_time_s_low", "step_time_s_high"]] = values
        if values[0] is nan:
            summary.loc[row, ["launches_ok", "launches_oom"]] = [0, 2]
            summary.loc[row, "speedup"] = nan
    return {d.variant: d for d in diagnosed(plan, summary) if d.scaling == "strong"}


def test_fsdp_that_is_slower_where_ddp_fits_is_not_needed(content: dict[str, Any]) -> None:
    found = variants(content, {"ddp": [0.0058, 0.0057, 0.0059], "fsdp": [0.0080, 0.0079, 0.0081]})
    assert causes(found["fsdp"])[0] == "fsdp-overhead"
    assert "Use ddp" in found["fsdp"].findings[0].recommendations[0].change
    assert found["fsdp"].findings[0].recommendations[0].variant == "ddp"
    prediction = found["fsdp"].findings[0].recommendations[0].prediction
    assert prediction is not None
    assert prediction.assumes == "as measured"
    assert prediction.gain.value == pytest.approx(8.0 / 5.8)
    assert prediction.gain.low < 8.0 / 5.8 < prediction.gain.high
    assert "fsdp-overhead" not in causes(found["ddp"])


def test_fsdp_that_cannot_be_told_from_ddp_is_left_alone(content: dict[str, Any]) -> None:
    found = variants(content, {"ddp": [0.0058, 0.0050, 0.0066], "fsdp": [0.0060, 0.0052, 0.0068]})
    assert "fsdp-overhead" not in causes(found["fsdp"])


def test_fsdp_that_is_nearly_surely_slower_is_possible_and_has_a_weight(content: dict[str, Any]) -> None:
    """Longer by 0.3 ms, where 0.42 ms is found. "Use ddp" is not advised within the noise."""
    found = variants(content, {"ddp": [0.0058, 0.0055, 0.0061], "fsdp": [0.0061, 0.0058, 0.0064]})["fsdp"]
    assert causes(found) == ["healthy"]
    assert [one.cause for one in found.also_possible] == ["fsdp-overhead"]
    (possible,) = found.also_possible
    assert 0.9 < possible.support < 0.975
    assert 0 < found.weights["fsdp-overhead"] < 1
    assert "use_ddp" not in [advice.id for advice in possible.recommendations]


def test_fewer_buckets_save_their_latencies_at_least_and_their_share_of_the_overhead_at_most(
    content: dict[str, Any],
) -> None:
    """30 buckets of 0.05 ms, of which torch has one. 1 MB at 1 GiB/s takes 0.93 of 3.4 ms of overhead."""
    seen = NETWORK | {"buckets": 30, "gradient_bytes": 1e6, "all_reduce_latency_s": 5e-5}
    seen |= limits("overhead_s", 0.0034)
    found = diagnose(content, SLOW, seen, {"ddp": {"bucket_cap_mb": 0.01}})
    (advice,) = found.findings[0].recommendations
    prediction, share, step_s = advice.prediction, 29 / 30, 0.004
    assert prediction is not None
    saved_s = [step_s * (1 - 1 / gain) for gain in vars(prediction.gain).values()]
    assert saved_s[0] == pytest.approx(share * (0.0034 - 1e6 / 2**30), rel=1e-3)
    assert saved_s[1] < 29 * 5e-5
    assert saved_s[2] > share * 0.0034


def test_ddp_out_of_memory_is_sent_to_fsdp(content: dict[str, Any]) -> None:
    found = variants(content, {"ddp": [nan, nan, nan], "fsdp": [0.0080, 0.0079, 0.0081]})
    assert found["ddp"].verdict == "not_measured"
    assert causes(found["ddp"]) == ["ddp-oom"]
    assert "Use fsdp, which fits." in found["ddp"].findings[0].recommendations[0].change


def test_no_batch_is_promised_to_reach_the_whole_efficiency(content: dict[str, Any]) -> None:
    found = diagnose(content | {"report": content.get("report", {}) | {"target_efficiency": 1}}, SLOW, {})
    advice = [advice for finding in found.findings for advice in finding.recommendations]
    assert [each.unpredicted for each in advice if each.id == "larger_batch"] == [
        "no batch reduces the overhead to 0."
    ]


def test_every_cause_says_what_it_rests_on() -> None:
    assert len({cause.id for cause in CAUSES}) == len(CAUSES)
    assert [cause.stage for cause in CAUSES] == sorted(cause.stage for cause in CAUSES)
    for cause in CAUSES:
        assert cause.look.__doc__, cause.id
        assert cause.refuted_by, cause.id
        assert isinstance(cause.stage, Stage)


def test_a_summary_without_measurements_of_a_kind_is_no_evidence_of_it(content: dict[str, Any]) -> None:
    """Every measured column except the step times is missing, so only the overhead is known."""
    empty = dict.fromkeys(
        ("data_time_s", "logging_time_s", "late_share", "all_reduce_bus_gib_per_s", "buckets"), nan
    )
    assert causes(diagnose(content, SLOW, empty)) == ["comm-bound"]


@pytest.mark.parametrize(
    ("shares", "said"),
    [
        ({}, "the clock falls at the same time: power or heat."),
        (
            {"thermal_slowdown_share": 0.0, "power_cap_share": 0.75},
            "the driver reports heat in 0 % of the readings and power limit in 75 % of the readings.",
        ),
    ],
)
def test_why_a_clock_falls_is_what_the_driver_tells(
    content: dict[str, Any], shares: dict[str, float], said: str
) -> None:
    found = diagnose(content, HEALTHY, SLOWING | {"launches_throttled": 3} | shares)
    (thermal,) = (finding for finding in found.named if finding.cause == "thermal")
    assert said in thermal.explanation


def test_what_nccl_took_is_named_beside_what_is_there(content: dict[str, Any]) -> None:
    found = diagnose(content, SLOW, NVLINK | {"nccl_transport": "shm"}).findings[0]
    assert found.explanation == (
        "The link itself is slow: 9 GiB/s without other traffic. With 18 NVLinks 4.0 as the slowest link, NCCL"
        " assumes 345 GiB/s. The GPUs are connected by NVLink, but NCCL reports that it sends through host memory"
        " (SHM). A larger batch would hide this but not fix it."
    )
    sockets = NVLINK | bus(1.5) | {"nccl_transport": "net_socket", "nccl_interfaces": "lo"}
    over = "sends through sockets (NET/Socket) over lo. "
    assert over in diagnose(content, SLOW, sockets).findings[0].explanation
    assert "NCCL_P2P_DISABLE" in found.recommendations[0].change
    evidence = {one.id: one for one in found.evidence}
    assert evidence["bus_bandwidth"].threshold == "< 121 (35 % of the links)"
    assert evidence["link_bandwidth"].value == 345.3


def test_a_table_of_an_earlier_release_says_nothing_of_links(content: dict[str, Any]) -> None:
    found = diagnose(content, SLOW, NETWORK | SLOW_LINK | {"gradient_bytes": 1e5}).findings[0]
    assert found.cause == "transport"
    assert "NVLink" not in found.explanation
    assert "NCCL" not in found.explanation + found.recommendations[0].change
