"""Comparison of studies: which points are the same in both, and what their ratios show."""

from __future__ import annotations

from copy import deepcopy
from math import exp, log
from typing import Any

import numpy as np
import pandas as pd
import pytest
from builders import study_of
from scalestudy.analyse.point.summary import summary_frame
from scalestudy.analyse.statistics.intervals import Interval, less, ratio_on_logs, shows
from scalestudy.analyse.study.compare import Comparison, Source, compare_studies
from scalestudy.analyse.study.environment import StudyEnvironment
from scalestudy.analyse.study.questions import environment_differences, setting_differences
from scalestudy.compare.points import points_of
from scalestudy.compare.sentences import remarks
from scalestudy.registry.codes import AccuracyKept, NotCompared, Shows
from scalestudy.study.config.load import parse_study
from scalestudy.study.plan import make_plan
from scipy import stats

OLD = {
    ("mlp", 1, 32): [0.0100, 0.0103, 0.0101],
    ("mlp", 1, 16): [0.0060, 0.0062, 0.0061],
    ("mlp", 2, 16): [0.0079, 0.0085, 0.0081],
    ("mlp", 2, 32): [0.0131, 0.0139, 0.0134],
}
NEW = OLD | {("mlp", 2, 16): [0.0061, 0.0063, 0.0066]}


@pytest.fixture
def content(content: dict[str, Any]) -> dict[str, Any]:
    return content | {"repeats": 3}


def changed(content: dict[str, Any], path: str, value: Any) -> dict[str, Any]:
    """The study with another value at a dotted key."""
    copy = deepcopy(content)
    *parts, last = path.split(".")
    inside = copy
    for part in parts:
        inside = inside.setdefault(part, {})
    inside[last] = value
    return copy


def source(letter: str, content: dict[str, Any], times: dict[Any, Any] | None = None, **options: Any) -> Source:
    plan = make_plan(parse_study(content, source="x"))
    keys = {(spec.workload, spec.world_size, spec.batch_per_rank) for spec in plan.runs.values()}
    given = {key: (times or OLD).get(key, [0.01] * plan.study.repeats) for key in keys}
    runs = study_of(plan, given, **options)
    return Source(letter, letter, "", plan, summary_frame(plan, runs), runs, StudyEnvironment(facts={}))


def row(comparison: Comparison, letter: str = "B", **where: Any) -> pd.Series:
    points = comparison.points[comparison.points["study"] == letter]
    for name, value in where.items():
        points = points[points[name] == value]
    assert len(points) == 1
    return points.iloc[0]


def test_a_ratio_is_welchs_on_logarithms(content: dict[str, Any]) -> None:
    """Against scipy, and the value by hand: exp of the difference of mean logarithms."""
    found = row(compare_studies([source("A", content), source("B", content, NEW)]), scaling="strong")
    old, new = np.log(OLD["mlp", 2, 16]), np.log(NEW["mlp", 2, 16])
    assert found["throughput_ratio"] == pytest.approx(exp(old.mean() - new.mean()))
    theirs = stats.ttest_ind(old, new, equal_var=False).confidence_interval(0.95)
    assert found["throughput_ratio_low"] == pytest.approx(exp(theirs.low))
    assert found["throughput_ratio_high"] == pytest.approx(exp(theirs.high))
    assert found["throughput_shows"] == Shows.FASTER
    same = row(compare_studies([source("A", content), source("B", content, NEW)]), scaling="weak")
    assert (same["throughput_ratio"], same["throughput_shows"]) == (pytest.approx(1), Shows.NO_DIFFERENCE)


def test_the_other_way_round_it_is_the_inverse(content: dict[str, Any]) -> None:
    forth = row(compare_studies([source("A", content), source("B", content, NEW)]), scaling="strong")
    back = row(compare_studies([source("A", content, NEW), source("B", content)]), scaling="strong")
    assert back["throughput_ratio"] == pytest.approx(1 / forth["throughput_ratio"])
    assert back["throughput_ratio_low"] == pytest.approx(1 / forth["throughput_ratio_high"])
    assert back["throughput_shows"] == Shows.SLOWER


def test_ratios_of_studies_cover_at_their_level(content: dict[str, Any]) -> None:
    """60 pairs of studies with 4 points that scatter by 2 and 4 %: nominal coverage of 95 % intervals.

    The share of 240 has a standard error of 1.4 %.
    """
    first, other = source("A", content), source("B", content)
    random = np.random.default_rng(5)
    found = []
    for _ in range(60):
        for one, truth, scatter in ((first, 100.0, 0.02), (other, 110.0, 0.04)):
            noise = random.normal(0, scatter, len(one.runs))
            one.runs["throughput_samples_per_s"] = truth * np.exp(noise)
        found.append(compare_studies([first, other]).compared)
    ratios = pd.concat(found)
    assert len(ratios) == 240
    held = (ratios["throughput_ratio_low"] <= 1.1) & (ratios["throughput_ratio_high"] >= 1.1)
    assert 0.91 <= held.mean() <= 0.99
    shown_apart = (ratios["throughput_shows"] == Shows.FASTER).mean()
    assert 0.3 < shown_apart < 0.9, "the scatter hides some of them, so the intervals are put to a test"


def test_a_difference_of_efficiencies_covers_at_its_level() -> None:
    """2 000 pairs of efficiencies of 3 runs over 3: at least 95 %, and not by being endless."""
    random = np.random.default_rng(3)
    held, widths, pairs = 0, [], 2000
    for _ in range(pairs):
        efficiencies = [
            ratio_on_logs(
                np.exp(random.normal(log(truth), 0.02, 3)), np.exp(random.normal(0, 0.01, 3)), confidence=0.95
            )
            for truth in (0.9, 0.7)
        ]
        difference = less(*efficiencies)
        held += difference.low <= 0.2 <= difference.high
        widths.append(difference.high - difference.low)
    assert 0.94 <= held / pairs <= 0.985
    assert np.median(widths) < 0.2


def test_less_of_symmetric_intervals_adds_half_widths_in_quadrature() -> None:
    found = less(Interval(5.0, 2.0, 8.0), Interval(1.0, -3.0, 5.0))
    assert (found.value, found.low, found.high) == pytest.approx((4.0, -1.0, 9.0))
    skewed = less(Interval(5.0, 4.0, 8.0), Interval(1.0, 1.0, 1.0))
    assert (skewed.low, skewed.high) == pytest.approx((3.0, 7.0))
    assert np.isnan(less(Interval(1.0), Interval(1.0, 0.9, 1.1)).low)


@pytest.mark.parametrize(
    ("interval", "shown"),
    [
        (Interval(1.1, 1.01, 1.2), Shows.FASTER),
        (Interval(0.9, 0.8, 0.99), Shows.SLOWER),
        (Interval(1.1, 0.99, 1.2), Shows.NO_DIFFERENCE),
        (Interval(1.0, 1.0, 1.0), Shows.NO_DIFFERENCE),
        (Interval(1.1), Shows.NO_INTERVAL),
        (Interval(float("nan")), Shows.NONE),
    ],
)
def test_what_an_interval_shows(interval: Interval, shown: Shows) -> None:
    assert shows(interval, than=1, below=Shows.SLOWER, above=Shows.FASTER) == shown


def test_efficiencies_are_those_of_the_summaries(content: dict[str, Any]) -> None:
    first, other = source("A", content), source("B", content, NEW)
    found = row(compare_studies([first, other]), scaling="strong")
    of_summary = [
        one.summary[(one.summary["variant"] == "ddp") & (one.summary["scaling"] == "strong")].iloc[0]
        for one in (first, other)
    ]
    assert found["efficiency"] == of_summary[1]["efficiency"]
    assert found["efficiency_difference"] == pytest.approx(
        of_summary[1]["efficiency"] - of_summary[0]["efficiency"]
    )
    assert found["efficiency_shows"] == Shows.HIGHER
    base = row(compare_studies([first, other]), is_base=True)
    assert (base["efficiency_shows"], np.isnan(base["efficiency_difference"])) == (Shows.NONE, True)


def test_what_one_study_lacks_is_there_and_says_so(content: dict[str, Any]) -> None:
    """Also as many ranks on other nodes are another point, and a baseline is one whatever is scaled from it."""
    more = changed(content, "scales", ["1x2", "2x1"])
    strong = changed(content, "workloads.mlp.scaling", ["strong"])
    found = compare_studies([source("A", strong), source("B", more)]).points
    why = {
        (point["study"], point["variant"], point["scaling"], point["nodes"], point["batch_per_rank"]): point[
            "not_compared"
        ]
        for _, point in found.iterrows()
    }
    assert why == {
        ("A", "single", "none", 1, 32): NotCompared.NONE,
        ("B", "single", "none", 1, 32): NotCompared.NONE,
        ("A", "single", "none", 1, 16): NotCompared.NONE,
        ("B", "single", "none", 1, 16): NotCompared.NONE,
        ("A", "ddp", "strong", 1, 16): NotCompared.NONE,
        ("B", "ddp", "strong", 1, 16): NotCompared.NONE,
        ("B", "ddp", "strong", 2, 16): NotCompared.NOT_IN_FIRST,
        ("B", "ddp", "weak", 1, 32): NotCompared.NOT_IN_FIRST,
        ("B", "ddp", "weak", 2, 32): NotCompared.NOT_IN_FIRST,
    }
    assert found[found["batch_per_rank"] == 16].groupby("variant")["is_reference"].all().to_dict() == {
        "ddp": False,
        "single": True,
    }


def test_another_batch_is_another_point(content: dict[str, Any]) -> None:
    larger = changed(content, "workloads.mlp.batch_size", 64)
    found = compare_studies([source("A", content), source("B", larger)])
    compared = found.compared[["variant", "batch_per_rank"]].to_numpy().tolist()
    assert compared == [["single", 32]], "one process at 32: here the base case, there what strong scaling needs"


@pytest.mark.parametrize(
    ("key", "value", "named", "variants"),
    [
        ("workloads.mlp.model.hidden_dim", 32, "workloads.mlp.model.hidden_dim", {"single", "ddp"}),
        ("workloads.mlp.optimizer.learning_rate", 0.1, "workloads.mlp.optimizer.learning_rate", {"single", "ddp"}),
        ("workloads.mlp.epochs", 3, "workloads.mlp.epochs", {"single", "ddp"}),
        (
            "workloads.mlp.data.validation_fraction",
            0.3,
            "workloads.mlp.data.validation_fraction",
            {"single", "ddp"},
        ),
        ("variants.ddp.precision", "bf16", "variants.ddp.precision", {"ddp"}),
        ("variants.ddp.accumulation_steps", 2, "variants.ddp.accumulation_steps", {"ddp"}),
        ("variants.ddp.ddp.bucket_cap_mb", 1, "variants.ddp.ddp.bucket_cap_mb", {"ddp"}),
        ("variants.single.precision", "bf16", "variants.single.precision", {"single", "ddp"}),
    ],
)
def test_what_is_not_the_same_question_is_refused_with_its_key(
    content: dict[str, Any], key: str, value: Any, named: str, variants: set[str]
) -> None:
    """If a baseline differs, the points relative to it are not compared either."""
    found = compare_studies([source("A", content), source("B", changed(content, key, value))])
    assert {refusal.variant for refusal in found.refusals} == variants
    assert {key for refusal in found.refusals for key in refusal.keys} == {named}
    theirs = found.points[found.points["study"] == "B"]
    refused = theirs[theirs["variant"].isin(variants)]
    assert set(refused["not_compared"]) == {NotCompared.OTHER_QUESTION}
    assert refused["throughput_ratio"].isna().all()
    assert set(found.compared["variant"]) == {"single", "ddp"} - variants


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("host.cores_per_rank", 2),
        ("host.environment", {"NCCL_ALGO": "Ring"}),
        ("measure.min_steps", 60),
        ("seed", 11),
        ("time_limit_min", 7.5),
        ("report.accuracy_margin", 0.02),
        ("variants.ddp.environment", {"NCCL_P2P_DISABLE": "1"}),
    ],
)
def test_conditions_are_no_part_of_the_question_and_are_told(
    content: dict[str, Any], key: str, value: Any
) -> None:
    first, other = source("A", content), source("B", changed(content, key, value))
    assert compare_studies([first, other]).refusals == ()
    ((found, values),) = setting_differences([first.plan, other.plan]).items()
    assert found.startswith(key)
    assert str(values[1]) in str(value)


def test_where_data_lie_is_a_condition_and_their_checksum_is_not(content: dict[str, Any]) -> None:
    text = {"type": "text-file", "path": "/here/book.txt", "sha256": "a" * 64}
    content["workloads"]["mlp"] |= {"data": text, "model": {"type": "language-model"}, "epochs": 0}
    moved = changed(content, "workloads.mlp.data.path", "/there/book.txt")
    first, other = source("A", content), source("B", moved)
    assert compare_studies([first, other]).refusals == ()
    (values,) = setting_differences([first.plan, other.plan]).values()
    assert values == ("/here/book.txt", "/there/book.txt")
    edited = source("B", changed(moved, "workloads.mlp.data.sha256", "b" * 64))
    keys = {key for refusal in compare_studies([first, edited]).refusals for key in refusal.keys}
    assert keys == {"workloads.mlp.data.sha256"}


def test_a_model_that_was_built_with_other_parameters_is_refused(content: dict[str, Any]) -> None:
    other = source("B", content)
    other.summary["parameters"] = 1001
    found = compare_studies([source("A", content), other])
    assert list(found.refusals[0].keys.values()) == [(1000, 1001)]


def test_failures_are_counted_and_have_no_ratio(content: dict[str, Any]) -> None:
    failing = OLD | {("mlp", 2, 16): ["oom"] * 3, ("mlp", 2, 32): [0.0131, "timeout", "timeout"]}
    found = compare_studies([source("A", content), source("B", content, failing)])
    strong, weak = row(found, scaling="strong"), row(found, scaling="weak")
    assert (strong["launches_oom"], strong["throughput_shows"]) == (3, Shows.NONE)
    assert np.isnan(strong["throughput_ratio"])
    assert strong["not_compared"] == NotCompared.NONE
    assert (weak["launches_ok"], weak["launches_timeout"]) == (1, 2)
    assert weak["throughput_shows"] == Shows.NO_INTERVAL
    assert weak["throughput_ratio"] > 0


def test_accuracies_are_compared_by_seed(content: dict[str, Any]) -> None:
    first = source("A", content, accuracy=0.90)
    found = row(compare_studies([first, source("B", content, accuracy=0.905)]), scaling="strong")
    assert (found["pairs"], found["accuracy_shows"]) == (3, AccuracyKept.EQUIVALENT)
    assert found["accuracy_difference"] == pytest.approx(0.005)
    found = row(compare_studies([first, source("B", content, accuracy=0.85)]), scaling="strong")
    assert found["accuracy_shows"] == AccuracyKept.LOWER
    shifted = row(compare_studies([first, source("B", changed(content, "seed", 8))]), scaling="strong")
    assert shifted["pairs"] == 2, "seeds 8 to 10 beside 9 to 11"
    apart = row(compare_studies([first, source("B", changed(content, "seed", 100))]), scaling="strong")
    assert (apart["pairs"], apart["accuracy_shows"]) == (0, AccuracyKept.NONE)


def test_launches_that_are_in_both_studies_are_no_two_samples(content: dict[str, Any]) -> None:
    first, other = source("A", content), source("B", content, NEW)
    for one, mark in ((first, "a"), (other, "b")):
        one.runs["record_sha256"] = [f"{mark}{index}" for index in range(len(one.runs))]
    kept = first.runs["variant"] == "single"
    other.runs.loc[kept, ["record_sha256", "step_time_s"]] = first.runs.loc[kept, ["record_sha256", "step_time_s"]]
    found = compare_studies([first, other])
    assert row(found, is_base=True)["not_compared"] == NotCompared.SAME_LAUNCHES
    assert set(found.compared["variant"]) == {"ddp"}


def test_three_studies_are_held_against_the_first(content: dict[str, Any]) -> None:
    weak = changed(content, "workloads.mlp.scaling", ["weak"])
    found = compare_studies([source("A", content), source("B", content, NEW), source("C", weak, NEW)])
    assert row(found, "C", scaling="weak")["throughput_ratio"] == pytest.approx(1)
    mine = found.points[found.points["scaling"] == "strong"]
    assert mine["study"].tolist() == ["A", "B"]
    assert mine["not_compared"].tolist() == [NotCompared.NONE] * 2


CLOCK = "hardware cpu current clock mhz"


def test_environments_differ_by_what_they_hold_and_not_by_its_order() -> None:
    first = {"host": ("a", "b"), "cpu": ("X",), CLOCK: (1,)}
    other = {"host": ("b", "a"), "cpu": ("Y",), CLOCK: (2,), "backend": ("nccl",)}
    differing = environment_differences(
        [StudyEnvironment(facts=facts, readings=(CLOCK,)) for facts in (first, other)]
    )
    assert differing == [{"cpu": ["X"]}, {"cpu": ["Y"], "backend": ["nccl"]}]


def scattering(letter: str, content: dict[str, Any], times: Any, twins: list[float]) -> Source:
    """A study whose baseline was launched twice; twins: step times of the second runs over the first."""
    plain = source(letter, changed(content, "measure.floor", True), times)
    again = plain.runs["variant"] == "single-again"
    plain.runs.loc[again, "step_time_s"] *= [twins[repeat - 1] for repeat in plain.runs.loc[again, "repeat"]]
    return plain


def test_the_smallest_difference_is_the_larger_one_of_both_studies(content: dict[str, Any]) -> None:
    calm, wild = [1.001, 0.999, 1.002], [1.2, 0.8, 1.1]
    first, other = scattering("A", content, OLD, calm), scattering("B", content, NEW, wild)
    found = row(compare_studies([first, other]), scaling="strong")
    (mine, theirs) = (float(one.floors["smallest_difference"].iloc[0]) for one in (first, other))
    assert found["smallest_difference"] == theirs > found["throughput_ratio"] - 1 > mine
    back = row(compare_studies([scattering("A", content, NEW, wild), source("B", content)]), scaling="strong")
    assert back["smallest_difference"] == theirs, "known of one of them"
    assert np.isnan(
        row(compare_studies([source("A", content), source("B", content)]), scaling="strong")["smallest_difference"]
    )


@pytest.mark.parametrize(("twins", "said"), [([1.2, 0.8, 1.1], True), ([1.001, 0.999, 1.002], False)])
def test_what_is_faster_by_less_than_the_smallest_difference_is_said_to_be(
    content: dict[str, Any], twins: list[float], said: bool
) -> None:
    sources = [scattering("A", content, OLD, twins), source("B", content, NEW)]
    comparison = compare_studies(sources)
    smallest = f"{100 * row(comparison, scaling='strong')['smallest_difference']:.3g} %"
    sentence = f"this is less than {smallest}, the smallest difference that is detected in 4 of 5 studies"
    strong = next(rows for rows in points_of(comparison) if rows["B"]["scaling"] == "strong")
    told = list(remarks(strong["A"], strong["B"], margin="1 point"))
    assert any(sentence in text for text in told) == said
    assert "B: faster than A." in told
