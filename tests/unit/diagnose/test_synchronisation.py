"""The probes measure synchronisation directly. Where they exclude it, it is not blamed for an overhead."""

from __future__ import annotations

from math import nan
from typing import Any

import pytest
from scalestudy.diagnose.findings import Diagnosis
from scalestudy.registry.codes import Methods
from test_causes import SLOW, causes, diagnose

STEP_S = 0.0040  # of two ranks; the overhead is 3.4 ms
CAUSE = "comm-bound"


def of_probes(
    content: dict[str, Any], low: float, value: float, high: float, methods: Methods = Methods.AGREE
) -> Diagnosis:
    """The diagnosis of a point whose synchronisation takes these shares of its step."""
    ends = {"": value, "_low": low, "_high": high}
    probed = {f"differential_s{end}": share * STEP_S for end, share in ends.items()}
    return diagnose(content, SLOW, probed | {"methods": methods, "data_time_s": nan})


def said(found: Diagnosis) -> str:
    return next(one.explanation for one in found.findings if one.cause == CAUSE)


@pytest.mark.parametrize("shares", [(0.0, 0.001, 0.002), (-0.02, 0.01, 0.04), (0.03, 0.04, 0.05)])
def test_what_the_probes_exclude_is_no_cause(content: dict[str, Any], shares: tuple[float, float, float]) -> None:
    found = of_probes(content, *shares)
    assert CAUSE not in [one.cause for one in found.named]
    (finding,) = found.findings
    assert finding.cause == "unexplained"
    assert "too little synchronisation to explain the overhead" in finding.explanation
    evidence = {one.id: one for one in finding.evidence}
    assert evidence["overhead_share"].value > 80
    assert evidence["synchronisation_share"].value == pytest.approx(100 * shares[1], rel=0.01)
    assert evidence["synchronisation_share"].high < 10
    advice = [one.id for one in finding.recommendations]
    assert "larger_batch" not in advice, "contention grows with the batch"
    assert advice[0] == "less_contention"
    assert "one_process" in advice, "it was measured to be faster, whatever the cause"


@pytest.mark.parametrize("shares", [(0.15, 0.2, 0.25), (0.75, 0.8, 0.85)])
def test_what_the_probes_measure_is_a_cause_without_doubt(
    content: dict[str, Any], shares: tuple[float, float, float]
) -> None:
    found = of_probes(content, *shares)
    assert causes(found) == [CAUSE]
    assert said(found).endswith("plus the overhead of the wrapper.")
    assert not found.weights


def test_a_measured_cost_short_of_the_threshold_is_only_possible(content: dict[str, Any]) -> None:
    found = of_probes(content, 0.005, 0.07, 0.135)
    assert causes(found) == ["unexplained"]
    assert [one.cause for one in found.also_possible] == [CAUSE]
    assert 0.05 < found.weights[CAUSE] < 0.5


@pytest.mark.parametrize(
    ("shares", "methods", "why"),
    [
        ((-0.5, 0.02, 0.54), Methods.AGREE, "do not resolve whether synchronisation takes 10 % of the step"),
        ((nan, 0.02, nan), Methods.NOT_COMPARED_ONE_ROUND, "do not resolve"),
        ((0.01, 0.02, 0.03), Methods.DISAGREE, "methods of measuring communication disagree"),
        ((-0.06, -0.05, -0.04), Methods.DISAGREE, "methods of measuring communication disagree"),
        ((0.01, 0.02, 0.03), Methods.NOT_COMPARED_FSDP, "the reduce-scatter and no all-gather"),
    ],
)
def test_probes_that_do_not_count_leave_the_overhead_and_it_is_said(
    content: dict[str, Any], shares: tuple[float, float, float], methods: Methods, why: str
) -> None:
    found = of_probes(content, *shares, methods=methods)
    assert causes(found) == [CAUSE]
    assert why in said(found)
    assert said(found).endswith("this cause rests on the overhead alone.")
