"""transport: the link itself is slow, measured while nothing else uses it."""

from math import isnan

from scalestudy.analyse.communication.collectives import BUS_BANDWIDTH, SMALL_SHARE, bus_factor
from scalestudy.analyse.costs.collectives import RING
from scalestudy.analyse.statistics.intervals import Interval
from scalestudy.diagnose.case import Case
from scalestudy.diagnose.cause import Seen, Stage, cause
from scalestudy.diagnose.findings import Evidence, Recommendation
from scalestudy.diagnose.predict import saving
from scalestudy.diagnose.support import beyond, is_possible

SLOW_GIB_PER_S = {"cuda": 5.0, "cpu": 0.35}
"""Bus bandwidth inside a node below which something is in the way: PCIe 3.0 gives 12, gloo on one host about 1."""
SHARE = 0.10  # of a step, from which a loss by latency or bandwidth is the cause to name
FIND_OUT = {
    "cuda": "Find what the ranks talk over: name the interface (NCCL_SOCKET_IFNAME), and see whether GPUs reach"
    " each other directly (nvidia-smi topo -m; NCCL_DEBUG=INFO says NET/Socket where they do not).",
    "cpu": "Find what the ranks talk over: on one host that is the loopback interface (GLOO_SOCKET_IFNAME=lo), and"
    " what makes it slow is a limit on it (tc qdisc show dev lo) or other work on the host.",
}
"""What to look at, by the kind of device: it names nothing that the host does not have."""
WAITS = 0.5
"""Where a small message takes this share of the time of the largest, ranks wait for each other and not for bytes:
other work on the host makes that of any link."""


@cause(
    "transport",
    Stage.TRANSPORT,
    refuted_by="the same bandwidth in a benchmark of the link on other nodes of the kind",
)
def transport(case: Case) -> Seen | None:
    """Bus bandwidth inside a node below 5 GiB/s on GPUs, 0.35 on CPUs (calibrated by injection), in every launch.

    And >= 10 % of the step lost by that; not where small messages take half as long as the largest, or the line
    through all sizes says otherwise. Between nodes nobody can tell.
    """
    point = case.point
    bus, kind = point[BUS_BANDWIDTH], "cpu" if point["device"] == "cpu" else "cuda"
    least = SLOW_GIB_PER_S[kind]
    if point["nodes"] > 1 or isnan(bus) or bus >= least:
        return None
    if point[f"{BUS_BANDWIDTH}_max"] >= least:
        return None  # a slow link is slow in every launch
    fitted = point["all_reduce_gib_per_s"] * bus_factor("all-reduce", case.ranks)
    if point[SMALL_SHARE] >= WAITS or fitted >= least:
        return None  # one size that was slow, beside others that were not, is no slow link
    cost = case.interval("differential_s" if not isnan(point["differential_s"]) else "overhead_s")
    usual_s = _sending_s(case, least)
    lost_s = _sending_s(case, bus) - usual_s
    # Small messages are slow on any link: what counts is what these gradients lose by it.
    least_s = SHARE * point["step_time_s"]
    found = min(cost.value, lost_s) >= least_s
    support = min(beyond(case, cost, least_s), beyond(case, Interval(lost_s), least_s))
    if not (found or is_possible(support)):
        return None
    saved = cost.map(lambda seconds: max(0.0, seconds - usual_s))
    advice = Recommendation(
        id="choose_interface",
        change=FIND_OUT[kind],
        prediction=saving(case, saved, "at the least bandwidth that is usual inside a node"),
    )
    name = "bus bandwidth of the all-reduce on the idle network"
    sending = "lost by that in sending the gradients"
    evidence = (
        Evidence.of("bus_bandwidth", name, bus, "GiB/s", f"< {least:g} inside a node"),
        Evidence.of("latency", "its latency", point["all_reduce_latency_s"], "us"),
        Evidence.of("lost_time", sending, lost_s, "ms a step", f">= {SHARE:.0%} of it"),
        Evidence.of("synchronisation", "synchronisation", cost, "ms a step"),
    )
    slow = f"The link is slow by itself: {bus:.2g} GiB/s with nothing else on it."
    said = f"{slow} A larger batch would hide that and not mend it."
    return Seen(said, evidence, (advice,), cost, support=support, found=found)


def _sending_s(case: Case, bus_gib_per_s: float) -> float:
    """Seconds of an all-reduce of all gradients at this bus bandwidth."""
    return float(case.point["gradient_bytes"]) * RING.volume(case.ranks) / (bus_gib_per_s * 2**30)
