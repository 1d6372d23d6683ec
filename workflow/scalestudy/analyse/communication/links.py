"""The bus bandwidth that the links between the GPUs of a run should give NCCL, and the transport that NCCL
reports.

A ring sends each byte over every hop, so its slowest hop limits it. The bus bandwidth of nccl-tests is the
bandwidth of that hop (nccl-tests, doc/PERFORMANCE.md).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from math import inf, isnan, nan
from typing import Any, NamedTuple

from scalestudy.record.host.links import Link, read_links
from scalestudy.record.observation import NCCL_INTERFACES, NCCL_TRANSPORT, RunRecord
from scalestudy.registry.codes import NcclTransport, SlowestLink

NVLINK_GB_PER_S = {"1.0": 18.0, "2.0": 20.0, "2.2": 20.0, "3.0": 20.0, "3.1": 12.0, "4.0": 20.6, "5.0": 40.1}
"""Per link and direction, by version of NVLink: the value that NCCL assumes, after the overhead of the protocol.
The line rates of the links are higher: 20, 25, 25, 25, 14, 25 and 50. Source: NVIDIA/nccl, src/graph/topo.h (SM60
to SM100)."""
PCIE_LANE_GB_PER_S = {3: 0.75, 4: 1.5, 5: 3.0, 6: 6.0}
"""Per lane and direction, by generation: 12 GB/s for 16 lanes of PCIe 3.0, doubled with each generation. Source:
NVIDIA/nccl, src/graph/topo.h (PCI_BW)."""
NUMA_GB_PER_S = 6.0
"""Between sockets: the slowest that NCCL lists (QPI of Broadwell, ZPI, ARM). Source: the same."""
SYSTEM = "SYS"
MOST_SEARCHED = 10
"""Largest number of GPUs for which a ring is searched; with more, all pairs must have the same link."""
GB, GIB = 1e9, 2**30
TRANSPORTS = {
    "P2P": NcclTransport.P2P,
    "SHM": NcclTransport.SHM,
    "NET/IB": NcclTransport.NET_IB,
    "NET/Socket": NcclTransport.NET_SOCKET,
}
LINK, LINK_NAME, LINK_BUS = "slowest_link", "slowest_link_name", "link_bus_gib_per_s"
TRANSPORT, INTERFACES = NCCL_TRANSPORT, NCCL_INTERFACES
NO_RING: dict[str, Any] = {LINK: SlowestLink.NONE, LINK_NAME: "none", LINK_BUS: nan}
NO_TRANSPORT: dict[str, Any] = {TRANSPORT: NcclTransport.NONE, INTERFACES: "none"}


class Hop(NamedTuple):
    """The link between two neighbours of a ring."""

    order: float
    """Value in GB/s that ranks the hops; a lower bound if the bandwidth is unknown."""
    kind: SlowestLink
    name: str
    """'18 NVLinks 4.0', 'PCIe 4.0 x16', 'PCIe 4.0 x16 between NUMA nodes'."""
    gb_per_s: float
    """Per direction; nan if unknown."""


def slowest_hop(devices: Sequence[Mapping[str, Any]], links: Mapping[str, str], count: int) -> Hop | None:
    """Returns the slowest hop of the best ring through the first `count` devices: local rank r has device r.

    devices, links: as in record/host/gpus.py. None if it is unknown: too few devices are known, the link of a pair
    is unknown, MIG is on, or there are too many GPUs to search.
    """
    used = devices[:count]
    if count < 2 or len(used) < count or any(device.get("mig_mode") == "on" for device in used):
        return None
    known = read_links(links)
    hops: dict[tuple[int, int], Hop] = {}
    for pair in combinations(range(count), 2):
        link = known.get(pair, Link())
        if not (link.nvlinks or link.ancestor):
            return None
        hops[pair] = _hop(link, [used[index] for index in pair])
    ranked = sorted(set(hops.values()), key=lambda hop: -hop.order)
    if count > MOST_SEARCHED:
        return ranked[0] if len(ranked) == 1 else None
    for hop in ranked:
        if has_ring(count, {pair for pair, other in hops.items() if other.order >= hop.order}):
            return hop
    return None


def _hop(link: Link, devices: Sequence[Mapping[str, Any]]) -> Hop:
    if link.nvlinks:
        per_link = NVLINK_GB_PER_S.get(link.version, nan)
        order = link.nvlinks * (min(NVLINK_GB_PER_S.values()) if isnan(per_link) else per_link)
        return Hop(order, SlowestLink.NVLINK, link.nvlinks_named, link.nvlinks * per_link)
    far = " between NUMA nodes" if link.ancestor == SYSTEM else ""
    slots = [(int(device.get("pcie_generation") or 0), int(device.get("pcie_width") or 0)) for device in devices]
    if not all(generation in PCIE_LANE_GB_PER_S and width for generation, width in slots):
        return Hop(0.0, SlowestLink.PCIE, f"PCIe{far}", nan)
    generation, width = min(slots, key=lambda slot: PCIE_LANE_GB_PER_S[slot[0]] * slot[1])
    gb_per_s = min(PCIE_LANE_GB_PER_S[generation] * width, NUMA_GB_PER_S if far else inf)
    return Hop(gb_per_s, SlowestLink.PCIE, f"PCIe {generation}.0 x{width}{far}", gb_per_s)


def has_ring(count: int, joined: set[tuple[int, int]]) -> bool:
    """Returns whether a ring through all of 0 ... count - 1 exists over these pairs (lower number first).

    Two form a ring by their one link. By the sets that paths from 0 may visit (Held and Karp).
    """
    beside = [{b for b in range(count) if (min(a, b), max(a, b)) in joined} for a in range(count)]
    if count == 2:
        return bool(joined)
    ends: dict[int, set[int]] = {1: {0}}  # visited, as bits -> where such paths end
    for _ in range(count - 1):
        longer: dict[int, set[int]] = {}
        for visited, last in ends.items():
            for end in last:
                for following in beside[end]:
                    if not visited >> following & 1:
                        longer.setdefault(visited | 1 << following, set()).add(following)
        ends = longer
    return any(last & beside[0] for last in ends.values())


def links_of(record: RunRecord) -> dict[str, Any]:
    """Returns columns of runs.csv: the slowest hop, its bus bandwidth, and the transport that NCCL reported.

    Only for runs over NCCL. The hop is known only inside a node, not for the network between nodes.
    """
    environment, spec = record.environment, record.spec
    if environment.get("backend") != "nccl" or spec.world_size == 1:
        return NO_RING | NO_TRANSPORT
    said = environment.get(NCCL_TRANSPORT)
    took = dict(NO_TRANSPORT)
    if said:
        took[TRANSPORT] = TRANSPORTS.get(said, NcclTransport.NET)
        took[INTERFACES] = environment.get(NCCL_INTERFACES, took[INTERFACES])
    gpu = (environment.get("hardware") or {}).get("gpu") or {}
    hop = None
    if spec.nodes == 1:
        hop = slowest_hop(gpu.get("devices") or [], gpu.get("links") or {}, spec.devices_per_node)
    if hop is None:
        return NO_RING | took
    return {LINK: hop.kind, LINK_NAME: hop.name, LINK_BUS: hop.gb_per_s * GB / GIB} | took
