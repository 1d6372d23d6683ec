"""What communication costs before it is measured, against sums done by hand and a published table."""

from __future__ import annotations

import pytest
from launches import spec_of
from published_tables import table
from scalestudy.analyse.costs.buckets import (
    MIB,
    Bucket,
    bandwidth_from_exposed,
    exposed_s,
)
from scalestudy.analyse.costs.collectives import (
    ALGORITHMS,
    NAIVE,
    PARAMETER_SERVER,
    RING,
    TREE,
    Link,
)
from scalestudy.analyse.costs.strategies import Setting, traffic
from scalestudy.study.traffic import bytes_sent

TEN_GBIT = Link(latency_s=1e-4, bandwidth_bytes_per_s=10e9 / 8)


def test_a_ring_of_four_over_ten_gigabit() -> None:
    """100 MiB, 0.1 ms: 6 messages of 25 MiB, 21.07 ms each."""
    assert RING.time_s(100 * MIB, 4, TEN_GBIT) == pytest.approx(0.126, abs=5e-4)


def test_algorithms_by_hand() -> None:
    link = Link(1.0, 10.0)
    assert RING.time_s(40, 4, link) == 6 * 1 + 6 * 10 / 10
    assert TREE.time_s(40, 4, link) == 4 * 1 + 2 * 40 / 10
    assert NAIVE.time_s(40, 4, link) == 3 * 1 + 3 * 40 / 10
    assert PARAMETER_SERVER.time_s(40, 4, link) == 2 * 1 + 8 * 40 / 10
    assert all(algorithm.time_s(40, 1, link) == 0 for algorithm in ALGORITHMS)


def test_a_tree_wins_where_latency_rules_and_a_ring_where_bytes_do() -> None:
    assert TREE.time_s(1024, 64, TEN_GBIT) < RING.time_s(1024, 64, TEN_GBIT)
    assert RING.time_s(1e9, 64, TEN_GBIT) < TREE.time_s(1e9, 64, TEN_GBIT)


@pytest.mark.parametrize("link", [(-1.0, 1.0), (0.0, 0.0)])
def test_a_link_that_is_none(link: tuple[float, float]) -> None:
    with pytest.raises(ValueError, match="a link must have a latency of at least 0 s"):
        Link(*link)


def test_the_pipeline_by_hand() -> None:
    """Ready at 1, 2 and 4; three units each: they end at 4, 7 and 10, six after backward."""
    buckets = [Bucket(3, 1.0), Bucket(3, 2.0), Bucket(3, 4.0)]
    assert exposed_s(buckets, 4.0, lambda size: size) == 6.0
    assert exposed_s(buckets, 4.0, lambda size: 0.0) == 0.0
    assert exposed_s([], 4.0, lambda size: size) == 0.0


def test_the_published_v100_table_is_foretold_from_its_other_batch() -> None:
    """The link from the rows of batch 256, then batch 4096 on two GPUs from its single-GPU row: 1.75x within 3 %.

    Assumed: layers of 4096-4096-4096-2048 (42 M parameters, which fit the arithmetic rate), gradients in fp32, no
    latency. DDP makes a bucket of each layer, since each is above 25 MiB. Backward takes two matrix products a
    layer and one for the first, whose input needs no gradient.
    """
    square, last = 4096 * 4096, 4096 * 2048
    products = (2 * last, 2 * square, square)  # backward, in the order in which it meets the layers
    forward = 2 * square + last
    share = sum(products) / (sum(products) + forward)
    times = table("seeds").set_index(["case", "gpus"])["step_time_ms"] / 1e3

    def buckets(backward_s: float) -> list[Bucket]:
        ready = [backward_s * sum(products[: index + 1]) / sum(products) for index in range(3)]
        return [Bucket(4.0 * size, at) for size, at in zip((last, square, square), ready, strict=True)]

    small, large = times["mlp-b256", 1], times["mlp-b4096", 1]
    overhead = times["mlp-b256", 2] - small
    bandwidth = bandwidth_from_exposed(overhead, buckets(small * share), small * share, ranks=2)
    assert bandwidth == pytest.approx(4.5e9, rel=0.02)  # PCIe through the host
    link = Link(0.0, bandwidth)
    exposed = exposed_s(buckets(large * share), large * share, lambda size: RING.time_s(size, 2, link))
    assert exposed == pytest.approx(14.5e-3, rel=0.05)
    assert 2 * large / (large + exposed) == pytest.approx(1.75, rel=0.03)


def test_a_link_that_hides_everything_is_not_fitted() -> None:
    with pytest.raises(ValueError, match="all communication is hidden"):
        bandwidth_from_exposed(0.0, [Bucket(MIB, 1.0)], 1.0, ranks=2)
    with pytest.raises(ValueError, match="no bandwidth gives"):
        bandwidth_from_exposed(1e-3, [Bucket(MIB, 1.0)], 1.0, ranks=2, latency_s=1.0)


@pytest.mark.parametrize("ranks", [2, 4, 8])
@pytest.mark.parametrize("accumulation_steps", [1, 4])
def test_bytes_agree_with_those_of_a_run(ranks: int, accumulation_steps: int) -> None:
    setting = Setting(1000, ranks, TEN_GBIT, accumulation_steps=accumulation_steps)
    variants = (
        {"strategy": "ddp"},
        {"strategy": "fsdp"},
        {"strategy": "fsdp", "fsdp": {"sharding": "gradients"}},
    )
    for item, variant in zip(traffic(setting), variants, strict=True):
        spec = spec_of(variant | {"accumulation_steps": accumulation_steps}, scale=f"1x{ranks}")
        assert item.bytes_sent == pytest.approx(bytes_sent(spec, 1000)), item.strategy


def test_one_rank_sends_nothing() -> None:
    for item in traffic(Setting(1e6, 1, TEN_GBIT)):
        assert (item.bytes_sent, item.time_s, item.collectives) == (0, 0, 0)


def test_model_state_of_adam() -> None:
    """Four numbers a parameter, 16 bytes.

    All of it, a share of it, and parameters whole with a share of the rest.
    """
    ddp, full, gradients = traffic(Setting(1e9, 4, TEN_GBIT))
    assert ddp.state_bytes == 16e9
    assert full.state_bytes == 4e9
    assert gradients.state_bytes == (4 + 12 / 4) * 1e9
