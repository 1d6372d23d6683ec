"""Words for columns and codes that only documents use."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

import pandas as pd
import pytest
from scalestudy.analyse.point.efficiency_tree import efficiency_tree
from scalestudy.compare import words as comparison
from scalestudy.publish.numbers.keys import law_key
from scalestudy.publish.numbers.ledger import law_percents
from scalestudy.publish.views.forecasts import laws, measured
from scalestudy.publish.words import verified
from scalestudy.publish.words.points import ACCURACY, FACTORS, VERDICTS, methods, stopped
from scalestudy.registry.codes import AccuracyKept, Methods, Shows, Stopped, Verdict
from scalestudy.tune import words as tuned

FORECAST = {"workload": "mlp", "variant": "ddp", "scaling": "strong", "world_size": 4, "nodes": 1}
WEIGHTS = {"law_share_weight": 0.104, "law_linear_weight": 0.892, "law_constant_weight": 0.004}
LAWS = ("constant", "divided", "share", "logarithmic", "linear", "usl")
NAN = {f"law_{law}_weight": float("nan") for law in LAWS}


@pytest.mark.parametrize(
    ("words", "codes"),
    [
        (VERDICTS, set(Verdict)),
        (ACCURACY, set(AccuracyKept) - {AccuracyKept.NONE}),
        (comparison.COUNTED, {"none", "no_interval", "no_difference", "faster", "slower"}),
        (comparison.SPEED, {"no_interval", "no_difference", "faster", "slower"}),
        (comparison.EFFICIENCY, {"no_interval", "no_difference", "higher", "lower"}),
        (comparison.ACCURACY, set(AccuracyKept) - {AccuracyKept.NONE}),
        (comparison.ACCURACY_CELL, set(AccuracyKept)),
        (comparison.NOT_COMPARED, {"other_question", "other_protocol", "same_launches"}),
    ],
)
def test_every_code_that_is_told_has_words(words: dict[StrEnum, Any], codes: set[str]) -> None:
    assert set(words) == codes


@pytest.mark.parametrize(
    "words", [ACCURACY, comparison.ACCURACY, comparison.ACCURACY_CELL, verified.KEPT, tuned._KEPT]
)
def test_accuracy_is_called_kept_or_equivalent_only_where_the_test_shows_that(words: dict[StrEnum, str]) -> None:
    """ "Not shown to be kept" does not claim that accuracy was kept."""
    claims = {code for code, said in words.items() if "not " not in said and ("kept" in said or "equiv" in said)}
    assert claims == {AccuracyKept.EQUIVALENT}


def test_every_code_of_a_comparison_is_told() -> None:
    assert set(comparison.SPEED) | set(comparison.EFFICIENCY) | {Shows.NONE} == set(Shows)


@pytest.mark.parametrize(
    ("code", "said"),
    [
        (
            Stopped.TARGET_REACHED,
            "target reached: step time known to within 0.8 % after 3 runs (target 1.0 %)",
        ),
        (
            Stopped.BUDGET_ENDED,
            "stopped at the limit of repeats: step time known to within 0.8 % after 3 runs (target 1.0 %)",
        ),
        (Stopped.ONE_LAUNCH, "one run: no interval"),
        (Stopped.NONE, ""),
    ],
)
def test_why_there_are_as_many_launches(code: Stopped, said: str) -> None:
    row = {"stopped_because": code, "half_width": 0.008, "half_width_target": 0.01, "launches_ok": 3}
    assert stopped(row).startswith(said)
    assert bool(stopped(row)) == bool(said)


@pytest.mark.parametrize("code", Methods)
def test_methods_that_disagree_say_by_how_much(code: Methods) -> None:
    row = {"methods": code, "remainder_s": 1.2e-3, "remainder_s_low": 0.9e-3, "remainder_s_high": 1.5e-3}
    row |= {"hook_difference_s": 0.1e-3, "hook_difference_s_low": -0.1e-3, "hook_difference_s_high": 0.3e-3}
    row |= {"differential_s": 2e-3, "differential_s_low": 1e-3, "differential_s_high": 3e-3}
    row |= {"hook_cost_s": 0.0, "hook_cost_s_low": -1e-3, "hook_cost_s_high": 1e-3}
    said = methods(row)
    assert bool(said) == (code != Methods.NONE)
    if code == Methods.DISAGREE:
        assert said == "disagree: differential and exposed span + interference differ by 1.2 ms [0.9, 1.5]"
        negative = {"hook_cost_s": -6e-3, "hook_cost_s_low": -8e-3, "hook_cost_s_high": -4e-3}
        assert methods(row | negative).endswith(
            "the overhead of the bucket timestamps is negative, -6 ms [-8, -4], which a cost cannot be"
        )


def test_methods_whose_difference_is_not_resolved_do_not_agree() -> None:
    row = {"methods": Methods.AGREE, "unresolved": '{"remainder_s": 12}'}
    assert methods(row) == "not compared: their intervals are too wide to show whether they agree"
    assert methods(row | {"unresolved": "{}"}) == "agree within their intervals"


def test_laws_are_told_by_weight_and_each_weight_has_its_key() -> None:
    row = FORECAST | NAN | WEIGHTS | {"forecast_of": "scale", "overhead_model": "laws"}
    assert laws(row) == "linear 89 %, 1-1/n 10 %"
    assert law_percents(row) == {"linear": 89, "share": 10}
    assert [piece.key for piece in laws(row).pieces if piece.key] == [
        law_key(row, law) for law in ("linear", "share")
    ]


@pytest.mark.parametrize(
    ("model", "said"),
    [
        (
            "laws_alike",
            "two sizes cannot distinguish between linear, 1-1/n and constant growth; the interval covers all of"
            " these",
        ),
        ("as_measured", "step time linear in the batch, overhead as measured"),
        ("bucket_pipeline", "step time linear in the batch, overhead from the model of the bucket pipeline"),
        ("none", ""),
    ],
)
def test_other_models_of_the_overhead_have_no_weights(model: str, said: str) -> None:
    row = FORECAST | NAN | WEIGHTS | {"overhead_model": model}
    assert (laws(row), law_percents(row)) == (said, {})


def test_what_a_forecast_rests_on() -> None:
    assert measured({"forecast_of": "scale", "from_scales": '["1x1", "1x2"]'}) == "1x1, 1x2"
    assert measured({"forecast_of": "batch", "from_batches": "[8, 16]"}) == "one process at batch 8, 16"


def test_every_factor_has_a_meaning() -> None:
    times = {"efficiency": 0.5, "step_time_s": 0.01, "step_time_alone_s": 0.008, "differential_s": 0.001}
    times |= {"interference_s": 0.0002, "wait_time_s": 0.0003}
    limits = {f"{name}{end}": value for name, value in times.items() for end in ("", "_low", "_high")}
    tree = efficiency_tree(pd.Series({"scaling": "strong"} | limits))
    assert [factor.name for factor in tree] == list(FACTORS)
