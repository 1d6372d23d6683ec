"""Forecasts of scales that were not measured: nominal coverage on published tables, or refused."""

from __future__ import annotations

from math import log2, nan
from pathlib import Path

import numpy as np
import pytest
from bench.forecasts import bootstrapped
from hypothesis import example, given, settings
from hypothesis import strategies as st
from published_tables import Question, questions
from scalestudy.analyse.forecast.columns import NoFitError, Place
from scalestudy.analyse.forecast.discrepancy import ACROSS_NODES as ACROSS
from scalestudy.analyse.forecast.discrepancy import IN_A_NODE as INSIDE
from scalestudy.analyse.forecast.discrepancy import Side, Sides, discrepancy, doublings_away
from scalestudy.analyse.forecast.extrapolate import Measured, forecast
from scalestudy.analyse.forecast.fit import (
    DIVIDED,
    LINEAR,
    LOGARITHMIC,
    SHARE,
    SHARED_AFTER_ONE,
    SHARED_WEIGHT,
    USL_WEAK,
    Scale,
    fit_all,
    fit_law,
)
from scalestudy.registry.codes import Refused
from scaling_series import ACROSS_NODES, EIGHTH, FARTHEST, IN_A_NODE, SEVENTH, SIXTH
from scaling_series import Question as SeriesQuestion
from scaling_series import questions as series_questions

QUESTIONS = questions()
NEW = {
    name: [one for one in series_questions(data) if one.farther <= FARTHEST and one.sizes >= 2]
    for name, data in (("seventh", SEVENTH), ("eighth", EIGHTH))
}
WITHIN = {("seventh", IN_A_NODE): 49 / 51, ("seventh", ACROSS_NODES): 1.0}
WITHIN |= {("eighth", IN_A_NODE): 36 / 38, ("eighth", ACROSS_NODES): 83 / 91}
SERIES = [question for question in series_questions() if question.farther <= FARTHEST and question.sizes >= 2]


def answer(question: Question) -> tuple[float, bool]:
    """(relative error, whether the 90 % interval includes the measured value)."""
    made = forecast(question.known, question.next.place, strong=question.strong, confidence=0.9)
    time = question.next.step_time_s
    return made.step_time_s.value / time - 1, made.step_time_s.low <= time <= made.step_time_s.high


def within(question: SeriesQuestion) -> bool | None:
    """Whether the 90 % interval includes the published value; None if the forecast is refused."""
    try:
        made = forecast(question.known, question.target.place, strong=question.strong, confidence=0.9)
    except NoFitError:
        return None
    return made.step_time_s.low <= question.target.step_time_s <= made.step_time_s.high


def coverage(questions: list[SeriesQuestion]) -> float:
    found = [within(question) for question in questions]
    return float(np.mean([one for one in found if one is not None]))


def test_published_tables_are_foretold() -> None:
    """Two smallest scales of a tier to the next: median error at most 5.5 %, nominal 90 % intervals cover 85 %.

    The median was 4.6 % before the fifth set was in the calibration, and is 5.1 % with it.
    """
    answered = [question for question in QUESTIONS if not refused_as(question)]
    answers = [answer(question) for question in answered]
    refused = {question.name: refused_as(question) for question in QUESTIONS if refused_as(question)}
    assert refused == {}
    assert np.median([abs(error) for error, _ in answers]) <= 0.055
    assert np.mean([covered for _, covered in answers]) >= 0.85


def refused_as(question: Question) -> str:
    try:
        answer(question)
    except NoFitError as error:
        return str(error.columns["refused"])
    return ""


@pytest.mark.parametrize("tier", [IN_A_NODE, ACROSS_NODES])
@pytest.mark.parametrize("name", NEW)
def test_nominal_intervals_hold_on_sources_that_set_nothing(name: str, tier: str) -> None:
    """These sets set no constant: at least 86 % of the values, and 70 % answered.

    The seventh was evaluated once before the weights of the laws were changed, with 49 of 51 and 33 of 34 values
    inside. The eighth was evaluated once, with the method as it is.
    """
    mine = [one for one in NEW[name] if one.tier == tier]
    assert coverage(mine) == pytest.approx(WITHIN[name, tier])
    assert coverage(mine) >= 0.86
    assert np.mean([within(one) is not None for one in mine]) >= 0.7


@pytest.mark.parametrize("name", NEW)
@pytest.mark.parametrize("sizes", [[2], [3], [4, 5, 6, 7]])
def test_the_coverage_holds_whatever_the_number_of_sizes(name: str, sizes: list[int]) -> None:
    """The bootstrap interval over sources begins above 75 % and does not end below 90 %.

    It need not include 90 %: from three sizes it begins above (docs/benchmarks.md).
    """
    found = [(one.source, within(one)) for one in NEW[name] if one.sizes in sizes]
    low, high = bootstrapped([(source, float(held)) for source, held in found if held is not None])
    assert low >= 0.75
    assert high >= 0.9


def test_more_sizes_do_not_make_intervals_worse() -> None:
    for sizes in (2, 3):
        assert coverage([one for one in SERIES if one.sizes == sizes]) >= 0.86
    assert coverage([one for one in SERIES if one.sizes > 3]) >= 0.86


def measured(**times: float) -> list[Measured]:
    """measured(n1g1=0.1): places and step times."""
    places = {name: tuple(int(x) for x in name[1:].split("g")) for name in times}
    return [Measured(Place(*places[name]), time) for name, time in times.items()]


def test_another_tier_is_refused() -> None:
    with pytest.raises(NoFitError, match=Refused.NETWORK_NOT_MEASURED):
        forecast(measured(n1g1=0.1, n1g4=0.11, n1g8=0.12), Place(2, 8), strong=False)


def test_two_nodes_tell_of_four() -> None:
    known = measured(n1g1=0.1, n1g8=0.12, n2g8=0.15)
    made = forecast(known, Place(4, 8), strong=False)
    assert 0.15 < made.step_time_s.value < 0.22
    assert made.speedup.value == pytest.approx(32 * 0.1 / made.step_time_s.value)


def test_too_far_is_refused() -> None:
    with pytest.raises(NoFitError, match=Refused.TOO_FAR) as refused:
        forecast(measured(n1g1=0.1, n1g2=0.11), Place(1, 16), strong=False)
    assert (refused.value.columns["refused_value"], refused.value.columns["refused_limit"]) == (8, 4)


@pytest.mark.parametrize("times", [{"n1g1": 0.1}, {"n1g2": 0.1}])
def test_one_size_is_refused(times: dict[str, float]) -> None:
    with pytest.raises(NoFitError, match=Refused.ONE_SIZE):
        forecast(measured(**times), Place(1, 4), strong=False)


@pytest.mark.parametrize("time", [0.0, -1.0, nan])
def test_no_time_is_no_measurement(time: float) -> None:
    with pytest.raises(NoFitError, match=Refused.NO_STEP_TIME):
        fit_all([Scale(1, 0.1), Scale(2, time)], strong=False)


@pytest.mark.parametrize(("two", "four"), [(5.1, 1.5), (4.8, 1.5)])
def test_models_that_are_impossible_at_a_scale_leave_no_forecast_if_they_fit_best(two: float, four: float) -> None:
    """The models with a positive step time have no weight, so their forecast would say nothing."""
    measured = [Measured(Place(1, n), ms / 1e3, 0.01) for n, ms in ((1, 10.0), (2, two), (4, four))]
    with pytest.raises(NoFitError) as refused:
        forecast(measured, Place(1, 8), strong=True)
    assert refused.value.columns["refused"] == Refused.OVERHEAD_NEGATIVE


@pytest.mark.parametrize("efficiency", [0.7, 1.0, 1.25])
def test_an_efficiency_that_stays_is_forecast_to_stay(efficiency: float) -> None:
    """An overhead that the ranks share as they share the computation: a slower clock, a halo for each rank."""
    known = [Measured(Place(1, n), 10 / n / (efficiency if n > 1 else 1), 0.01) for n in (1, 2, 4, 8)]
    found = forecast(known, Place(1, 16), strong=True)
    assert found.speedup.low < 16 * efficiency < found.speedup.high
    assert found.laws[0].fit.law is DIVIDED or efficiency == 1, "without an overhead all models are alike"


def test_a_forecast_names_only_the_models_it_consists_of() -> None:
    measured = [Measured(Place(1, n), ms / 1e3, 0.01) for n, ms in ((1, 10.0), (2, 4.85), (4, 2.3))]
    found = forecast(measured, Place(1, 16), strong=True)
    assert 1 < len(found.laws) < 5, "one is impossible there"
    assert all(item.fit.step_time_s(16) > 0 for item in found.laws)
    assert sum(item.weight for item in found.laws) == pytest.approx(1)


@pytest.mark.parametrize("strong", [False, True])
@pytest.mark.parametrize("law", [SHARE, LINEAR])
def test_the_law_that_made_the_times_is_found(law, strong: bool) -> None:
    sizes = (1, 2, 4, 8)
    times = [float(np.dot(law.row(n, strong=strong), [0.1, 0.03])) for n in sizes]
    best = fit_all([Scale(n, time, 0.005) for n, time in zip(sizes, times, strict=True)], strong=strong)[0]
    assert best.fit.law is law
    assert best.weight >= 1 - SHARED_WEIGHT
    assert best.held_out_error < 1e-6
    assert best.fit.unknowns == pytest.approx([0.1, 0.03])


def test_usl_wants_five_sizes() -> None:
    scales = [Scale(n, 0.1 * (1 + 0.05 * (n - 1) + 0.01 * n * (n - 1))) for n in (1, 2, 4, 8, 16)]
    with pytest.raises(ValueError, match="usl: needs 5 sizes, but 4 were measured"):
        fit_law(USL_WEAK, scales[:4], strong=False)
    fit = fit_law(USL_WEAK, scales, strong=False)
    assert fit.unknowns / fit.unknowns[0] == pytest.approx([1, 0.05, 0.01])


@pytest.mark.parametrize(("sizes", "shared"), [(3, SHARED_AFTER_ONE), (4, SHARED_WEIGHT), (5, SHARED_WEIGHT)])
def test_one_size_foretold_leaves_half_of_the_weight_to_all_laws(sizes: int, shared: float) -> None:
    """A law that foretells one size exactly may do so by chance."""
    scales = [Scale(2.0**power, 0.1 + 0.03 * power, 1e-4) for power in range(sizes)]
    found = fit_all(scales, strong=False)
    each = shared / len(found)
    assert found[0].fit.law is LOGARITHMIC
    assert found[0].weight == pytest.approx(1 - shared + each, abs=1e-3)
    assert [item.weight for item in found[1:]] == pytest.approx([each] * (len(found) - 1), abs=1e-3)


def test_intervals_cover_where_the_law_is_among_those_tried() -> None:
    """400 simulated tables of a law drawn at random, noise of 2 %, three sizes known.

    90 % intervals cover at least 90 %, since they also have room for what follows no law.
    """
    random = np.random.default_rng(0)
    covered = []
    for _ in range(400):
        law = (SHARE, LINEAR)[random.integers(2)]
        overhead, noise = random.uniform(0, 0.1), random.normal(0, 0.02, 4)
        times = [
            float(np.dot(law.row(n, strong=False), [1, overhead]) * np.exp(error))
            for n, error in zip((1, 2, 4, 8), noise, strict=True)
        ]
        known = [Measured(Place(1, n), time, 0.02) for n, time in zip((1, 2, 4), times, strict=False)]
        made = forecast(known, Place(1, 8), strong=False, confidence=0.9)
        covered.append(made.step_time_s.low <= times[3] <= made.step_time_s.high)
    assert np.mean(covered) >= 0.9


STEP_TIMES = st.lists(st.floats(0.9, 1.4), min_size=2, max_size=5)


def growing(ratios: list[float], *, strong: bool) -> list[Measured]:
    """Step times at 1, 2, 4 ... devices, each a ratio of the previous one (weak), or of half of it (strong)."""
    times = np.cumprod([1.0, *(ratio / (2 if strong else 1) for ratio in ratios)])
    return [Measured(Place(1, 2**power), float(time)) for power, time in enumerate(times)]


@settings(max_examples=60, deadline=None)
@given(STEP_TIMES, st.booleans(), st.integers(1, 4))
@example(
    [1.1843522993730544, 0.9691498408611877, 1.1648089398761794, 1.3352710562686272, 0.9838074293775575], False, 2
)
def test_limits_hold_the_value_and_grow_with_confidence_and_distance(
    ratios: list[float], strong: bool, farther: int
) -> None:
    known = growing(ratios, strong=strong)
    largest = known[-1].place.ranks
    widths, models = [], []
    for confidence, size in ((0.5, largest * farther), (0.9, largest * farther), (0.9, largest * 4)):
        try:
            made = forecast(known, Place(1, size), strong=strong, confidence=confidence)
        except NoFitError as error:
            assert error.columns["refused"] in (Refused.TOO_WIDE, Refused.OVERHEAD_NEGATIVE, Refused.NO_LAW_FITS)
            return
        time, speedup = made.step_time_s, made.speedup
        assert time.low <= time.value <= time.high
        assert speedup.low <= speedup.value <= speedup.high
        assert all(item.weight <= 1 - SHARED_WEIGHT / 2 for item in made.laws) or len(made.laws) == 1
        widths.append(time.high / time.low)
        models.append({item.fit.law for item in made.laws})
    assert widths[0] <= widths[1]
    # A model that is impossible farther on is left out there, and the others can be closer together.
    assert widths[1] <= widths[2] or models[1] != models[2]


@given(st.floats(1.01, 1.5), st.floats(1.0, 1.3), st.booleans())
def test_an_irregular_series_has_a_larger_discrepancy(jump: float, last: float, strong: bool) -> None:
    """The last doubling is the same: the scatter before it counts, whatever the number of sizes."""
    even = growing([last, last, last], strong=strong)
    odd = growing([last * jump, last / jump, last], strong=strong)
    sides = [
        discrepancy([Scale(one.place.ranks, one.step_time_s) for one in known], 16, Side(0.02, 1), strong=strong)
        for known in (even, odd)
    ]
    assert sides[0] < sides[1]


@given(st.floats(1.001, 1.3), st.floats(1.0, 4.0), st.floats(1.0, 4.0))
def test_the_discrepancy_grows_with_distance_and_overhead_and_not_with_the_number_of_sizes(
    ratio: float, near: float, far: float
) -> None:
    near, far = sorted((near, far))
    two = [Scale(1, 1.0), Scale(2, ratio)]
    three = [Scale(0.5, 1 / ratio), *two]
    more = [Scale(1, 1.0), Scale(2, 1.4)]

    def at(scales: list[Scale], size: float) -> float:
        return discrepancy(scales, size, Side(0.05, 1.0), strong=False)

    assert at(two, 2 * near) <= at(two, 2 * far) <= at(more, 2 * far)
    assert at(three, 2 * far) == pytest.approx(at(two, 2 * far))


def test_between_two_sizes_the_discrepancy_is_that_of_a_bridge() -> None:
    assert doublings_away([1, 4, 16], 8) == pytest.approx(0.5)
    assert doublings_away([1, 2, 8], 6) == pytest.approx(log2(3) * log2(8 / 6) / 2)
    assert [doublings_away([1, 2, 8], size) for size in (1, 2, 8)] == [0, 0, 0]
    assert doublings_away([1, 2, 8], 16) == 1


@pytest.mark.parametrize("data", [SIXTH, SEVENTH, EIGHTH])
def test_values_between_measured_sizes_are_within_the_limits(data: Path) -> None:
    """Each size of a published series but the first and the last, from all others: 90 % limits."""
    inside = []
    for question in series_questions(data):
        between = sorted([*question.known, question.target], key=lambda one: one.place.ranks)
        for place in range(1, len(between) - 1):
            known = between[:place] + between[place + 1 :]
            try:
                made = forecast(known, between[place].place, strong=question.strong).step_time_s
            except NoFitError:
                continue
            inside.append(made.low <= between[place].step_time_s <= made.high)
    assert len(inside) > 20
    assert sum(inside) >= 0.8 * len(inside)


@pytest.mark.parametrize("sides", [INSIDE, ACROSS])
def test_surprises_are_mostly_slower(sides: Sides) -> None:
    for overhead in (0.0, 0.1, 1.0):
        faster, slower = (side.share * np.hypot(side.floor, overhead) for side in (sides.faster, sides.slower))
        assert 0 < faster < slower
