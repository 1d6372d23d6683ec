"""Limits of a step before it is measured: ordered, monotone, from published shares, held by published steps."""

from __future__ import annotations

from dataclasses import replace
from math import inf, log

import numpy as np
import pandas as pd
import pytest
from bench.estimates import conformal, drawn, interval_score, read_steps, shares
from hypothesis import given, settings
from hypothesis import strategies as st
from published_tables import DATA
from scalestudy.analyse.costs.calibrated import (
    FITTED,
    LEAST,
    Fitted,
    Parts,
    StepInterval,
    compute_for,
    drawn_steps_s,
    least_step_s,
    limits_s,
    step_interval_s,
)
from scalestudy.analyse.costs.collectives import RING, Link
from scalestudy.analyse.costs.links import KINDS, SHARES, Z95, Share, family_of
from scalestudy.analyse.costs.strategies import Setting, Traffic, traffic

TEN_GBIT = Link(20e-6, 1.25e9)
FAMILIES = sorted(SHARES)
EXACT = Fitted(
    contention=dict.fromkeys(SHARES, 0.0),
    overlap=0.0,
    overlap_spread=0.0,
    other=0.0,
    other_per_doubling=0.0,
    other_spread=0.0,
    margin=0.0,
)


def interval(setting: Setting, compute_s: float, family: str, strategy: str = "ddp") -> StepInterval:
    """Return the interval of a step of a strategy."""
    (item,) = [item for item in traffic(setting) if item.strategy == strategy]
    return step_interval_s(setting, item, compute_s, share=SHARES[family], family=family)


def values(one: StepInterval) -> list[float]:
    """Return lower limit, median and upper limit."""
    return [one.low, one.median, one.high]


@settings(max_examples=60, deadline=None)
@given(
    parameters=st.floats(1e5, 1e11),
    ranks=st.integers(2, 1024),
    bandwidth=st.floats(1e8, 1e12),
    compute=st.floats(1e-3, 10),
    family=st.sampled_from(FAMILIES),
    strategy=st.sampled_from(["ddp", "fsdp, full shard", "fsdp, gradients"]),
)
def test_limits_are_ordered_and_finite(
    parameters: float, ranks: int, bandwidth: float, compute: float, family: str, strategy: str
) -> None:
    low, median, high = values(
        interval(Setting(parameters, ranks, Link(20e-6, bandwidth)), compute, family, strategy)
    )
    assert LEAST * compute <= low < median < high < inf


@settings(max_examples=60, deadline=None)
@given(
    parameters=st.floats(1e5, 1e10),
    ranks=st.integers(2, 512),
    bandwidth=st.floats(1e8, 1e11),
    faster=st.floats(1, 100),
    more=st.floats(1, 100),
    family=st.sampled_from(FAMILIES),
    strategy=st.sampled_from(["ddp", "fsdp, full shard", "fsdp, gradients"]),
)
def test_a_faster_link_is_never_slower_and_more_bytes_are_never_faster(
    parameters: float, ranks: int, bandwidth: float, faster: float, more: float, family: str, strategy: str
) -> None:
    setting = Setting(parameters, ranks, Link(20e-6, bandwidth))
    base = values(interval(setting, 0.2, family, strategy))
    quick = values(interval(replace(setting, link=Link(20e-6, bandwidth * faster)), 0.2, family, strategy))
    large = values(interval(replace(setting, parameters=parameters * more), 0.2, family, strategy))
    for changed, slower in ((quick, base), (base, large)):
        assert all(one <= other * (1 + 1e-9) for one, other in zip(changed, slower, strict=True))


@pytest.mark.parametrize("family", FAMILIES)
def test_more_computation_never_makes_a_shorter_step(family: str) -> None:
    setting = Setting(1e8, 8, TEN_GBIT)
    steps = [values(interval(setting, compute, family)) for compute in np.geomspace(1e-3, 10, 40)]
    assert all(np.all(np.diff(column) >= 0) for column in np.array(steps).T)


def test_one_rank_has_the_step_of_one_process() -> None:
    assert interval(Setting(1e8, 1, TEN_GBIT), 0.2, "any") == StepInterval(0.2, 0.2, 0.2)


def test_without_spread_the_step_is_that_of_the_formula() -> None:
    """500 MB on 8 ranks, 0.7 s at 1.25 GB/s; half of two thirds of 0.2 s is hidden."""
    setting = Setting(125e6, 8, Link(0.0, 1.25e9))
    item = traffic(setting)[0]
    steps = drawn_steps_s(Parts.of(setting, item), 0.2, 3.0, share=(log(0.5), 0.0), contention=0.0, fitted=EXACT)
    low, median, high = limits_s(steps, 0.2, 0.0)
    assert low == median == high
    assert item.time_s == pytest.approx(0.7)
    assert median == pytest.approx(0.2 + 1.4 - 0.5 * 0.2 * 2 / 3)


def test_the_parts_of_a_step_sum_to_its_traffic() -> None:
    setting = Setting(3e8, 16, TEN_GBIT, blocks=24, accumulation_steps=3)
    for item in traffic(setting):
        parts = Parts.of(setting, item)
        assert parts.fixed + parts.sent == pytest.approx(item.time_s)
        assert parts.unhidden_fixed + parts.unhidden_sent == pytest.approx(item.unhidden_s)
    assert Parts.of(setting, traffic(setting)[0]).sent == pytest.approx(RING.time_s(1.2e9, 16, Link(0, 1.25e9)))


def test_a_measured_bandwidth_and_a_named_link_narrow_the_limits() -> None:
    setting = Setting(1e9, 8, TEN_GBIT)
    width = {family: interval(setting, 0.05, family) for family in FAMILIES}
    ratio = {family: one.high / one.low for family, one in width.items()}
    assert ratio["measured"] < ratio["ethernet"] < ratio["any"] < ratio["pcie"]


def test_few_sources_widen_a_share() -> None:
    few, many = Share(0.5, 0.3, 4), Share(0.5, 0.3, 400)
    assert few.predictive > 1.4 * many.predictive
    assert many.predictive == pytest.approx(0.3, rel=0.01)
    low, high = many.limits
    assert (low, high) == (pytest.approx(0.5 * np.exp(-Z95 * 0.3), rel=0.01), pytest.approx(0.82, rel=0.01))


@pytest.mark.parametrize("strategy", ["ddp", "fsdp, full shard"])
@pytest.mark.parametrize("target", [0.5, 0.8])
def test_the_computation_for_an_efficiency_gives_it(strategy: str, target: float) -> None:
    setting = Setting(1e9, 8, TEN_GBIT)
    (item,) = [item for item in traffic(setting) if item.strategy == strategy]
    least, median = compute_for(setting, item, target, share=SHARES["ethernet"], family="ethernet")
    assert least / interval(setting, least, "ethernet", strategy).low == pytest.approx(target, rel=0.01)
    assert median / interval(setting, median, "ethernet", strategy).median == pytest.approx(target, rel=0.01)


def test_an_efficiency_that_no_computation_reaches_is_infinite() -> None:
    setting = Setting(1e9, 1024, TEN_GBIT)
    item: Traffic = traffic(setting)[0]
    least, median = compute_for(setting, item, 0.999, share=SHARES["ethernet"], family="ethernet")
    assert least < inf
    assert median == inf


@pytest.mark.parametrize(
    ("gb_per_s", "family"),
    [(15.75, "pcie"), (16, "pcie"), (32, "pcie"), (64, "pcie"), (12.5, "any"), (300, "any")],
)
def test_a_bandwidth_without_a_kind_suggests_a_family(gb_per_s: float, family: str) -> None:
    assert family_of(gb_per_s * 1e9) == family


def test_shares_are_those_of_the_published_table() -> None:
    assert shares() == {family: share for family, share in SHARES.items() if family != "measured"}


def test_every_kind_has_a_share_and_a_contention() -> None:
    assert {kind.family for kind in KINDS.values()} | {"any", "measured"} == set(SHARES) == set(FITTED.contention)


def test_published_steps_are_within_the_limits() -> None:
    """The limits as they are used, on the steps they were fitted to; bench/estimates.py leaves sources out."""
    steps = read_steps()
    low, median, high = limits_s(drawn(steps, FITTED), steps.one_s, FITTED.margin)
    inside = (low <= steps.measured_s) & (steps.measured_s <= high)
    assert len(inside) >= 200
    assert len(steps.sources) >= 20
    assert inside.mean() > 0.9
    assert np.all(steps.measured_s >= LEAST * steps.one_s)
    assert np.median(high / low) < 3
    assert 0.9 < np.median(steps.measured_s / median) < 1.1


@settings(max_examples=60, deadline=None)
@given(
    parameters=st.floats(1e6, 1e11),
    ranks=st.integers(2, 1024),
    bandwidth=st.floats(1e8, 1e12),
    compute=st.floats(1e-3, 10),
    family=st.sampled_from([family for family in FAMILIES if family != "measured"]),
    known=st.booleans(),
)
def test_no_limit_of_a_step_is_below_the_least_time_of_its_communication(
    parameters: float, ranks: int, bandwidth: float, compute: float, family: str, known: bool
) -> None:
    """All-reduces by other algorithms than a ring receive each gradient once at least; gathers are rings."""
    setting = Setting(parameters, ranks, Link(20e-6, bandwidth), blocks=12, latency_assumed=not known)
    for item in traffic(setting.surely):
        ring_only = item.strategy != "ddp" or family == "pcie"
        sent = item.time_s if ring_only else setting.size / bandwidth
        assert interval(setting, compute, family, item.strategy).low >= sent * (1 - 1e-9)


def test_a_least_time_has_no_assumed_latency() -> None:
    """536 buckets on 8 ranks: 14 messages of 20 us each would be 150 ms of a least time of 54 ms."""
    setting = Setting(7e9, 8, Link(20e-6, 450e9), dtype="bf16", latency_assumed=True)
    (ddp, _, _) = traffic(setting.surely)
    assert ddp.time_s == pytest.approx(2 * 7 / 8 * 14e9 / 450e9)
    assert replace(setting, latency_assumed=False).surely.link.latency_s == 20e-6


def test_no_published_step_is_shorter_than_the_least_step() -> None:
    table = pd.read_csv(DATA / "published_steps.csv")
    for row in table.itertuples():
        link = Link(20e-6, row.bandwidth_gb_per_s * 1e9)
        setting = Setting(row.parameters, row.devices, link, dtype=row.dtype, latency_assumed=True)
        family = KINDS[row.link].family
        least = least_step_s(setting, traffic(setting)[0], row.step_one_ms / 1e3, family=family)
        assert row.step_ms / 1e3 >= least


def test_a_conformal_margin_counts_sources_and_not_steps() -> None:
    """One of twenty sources does not decide the margin, however many steps it has. One of nine does."""
    sources = np.array([f"s{number}" for number in range(19)] + ["many"] * 500)
    scores = np.array([number / 100 for number in range(19)] + [9.0] * 500)
    assert conformal(scores, sources) == pytest.approx(0.18)
    assert conformal(scores[11:], sources[11:]) == 9.0


def test_the_interval_score_charges_width_and_misses() -> None:
    scores = interval_score(np.array([0.0, 0.0, 0.0]), np.array([1.0, 1.0, 1.0]), np.array([0.5, 1.1, -0.2]))
    assert scores == pytest.approx([1.0, 3.0, 5.0])
