"""What is said of tried advice agrees with the gain, the prediction and the accuracy that are printed beside it.

Trials are generated at the level of runs: throughput and accuracy of each run before and after the change. The
trial is scored and printed by the real code, for both goals that a verdict depends on.
"""

from __future__ import annotations

import re
from collections import Counter
from copy import deepcopy
from typing import Any

import pytest
from conftest import small_content
from exclusions import NUMBER, excluded, generated, statements
from hypothesis import example, given
from hypothesis import strategies as st
from scalestudy.analyse.point.summary import summary_frame
from scalestudy.analyse.statistics.intervals import Interval
from scalestudy.publish.numbers.verified import verified_numbers
from scalestudy.publish.views.verified import verified_view
from scalestudy.verify.model import VerificationFile, Verified
from scalestudy.verify.score import score
from tried_advice import TriedStudy, trial_of, tried_study

REPEATS = 3
EXCLUDE_EACH_OTHER = (
    (r": (CONFIRMED|PARTLY CONFIRMED|REFUTED)", r"includes 1 \(no gain\)"),
    (r": (CONFIRMED|PARTLY CONFIRMED|REFUTED)", r"has no interval"),
    (r": (CONFIRMED|PARTLY CONFIRMED|UNDECIDED)", r"upper limit of the gain( per device-hour)? is below"),
    (r": (CONFIRMED|PARTLY CONFIRMED)", r"No run completed"),
    (r": (REFUTED|UNDECIDED)", r"It is (faster|cheaper)"),
    (r": CONFIRMED", r"than predicted|less accurate|Accuracy is lower"),
    (r"nothing was predicted", r"(, as|than) predicted|half of the predicted"),
    (r"less accurate", r"Accuracy is (kept|higher)|Accuracy was not|inconclusive"),
    (r"it is faster", r"it is cheaper"),
)
NEVER = (r"\bnan\b", r"\[--", r"--\]")

level = st.floats(0.3, 3).map(lambda number: round(number, 3))
few = st.sampled_from([0.001, 0.02, 0.2])
TRIAL = st.fixed_dictionaries(
    {
        "gain": st.sampled_from([0.5, 0.9, 1.0, 1.02, 1.1, 1.5, 2.0]) | level,
        "scatter": few,
        "noise": st.lists(st.floats(-1, 1), min_size=REPEATS, max_size=REPEATS),
        "ok": st.sampled_from([0, 1, 2, 3, 3, 3]),
        "predicted": st.none() | st.sampled_from([0.7, 1.05, 1.5, 2.0]) | level,
        "sure": st.none() | st.sampled_from([0.001, 0.05, 0.4]),
        "accuracy": st.none() | st.sampled_from([-0.1, -0.01, 0.0, 0.01]),
        "to_one": st.booleans(),
    }
)


def plain(gain: float, scatter: float, predicted: float | None) -> dict[str, Any]:
    given = {"gain": gain, "scatter": scatter, "noise": [-1.0, 0.0, 1.0], "ok": 3, "predicted": predicted}
    return given | {"sure": 0.05, "accuracy": None, "to_one": False}


def scored(base: TriedStudy, drawn: dict[str, Any]) -> Verified:
    """The result of the drawn trial."""
    runs = base.runs.copy()
    after = runs["variant"] == "ddp-after"
    noise = runs["repeat"].map({n: 1 + drawn["scatter"] * one for n, one in enumerate(drawn["noise"], start=1)})
    factor = (drawn["gain"] * noise).where(after, 1.0)
    if drawn["to_one"]:  # the point after the change is the baseline, four times as fast as that before it
        factor = (4 / drawn["gain"] / noise).where(runs["variant"] == "ddp", 1.0)
    runs["throughput_samples_per_s"] *= factor
    runs["step_time_s"] /= factor
    runs["validation_accuracy"] = float("nan")
    if drawn["accuracy"] is not None:
        runs["validation_accuracy"] = 0.8 + 0.001 * runs["repeat"] + after * drawn["accuracy"]
    runs.loc[after & (runs["repeat"] > drawn["ok"]), "outcome"] = "oom"
    predicted = drawn["predicted"]
    if predicted is not None:
        sure = drawn["sure"]
        predicted = (
            Interval(predicted)
            if sure is None
            else Interval(predicted, predicted / (1 + sure), predicted * (1 + sure))
        )
    place = {"variant": "single", "nodes": 1, "devices_per_node": 1} if drawn["to_one"] else {}
    return score(trial_of(predicted, **place), base.plan, summary_frame(base.plan, runs), runs, base.epochs)


def said_of(one: Verified, base: TriedStudy) -> str:
    file = VerificationFile(
        study="small",
        verified=(one,),
        left_out=(),
        runs={run: {"outcome": "ok"} for run in (*one.before.runs, *one.after.runs)},
    )
    view = verified_view(file, base.plan.study, dict(verified_numbers(file)))
    return " ".join(view["tried"][0]["lines"].split())


def contradictions(said: str, devices: float) -> list[str]:
    """Statements that exclude each other, or that the printed gain excludes.

    devices: devices before over devices after if the gain is in device-time, else 1.
    """
    found = excluded(said, EXCLUDE_EACH_OTHER, NEVER)
    if gain := re.search(rf"It gave {NUMBER} times", said):
        value, low, high = (float(number) * devices for number in gain.groups())
        if not low <= value <= high:
            found.append("a gain outside of its limits")
        if re.search(r": (CONFIRMED|PARTLY)", said) and low < 1:
            found.append("confirmed, and the interval includes no gain")
        if "includes 1 (no gain)" in said and not low <= 1 <= high:
            found.append("undecided, and the interval excludes 1")
        if "below 1 (no gain)" in said and high > 1:
            found.append("refuted as no gain, and the interval includes 1")
        if predicted := re.search(rf"times the throughput; {NUMBER} was predicted", said):
            told, least, most = (float(number) * devices for number in predicted.groups())
            if "is faster, as predicted" in said.replace("cheaper", "faster") and (high < least or low > most):
                found.append("as predicted, and the intervals are apart")
            if ("less than predicted" in said and value > told) or (
                "more than predicted" in said and value < told
            ):
                found.append("more and less than predicted")
            if "half of the predicted gain" in said and high > 1 + (told - 1) / 2:
                found.append("below half of the prediction, and its limit is above")
    elif re.search(r": (CONFIRMED|PARTLY)", said):
        found.append("confirmed without a gain")
    return found


@pytest.mark.slow
@pytest.mark.parametrize("goal", ["throughput", "cost_per_sample"])
def test_no_trial_contradicts_itself(goal: str) -> None:
    base = tried_study(deepcopy(small_content(report={"goal": goal})), gain=1.0)
    seen: Counter[str] = Counter()

    @example(plain(2.0, 0.02, 2.0))
    @example(plain(1.0, 0.2, None))
    @example(plain(0.5, 0.2, 0.5) | {"to_one": True})
    @example(plain(1.5, 0.02, 1.5) | {"ok": 1})
    @example(plain(1.5, 0.02, 1.5) | {"ok": 0})
    @generated(40)
    @given(TRIAL)
    def check(drawn: dict[str, Any]) -> None:
        tried = scored(base, drawn)
        said = said_of(tried, base)
        of_devices = goal == "cost_per_sample"
        devices = tried.before.world_size / tried.after.world_size if of_devices else 1.0
        assert contradictions(said, devices) == [], said
        if of_devices and "of the gain" in said:
            assert "gain per device-hour" in said, said
        seen.update(statements(said, EXCLUDE_EACH_OTHER))

    check()
    common = [r"includes 1 \(no gain\)", r"upper limit of the gain", r"has no interval", r"No run completed"]
    assert [one for one in common if not any(one in key for key in seen)] == []
