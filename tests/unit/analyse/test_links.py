"""The bandwidth of a ring of NCCL over links, and the link that limits it, with a simulated NVML."""

from __future__ import annotations

from itertools import combinations, pairwise, permutations
from math import isnan
from random import Random
from typing import Any

import pynvml
import pytest
from builders import observation
from nvml import Board, FakeNvml, bridged, on_pcie, sliced, switched
from scalestudy.analyse.communication.links import has_ring, links_of, slowest_hop
from scalestudy.record.host.environment import hardware_facts
from scalestudy.record.host.gpus import gpu_facts
from scalestudy.study.config.load import parse_study
from scalestudy.study.plan import make_plan

SYSTEM, NODE = pynvml.NVML_TOPOLOGY_SYSTEM, pynvml.NVML_TOPOLOGY_NODE


def version(boards: list[Board], number: int | None) -> list[Board]:
    answers = {"nvmlDeviceGetNvLinkVersion": number}
    return [Board(board.uuid, bus=board.bus, nvlinks=board.nvlinks, answers=answers) for board in boards]


def cube_mesh() -> list[Board]:
    """DGX-1: 8 V100 with 6 NVLinks each, of which two go to one neighbour in some pairs."""
    doubled = [(0, 3), (0, 4), (1, 2), (1, 5), (2, 3), (4, 7), (5, 6), (6, 7)]
    single = [(0, 1), (0, 2), (1, 3), (2, 6), (3, 7), (4, 5), (4, 6), (5, 7)]
    ends: dict[int, list[int]] = {number: [] for number in range(8)}
    for pairs, count in ((doubled, 2), (single, 1)):
        for a, b in pairs:
            ends[a] += [b + 1] * count
            ends[b] += [a + 1] * count
    answers = {"nvmlDeviceGetNvLinkVersion": 2}
    return [Board(f"GPU-{n}", bus=n + 1, nvlinks=ends[n], answers=answers) for n in range(8)]


CASES = {
    # boards, common ancestor, ranks -> slowest hop, GB/s per direction
    "8 on switches": (switched(), SYSTEM, 8, "18 NVLinks 4.0", 370.8),
    "2 of 8 on switches": (switched(), SYSTEM, 2, "18 NVLinks 4.0", 370.8),
    "8 A100": (
        version([Board(f"{n}", bus=n + 1, nvlinks=[None] * 12) for n in range(8)], 4),
        NODE,
        8,
        "12 NVLinks 3.0",
        240,
    ),
    "8 B200": (version(switched(), 7), SYSTEM, 8, "18 NVLinks 5.0", 721.8),
    "16 on switches": (switched(16), SYSTEM, 16, "18 NVLinks 4.0", 370.8),
    "both ends of a bridge": (bridged(), SYSTEM, 2, "12 NVLinks 4.0", 247.2),
    "2 bridges, sockets between": (bridged(), SYSTEM, 4, "PCIe 5.0 x16 between NUMA nodes", 6),
    "2 bridges, one socket": (bridged(), NODE, 4, "PCIe 5.0 x16", 48),
    "cube mesh": (cube_mesh(), SYSTEM, 8, "2 NVLinks 2.0", 40),
    "PCIe 4.0": (on_pcie(), NODE, 4, "PCIe 4.0 x16", 24),
    "PCIe 3.0": (on_pcie(generation=3), NODE, 2, "PCIe 3.0 x16", 12),
    "PCIe between sockets": (on_pcie(), SYSTEM, 2, "PCIe 4.0 x16 between NUMA nodes", 6),
    "NVLink of an unknown version": (version(switched(), 8), SYSTEM, 8, "18 NVLinks 6.0", None),
    "NVLink whose version NVML does not tell": (version(switched(), None), SYSTEM, 2, "18 NVLinks", None),
    "PCIe of an unknown generation": (on_pcie(generation=7), NODE, 2, "PCIe", None),
}


@pytest.mark.parametrize("name", CASES)
def test_the_slowest_hop_of_the_best_ring(name: str) -> None:
    boards, ancestor, ranks, slowest, gb_per_s = CASES[name]
    facts = gpu_facts({}, FakeNvml(*boards, ancestor=ancestor))
    hop = slowest_hop(facts["devices"], facts["links"], ranks)
    assert hop is not None
    assert hop.name == slowest
    assert isnan(hop.gb_per_s) if gb_per_s is None else hop.gb_per_s == pytest.approx(gb_per_s)


@pytest.mark.parametrize(
    ("boards", "ancestor", "ranks"),
    [
        (sliced(), SYSTEM, 1),
        (sliced(), SYSTEM, 2),
        ([*sliced(), *on_pcie(1)], NODE, 2),
        (on_pcie(2), NODE, 4),
        (on_pcie(2), 999, 2),
        (on_pcie(0), NODE, 2),
        ([*switched(11)[:-1], *on_pcie(11)[-1:]], NODE, 11),
    ],
    ids=["MIG", "MIG, two ranks", "MIG on one of two", "too few", "unread", "none", "too many to search"],
)
def test_nothing_is_said_where_links_are_not_known(boards: list[Board], ancestor: int, ranks: int) -> None:
    facts = gpu_facts({}, FakeNvml(*boards, ancestor=ancestor))
    assert slowest_hop(facts["devices"], facts["links"], ranks) is None


def test_a_narrow_slot_limits_both_ends() -> None:
    narrow = {"nvmlDeviceGetMaxPcieLinkWidth": 4, "nvmlDeviceGetMaxPcieLinkGeneration": 4}
    boards = [*on_pcie(1), Board("GPU-9", bus=9, answers=narrow)]
    facts = gpu_facts({}, FakeNvml(*boards, ancestor=NODE))
    hop = slowest_hop(facts["devices"], facts["links"], 2)
    assert (hop.name, hop.gb_per_s) == ("PCIe 4.0 x4", 6)


@pytest.mark.parametrize("count", [2, 3, 5, 6])
def test_rings_are_found_as_by_trying_all(count: int) -> None:
    random = Random(count)
    pairs = list(combinations(range(count), 2))
    for _ in range(60):
        joined = {pair for pair in pairs if random.random() < 0.55}
        rings = [(0, *rest, 0) for rest in permutations(range(1, count))]
        tried = any(all((min(p), max(p)) in joined for p in pairwise(r)) for r in rings)
        assert has_ring(count, joined) == tried


def columns(content: dict[str, Any], **environment: Any) -> dict[str, Any]:
    plan = make_plan(parse_study(content, source="x"))
    spec = next(spec for spec in plan.runs.values() if spec.world_size == 2)
    return links_of(observation(spec, [[0.001] * 10] * 2, environment=environment).record)


NOTHING = {
    "slowest_link": "none",
    "slowest_link_name": "none",
    "nccl_transport": "none",
    "nccl_interfaces": "none",
}


def test_a_launch_over_nccl_has_its_slowest_link_and_its_transport(content: dict[str, Any]) -> None:
    hardware = hardware_facts({}, FakeNvml(*switched()))
    found = columns(content, backend="nccl", hardware=hardware, nccl_transport="NET/Socket", nccl_interfaces="lo")
    assert found.pop("link_bus_gib_per_s") == pytest.approx(370.8e9 / 2**30)
    assert found == {
        "slowest_link": "nvlink",
        "slowest_link_name": "18 NVLinks 4.0",
        "nccl_transport": "net_socket",
        "nccl_interfaces": "lo",
    }
    assert columns(content, backend="nccl", nccl_transport="NET/AWS Libfabric")["nccl_transport"] == "net"


def test_nothing_is_said_of_gloo_or_of_a_record_that_does_not_tell(content: dict[str, Any]) -> None:
    hardware = hardware_facts({}, FakeNvml(*switched()))
    for environment in ({"backend": "gloo", "hardware": hardware}, {"backend": "nccl"}, {}):
        found = columns(content, **environment)
        assert isnan(found.pop("link_bus_gib_per_s"))
        assert found == NOTHING
