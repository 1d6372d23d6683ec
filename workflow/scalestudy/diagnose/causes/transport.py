"""Cause `transport`: the link itself is slow, measured while nothing else uses it."""

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
from scalestudy.registry.words.percent import percent

SLOW_GIB_PER_S = {"cuda": 5.0, "cpu": 0.35}
"""Bus bandwidth inside a node below which a link counts as slow if the links are not known. For comparison: PCIe
3.0 reaches 12, gloo on one host about 1."""
LEAST_SHARE = {SlowestLink.NVLINK: 0.35, SlowestLink.PCIE: 0.25}
"""Share of the bandwidth that NCCL assumes for the slowest link of the ring (LINK_BUS), below which a link counts
as slow. It is below public figures of all_reduce_perf. NVLink: 1.0 on 8 H100 (NVIDIA/nccl-tests#212), 0.85 on 8
and 2 A100 (#149, #178), 0.47 on 2 H100 with a bridge (NVIDIA/nccl#1161). PCIe: 28 of 48 GB/s on 8 RTX 5090
(NVIDIA/nccl#1639, limited by host memory), 20 of 24 on 3 A100 (nccl-tests#178)."""
LARGE_BYTES = 64 * 2**20
"""Smallest message whose bus bandwidth is compared with a link; train/probes/collectives.py sends such on CUDA."""
COUNTED_ON = "bus bandwidth that NCCL assumes for {}"
IN_WORDS = {
    NcclTransport.SHM: "host memory (SHM)",
    NcclTransport.NET: "a network (NET)",
    NcclTransport.NET_IB: "a network adapter (NET/IB)",
    NcclTransport.NET_SOCKET: "sockets (NET/Socket)",
}
"""Transports that are not peer to peer."""
SHARE = 0.10  # of a step: smallest loss to latency or bandwidth that is named as a cause
FIND_OUT = {
    "cuda": "Find out which interface the ranks use: set it (NCCL_SOCKET_IFNAME), and check whether the GPUs reach"
    " each other directly (nvidia-smi topo -m; if not, NCCL_DEBUG=INFO shows NET/Socket).",
    "cpu": "Find out which interface the ranks use: on one host it is the loopback interface"
    " (GLOO_SOCKET_IFNAME=lo), which is slowed by a rate limit (tc qdisc show dev lo) or other work on the host.",
}
"""Advice by kind of device: it names only what such a host has."""
FALLEN_BACK = (
    "Find out why the GPUs do not reach each other directly. Possible reasons: NCCL_P2P_DISABLE, NCCL_P2P_LEVEL or"
    " NCCL_SHM_DISABLE in the environment or in nccl.conf; a container with too little /dev/shm or without all"
    " GPUs; ACS or IOMMU switched on (nvidia-smi topo -p2p r)."
)
WAITS = 0.5
"""If a small message takes at least this share of the time of the largest, ranks wait for each other and not for
bytes. Other work on the host has that effect on any link."""


@cause(
    "transport",
    Stage.TRANSPORT,
    refuted_by="the same bandwidth in a benchmark of the link on other nodes of the same kind",
)
def transport(case: Case) -> Seen | None:
    """Bus bandwidth inside a node below a threshold in every run, at a cost of >= 10 % of the step.

    Threshold: LEAST_SHARE of the bandwidth of the links, if they are known and a large message was measured; else
    5 GiB/s on GPUs, 0.35 on CPUs (calibrated by injection). The cause is ruled out if small messages take half as
    long as the largest, or if the line through all sizes gives a bandwidth above the threshold, unless NCCL itself
    reports that it fell back from NVLink, or to sockets. Links between nodes are not judged.
    """
    point = case.point
    bus, kind = point[BUS_BANDWIDTH], "cpu" if point["device"] == "cpu" else "cuda"
    fallen = _fell_back(case)
    given, least = _given_and_least(case, kind)
    if point["nodes"] > 1 or isnan(bus) or bus >= least:
        return None
    if point[f"{BUS_BANDWIDTH}_max"] >= least:
        return None  # a slow link is slow in every run
    fitted = point["all_reduce_gib_per_s"] * bus_factor("all-reduce", case.ranks)
    if not fallen and (point[SMALL_SHARE] >= WAITS or fitted >= least):
        return None  # if only one size was slow, the link is not the reason
    cost = case.interval("differential_s" if not isnan(point["differential_s"]) else "overhead_s")
    usual_s = _sending_s(case, least)
    lost_s = _sending_s(case, bus) - usual_s
    # Small messages are slow on any link, so only the time that these gradients lose counts.
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
        prediction=saving(case, saved, f"at the lowest usual bandwidth {where}"),
    )
    name = "bus bandwidth of the all-reduce on the idle network"
    sending = "time lost to it when sending the gradients"
    share = f"({percent(LEAST_SHARE[point[LINK]])} of the links)" if of_links else "inside a node"
    counted_on: tuple[Evidence, ...] = ()
    if of_links:
        counted_on = (Evidence.of("link_bandwidth", COUNTED_ON.format(point[LINK_NAME]), given, "GiB/s"),)
    evidence = (
        Evidence.of("bus_bandwidth", name, bus, "GiB/s", f"< {least:.3g} {share}"),
        *counted_on,
        Evidence.of("latency", "its latency", point["all_reduce_latency_s"], "us"),
        Evidence.of("lost_time", sending, lost_s, "ms per step", f">= {percent(SHARE)} of it"),
        Evidence.of("synchronisation", "synchronisation", cost, "ms per step"),
    )
    slow = f"The link itself is slow: {bus:.2g} GiB/s without other traffic. "
    if of_links:
        slow += f"With {point[LINK_NAME]} as the slowest link, NCCL assumes {given:.3g} GiB/s. "
    said = f"{slow}{fallen}A larger batch would hide this but not fix it."
    return Seen(said, evidence, (advice,), cost, support=support, found=found)


def _given_and_least(case: Case, kind: str) -> tuple[float, float]:
    """(bus bandwidth of the links, threshold) in GiB/s; (nan, usual threshold) if the links are not known.

    Tables of earlier releases lack the columns of the links.
    """
    point = case.point
    link, given = point.get(LINK, SlowestLink.NONE), point.get(LINK_BUS, nan)
    if link not in LEAST_SHARE or isnan(given) or not point.get(LARGEST, nan) >= LARGE_BYTES:
        return nan, SLOW_GIB_PER_S[kind]
    return given, LEAST_SHARE[link] * given


def _fell_back(case: Case) -> str:
    """A sentence about the fallback if NCCL reports that it does not use existing links; else empty.

    Between GPUs with PCIe only, NCCL often prefers host memory. Inside a node it never prefers sockets.
    """
    took = IN_WORDS.get(case.point.get(TRANSPORT, NcclTransport.NONE))
    if case.point["nodes"] > 1 or took is None:
        return ""
    if (interfaces := case.point.get(INTERFACES, NO_TRANSPORT[INTERFACES])) != NO_TRANSPORT[INTERFACES]:
        took = f"{took} over {interfaces}"
    if case.point.get(LINK, SlowestLink.NONE) == SlowestLink.NVLINK:
        return f"The GPUs are connected by NVLink, but NCCL reports that it sends through {took}. "
    if case.point.get(TRANSPORT, "") == NcclTransport.NET_SOCKET:
        return f"All ranks are on one node, but NCCL reports that it sends through {took}. "
    return ""


def _sending_s(case: Case, bus_gib_per_s: float) -> float:
    """Seconds that an all-reduce of all gradients takes at this bus bandwidth."""
    return float(case.point["gradient_bytes"]) * RING.volume(case.ranks) / (bus_gib_per_s * 2**30)
