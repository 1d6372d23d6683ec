"""transport: the link itself is slow, measured while nothing else uses it."""

from math import isnan, nan

from scalestudy.analyse.communication.collectives import BUS_BANDWIDTH, LARGEST, SMALL_SHARE, bus_factor
from scalestudy.analyse.communication.links import INTERFACES, LINK, LINK_BUS, LINK_NAME, NO_TRANSPORT, TRANSPORT
from scalestudy.analyse.costs.collectives import RING
from scalestudy.analyse.statistics.intervals import Interval
from scalestudy.diagnose.case import Case
from scalestudy.diagnose.cause import Seen, Stage, cause
from scalestudy.diagnose.findings import Evidence, Recommendation
from scalestudy.diagnose.predict import saving
from scalestudy.diagnose.support import beyond, is_possible
from scalestudy.registry.codes import NcclTransport, SlowestLink

SLOW_GIB_PER_S = {"cuda": 5.0, "cpu": 0.35}
"""Bus bandwidth inside a node below which something is in the way, where the links are not known: PCIe 3.0 gives
12, gloo on one host about 1."""
LEAST_SHARE = {SlowestLink.NVLINK: 0.35, SlowestLink.PCIE: 0.25}
"""Of what NCCL counts on with the slowest link of the ring (LINK_BUS), the share below which something is in the
way. It is lower than public figures of all_reduce_perf. NVLink: 1.0 on 8 H100 (NVIDIA/nccl-tests#212), 0.85 on 8
and 2 A100 (#149, #178), 0.47 on 2 H100 with a bridge (NVIDIA/nccl#1161). PCIe: 28 of 48 GB/s on 8 RTX 5090
(NVIDIA/nccl#1639, where the memory of the host limits), 20 of 24 on 3 A100 (nccl-tests#178)."""
LARGE_BYTES = 64 * 2**20
"""Message from which a bus bandwidth is compared with a link: train/probes/collectives.py makes them on CUDA."""
COUNTED_ON = "bus bandwidth that NCCL counts on with {}"
IN_WORDS = {
    NcclTransport.SHM: "host memory (SHM)",
    NcclTransport.NET: "a network (NET)",
    NcclTransport.NET_IB: "a network adapter (NET/IB)",
    NcclTransport.NET_SOCKET: "sockets (NET/Socket)",
}
"""Transports that are not peer to peer."""
SHARE = 0.10  # of a step, from which a loss by latency or bandwidth is the cause to name
FIND_OUT = {
    "cuda": "Find what the ranks talk over: name the interface (NCCL_SOCKET_IFNAME), and see whether GPUs reach"
    " each other directly (nvidia-smi topo -m; NCCL_DEBUG=INFO says NET/Socket where they do not).",
    "cpu": "Find what the ranks talk over: on one host that is the loopback interface (GLOO_SOCKET_IFNAME=lo), and"
    " what makes it slow is a limit on it (tc qdisc show dev lo) or other work on the host.",
}
"""What to look at, by the kind of device: it names nothing that the host does not have."""
FALLEN_BACK = (
    "Find why GPUs do not reach each other directly: NCCL_P2P_DISABLE, NCCL_P2P_LEVEL and NCCL_SHM_DISABLE in the"
    " environment or in nccl.conf, a container that has too little of /dev/shm or not all GPUs, or ACS and IOMMU"
    " switched on (nvidia-smi topo -p2p r)."
)
WAITS = 0.5
"""Where a small message takes this share of the time of the largest, ranks wait for each other and not for bytes:
other work on the host makes that of any link."""


@cause(
    "transport",
    Stage.TRANSPORT,
    refuted_by="the same bandwidth in a benchmark of the link on other nodes of the kind",
)
def transport(case: Case) -> Seen | None:
    """Bus bandwidth inside a node, in every launch, below a threshold; >= 10 % of the step is lost by that.

    Threshold: LEAST_SHARE of what the links give, where they are known and a large message was measured; else 5
    GiB/s on GPUs, 0.35 on CPUs (calibrated by injection). Not where small messages take half as long as the
    largest, or the line through all sizes says otherwise, unless NCCL itself says that it fell back from NVLink,
    or to sockets. Between nodes nobody can tell.
    """
    point = case.point
    bus, kind = point[BUS_BANDWIDTH], "cpu" if point["device"] == "cpu" else "cuda"
    fallen = _fell_back(case)
    given, least = _given_and_least(case, kind)
    if point["nodes"] > 1 or isnan(bus) or bus >= least:
        return None
    if point[f"{BUS_BANDWIDTH}_max"] >= least:
        return None  # a slow link is slow in every launch
    fitted = point["all_reduce_gib_per_s"] * bus_factor("all-reduce", case.ranks)
    if not fallen and (point[SMALL_SHARE] >= WAITS or fitted >= least):
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
    of_links = not isnan(given)
    where = "with such links" if of_links else "inside a node"
    advice = Recommendation(
        id="choose_interface",
        change=FALLEN_BACK if fallen else FIND_OUT[kind],
        prediction=saving(case, saved, f"at the least bandwidth that is usual {where}"),
    )
    name = "bus bandwidth of the all-reduce on the idle network"
    sending = "lost by that in sending the gradients"
    share = f"({LEAST_SHARE[point[LINK]]:.0%} of the links)" if of_links else "inside a node"
    counted_on: tuple[Evidence, ...] = ()
    if of_links:
        counted_on = (Evidence.of("link_bandwidth", COUNTED_ON.format(point[LINK_NAME]), given, "GiB/s"),)
    evidence = (
        Evidence.of("bus_bandwidth", name, bus, "GiB/s", f"< {least:.3g} {share}"),
        *counted_on,
        Evidence.of("latency", "its latency", point["all_reduce_latency_s"], "us"),
        Evidence.of("lost_time", sending, lost_s, "ms a step", f">= {SHARE:.0%} of it"),
        Evidence.of("synchronisation", "synchronisation", cost, "ms a step"),
    )
    slow = f"The link is slow by itself: {bus:.2g} GiB/s with nothing else on it. "
    if of_links:
        slow += f"With {point[LINK_NAME]} as the slowest link NCCL counts on {given:.3g} GiB/s. "
    said = f"{slow}{fallen}A larger batch would hide that and not mend it."
    return Seen(said, evidence, (advice,), cost, support=support, found=found)


def _given_and_least(case: Case, kind: str) -> tuple[float, float]:
    """(bus bandwidth that the links give, threshold) in GiB/s; (nan, what is usual) where the links are not known.

    Tables of earlier releases have no columns of the links.
    """
    point = case.point
    link, given = point.get(LINK, SlowestLink.NONE), point.get(LINK_BUS, nan)
    if link not in LEAST_SHARE or isnan(given) or not point.get(LARGEST, nan) >= LARGE_BYTES:
        return nan, SLOW_GIB_PER_S[kind]
    return given, LEAST_SHARE[link] * given


def _fell_back(case: Case) -> str:
    """Where NCCL says that it does not use links that are there, a sentence that says so; else empty.

    Between GPUs on PCIe alone host memory is what NCCL often prefers; sockets inside a node never are.
    """
    took = IN_WORDS.get(case.point.get(TRANSPORT, NcclTransport.NONE))
    if case.point["nodes"] > 1 or took is None:
        return ""
    if (interfaces := case.point.get(INTERFACES, NO_TRANSPORT[INTERFACES])) != NO_TRANSPORT[INTERFACES]:
        took = f"{took} over {interfaces}"
    if case.point.get(LINK, SlowestLink.NONE) == SlowestLink.NVLINK:
        return f"NVLink joins the GPUs, and NCCL says that it sends through {took}. "
    if case.point.get(TRANSPORT, "") == NcclTransport.NET_SOCKET:
        return f"All ranks are on one node, and NCCL says that it sends through {took}. "
    return ""


def _sending_s(case: Case, bus_gib_per_s: float) -> float:
    """Seconds of an all-reduce of all gradients at this bus bandwidth."""
    return float(case.point["gradient_bytes"]) * RING.volume(case.ranks) / (bus_gib_per_s * 2**30)
