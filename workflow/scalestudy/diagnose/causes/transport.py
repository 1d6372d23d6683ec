"""transport: the link itself is slow, measured while nothing else uses it."""

from __future__ import annotations

from math import isnan

from scalestudy.analyse.communication.collectives import BUS_BANDWIDTH, SMALL_SHARE, bus_factor
from scalestudy.analyse.costs.collectives import RING
from scalestudy.analyse.statistics.intervals import Interval
from scalestudy.diagnose.case import Case
from scalestudy.diagnose.cause import Cause, Seen, Stage
from scalestudy.diagnose.findings import Evidence, Recommendation
from scalestudy.diagnose.predict import saving

SLOW_GIB_PER_S = {"cuda": 5.0, "cpu": 0.35}
"""Bus bandwidth inside a node below which something is in the way: PCIe 3.0 gives 12, gloo on one host about 1."""
SHARE = 0.10  # of a step, from which a loss by latency or bandwidth is the cause to name
WAITS = 0.5
"""Where a small message takes this share of the time of the largest, ranks wait for each other and not for bytes:
other work on the host makes that of any link."""


def look(case: Case) -> Seen | None:
    """A slow idle network, where synchronisation costs a good part of the step. Between nodes nobody can tell."""
    point = case.point
    bus, kind = point[BUS_BANDWIDTH], "cpu" if point["device"] == "cpu" else "cuda"
    if point["nodes"] > 1 or isnan(bus) or bus >= SLOW_GIB_PER_S[kind]:
        return None
    if point[f"{BUS_BANDWIDTH}_max"] >= SLOW_GIB_PER_S[kind]:
        return None  # a slow link is slow in every launch
    fitted = point["all_reduce_gib_per_s"] * bus_factor("all-reduce", case.ranks)
    if point[SMALL_SHARE] >= WAITS or fitted >= SLOW_GIB_PER_S[kind]:
        return None  # one size that was slow, beside others that were not, is no slow link
    cost = case.interval("differential_s" if not isnan(point["differential_s"]) else "overhead_s")
    lost_s = _sending_s(case, bus) - _sending_s(case, SLOW_GIB_PER_S[kind])
    # Small messages are slow on any link: what counts is what these gradients lose by it.
    if not min(cost.value, lost_s) >= SHARE * point["step_time_s"]:
        return None
    evidence = (
        Evidence.of(
            "bus_bandwidth",
            "bus bandwidth of the all-reduce on the idle network",
            bus,
            "GiB/s",
            f"< {SLOW_GIB_PER_S[kind]:g} inside a node",
        ),
        Evidence.of("latency", "its latency", point["all_reduce_latency_s"], "us"),
        Evidence.of(
            "lost_time", "lost by that in sending the gradients", lost_s, "ms a step", f">= {SHARE:.0%} of it"
        ),
        Evidence.of("synchronisation", "synchronisation", cost, "ms a step"),
    )
    return Seen(evidence, cost)


def _sending_s(case: Case, bus_gib_per_s: float) -> float:
    """Seconds of an all-reduce of all gradients at this bus bandwidth."""
    return float(case.point["gradient_bytes"]) * RING.volume(case.ranks) / (bus_gib_per_s * 2**30)


def _repair(case: Case, seen: Seen) -> tuple[Recommendation, ...]:
    point, cost = case.point, seen.loss_s
    kind = "cpu" if point["device"] == "cpu" else "cuda"
    left = _sending_s(case, SLOW_GIB_PER_S[kind])
    saved = Interval(*(max(0.0, seconds - left) for seconds in (cost.value, cost.low, cost.high)))
    names = "GLOO_SOCKET_IFNAME" if kind == "cpu" else "NCCL_SOCKET_IFNAME"
    return (
        Recommendation(
            id="choose_interface",
            change=f"Find what the ranks talk over: name the interface ({names}), and see whether GPUs reach each"
            " other directly (nvidia-smi topo -m; NCCL_DEBUG=INFO says NET/Socket where they do not).",
            prediction=saving(case, saved, "at the least bandwidth that is usual inside a node"),
        ),
    )


TRANSPORT = Cause(
    id="transport",
    stage=Stage.TRANSPORT,
    threshold="bus bandwidth inside a node below 5 GiB/s on GPUs, 0.35 on CPUs (calibrated by injection), in every"
    " launch, and >= 10 % of the step lost by that; not where small messages take half as long as the largest, or"
    " the line through all sizes says otherwise",
    look=look,
    explanation=lambda case, seen: (
        f"The link is slow by itself: {case.point[BUS_BANDWIDTH]:.2g} GiB/s with nothing else on it. A"
        " larger batch would hide that and not mend it."
    ),
    refuted_by="the same bandwidth in a benchmark of the link on other nodes of the kind",
    recommend=_repair,
)
