"""What came of advice: verdicts from the gain, its prediction and the accuracy; numbers of the trial alone."""

from __future__ import annotations

from math import isnan, nan
from typing import Any

import pandas as pd
import pytest
from scalestudy.analyse.point.summary import summary_frame
from scalestudy.analyse.statistics.intervals import NOTHING, Interval
from scalestudy.publish.views.verified import verification_lines
from scalestudy.registry.codes import AccuracyKept, Goal
from scalestudy.registry.files import FILES
from scalestudy.verify.frame import verification_frame
from scalestudy.verify.model import VerificationFile
from scalestudy.verify.score import judge, score
from tried_advice import trial_of, tried_study

RAN = pd.Series({"launches_ok": 3})


@pytest.mark.parametrize(
    ("predicted", "gain", "kept", "verdict"),
    [
        (Interval(1.5, 1.4, 1.6), Interval(1.45, 1.3, 1.6), "none", "confirmed"),
        (Interval(1.5), Interval(1.45, 1.3, 1.6), "none", "confirmed"),
        (
            Interval(1.24, 1.205, 1.277),
            Interval(1.199, 1.162, 1.238),
            "none",
            "confirmed",
        ),  # neither holds the other
        (Interval(1.5, 1.4, 1.6), Interval(1.3, 1.26, 1.34), "none", "partly"),
        (Interval(1.5, 1.4, 1.6), Interval(1.9, 1.8, 2.0), "none", "partly"),
        (Interval(1.5, 1.4, 1.6), Interval(1.1, 1.0, 1.2), "none", "refuted"),
        (Interval(1.5, 1.05, 2.1), Interval(1.1, 1.05, 1.15), "none", "confirmed"),  # a wide prediction allows it
        (Interval(1.5, 1.05, 2.1), Interval(1.02, 0.99, 1.05), "none", "refuted"),
        (Interval(1.5, 1.4, 1.6), Interval(0.7, 0.6, 0.8), "none", "refuted"),
        (Interval(1.5, 1.4, 1.6), Interval(1.2, 0.9, 1.6), "none", "undecided"),
        (Interval(1.5, 1.4, 1.6), Interval(1.5), "none", "undecided"),
        (Interval(1.5, 1.4, 1.6), NOTHING, "none", "undecided"),
        (Interval(1.5, 1.4, 1.6), Interval(1.45, 1.3, 1.6), "lower", "partly"),
        (Interval(1.5, 1.4, 1.6), Interval(1.45, 1.3, 1.6), "not_shown", "confirmed"),
        (Interval(0.5, 0.45, 0.55), Interval(0.5, 0.3, 0.8), "none", "refuted"),  # slower, as was predicted
        (None, Interval(1.2, 1.1, 1.3), "none", "confirmed"),
        (None, Interval(0.9, 0.8, 0.99), "none", "refuted"),
        (None, Interval(1.0, 0.9, 1.1), "none", "undecided"),
    ],
)
def test_the_verdict_follows_from_the_intervals(
    predicted: Interval | None, gain: Interval, kept: str, verdict: str
) -> None:
    assert judge(trial_of(predicted), gain, AccuracyKept(kept), RAN)[0] == verdict


def test_a_slower_scale_is_confirmed_where_cost_is_the_goal() -> None:
    """One process has 0.7 times the throughput of two ranks: 1.4 times the samples of the same device-time."""
    trial = trial_of(Interval(0.7, 0.65, 0.75), variant="single", nodes=1, devices_per_node=1)
    measured = (trial, Interval(0.71, 0.68, 0.74), AccuracyKept.NONE, RAN)
    assert judge(*measured, goal=Goal.COST_PER_SAMPLE) == ("confirmed", "it is cheaper, as predicted")
    assert judge(*measured)[0] != "confirmed"


def test_advice_that_does_not_run_is_refuted_with_what_happened() -> None:
    ends = {f"launches_{end}": 0 for end in ("diverged", "failed", "too_short", "preempted", "timeout")}
    oom = pd.Series({"launches_ok": 0, "launches": 3, "launches_oom": 3, **ends})
    verdict, reason = judge(trial_of(Interval(1.5)), NOTHING, AccuracyKept.NONE, oom)
    assert verdict == "refuted"
    assert "3 oom" in reason or "out of memory" in reason


def test_the_gain_is_within_repeats(content: dict[str, Any]) -> None:
    """Launches of a repeat share their drift of 30 %: it is not in the limits."""
    found = score(trial_of(Interval(2.0, 1.9, 2.1)), *tried_study(content))
    assert found.gain.value == pytest.approx(2.0, rel=1e-3)
    assert 1.9 < found.gain.low < 2.0 < found.gain.high < 2.1
    assert found.verdict == "confirmed"
    step_time = found.quantities["step_time_s"]
    assert step_time.before.value == pytest.approx(2 * step_time.after.value)


@pytest.mark.parametrize(
    ("repeats", "verdict", "reason"),
    [
        (3, "confirmed", "it is faster, as predicted"),
        (2, "undecided", "the budget ended after 2 repeats, and the interval of the gain includes 1"),
        (1, "undecided", "the budget ended after 1 repeat, and the gain has no interval"),
    ],
)
def test_a_trial_that_its_budget_ended_is_judged_by_the_repeats_it_has(
    content: dict[str, Any], repeats: int, verdict: str, reason: str
) -> None:
    """The gain of two repeats scatters so that its interval includes 1. The side before has one more."""
    made = tried_study(content)
    runs = made.runs.copy()
    last = (runs["repeat"] == 2) & (runs["variant"] == "ddp-after")
    runs.loc[last & (repeats == 2), "throughput_samples_per_s"] *= 1.5
    cut = (runs["repeat"] > repeats) & ((runs["variant"] == "ddp-after") | (runs["repeat"] > repeats + 1))
    runs.loc[cut, "outcome"] = "unneeded"
    found = score(trial_of(Interval(2.0, 1.9, 2.1)), made.plan, summary_frame(made.plan, runs), runs, made.epochs)
    assert found.verdict == verdict
    assert found.reason.startswith(reason)
    assert found.gain.value > 1


def test_one_process_is_scored_by_the_speedup(content: dict[str, Any]) -> None:
    trial = trial_of(Interval(4.0, 3.0, 5.0), variant="single", nodes=1, devices_per_node=1)
    found = score(trial, *tried_study(content))
    assert found.gain.value == pytest.approx(1 / found.quantities["speedup"].before.value)
    assert found.quantities["speedup"].after.value == 1
    assert (found.before.world_size, found.after.world_size) == (2, 1)


def test_an_epoch_is_predicted_from_before_and_what_was_not_measured_is_missing(content: dict[str, Any]) -> None:
    made = tried_study(content)
    found = score(trial_of(Interval(2.0, 1.6, 2.5)), *made).quantities
    epoch = found["epoch_time_s"]
    assert epoch.before.value == pytest.approx(100 * found["step_time_s"].before.value)
    assert epoch.before.low < epoch.before.value < epoch.before.high
    assert epoch.predicted.value == pytest.approx(epoch.before.value / 2.0)
    assert epoch.predicted.low == pytest.approx(epoch.before.value / 2.5)
    assert isnan(found["time_to_accuracy_s"].before.value), "the study has no target"
    assert isnan(found["validation_accuracy"].predicted.value)
    without = score(trial_of(None), *made._replace(epochs=made.epochs.iloc[:0])).quantities["epoch_time_s"]
    assert isnan(without.before.value) and isnan(without.predicted.value)


def test_the_time_to_an_accuracy_is_predicted_from_the_progress(content: dict[str, Any]) -> None:
    """Twice the throughput at 0.8 of the worth of a sample: 1.6 times as fast to the same accuracy."""
    content["workloads"]["mlp"]["target_accuracy"] = 0.9
    made = tried_study(content)
    runs = made.runs.assign(time_to_accuracy_s=made.runs["repeat"].map({1: 10.0, 2: 11.0, 3: 9.0}))
    made = made._replace(runs=runs, summary=summary_frame(made.plan, runs))
    known = trial_of(Interval(2.0, 1.8, 2.2))
    assert known.predicted is not None
    progress = known.predicted.model_copy(update={"progress": Interval(1.6, 1.4, 1.8)})
    found = score(known.model_copy(update={"predicted": progress}), *made).quantities["time_to_accuracy_s"]
    assert found.predicted.value == pytest.approx(found.before.value / 1.6)
    assert found.predicted.high == pytest.approx(found.before.value / 1.4)
    assert isnan(score(known, *made).quantities["time_to_accuracy_s"].predicted.value)


def test_the_text_and_the_table_say_what_the_file_says(content: dict[str, Any]) -> None:
    made = tried_study(content)
    found = score(trial_of(Interval(2.0, 1.9, 2.1)), *made)
    file = VerificationFile(study="small", verified=(found,), left_out=(), runs={})
    assert VerificationFile.model_validate_json(file.model_dump_json()).verified[0].gain == found.gain
    lines = verification_lines(file, made.plan.study)
    assert max(len(line) for item in lines for line in item.splitlines()) <= 80
    text = "\n".join(lines)
    assert text.startswith("study small: 1 piece of advice tried: 1 confirmed")
    assert "1x2: CONFIRMED" in text
    assert "It is faster, as predicted." in text
    frame = verification_frame(file.verified)
    assert list(frame) == [name for column in FILES["verification.csv"].columns for name in column.names]
    (row,) = frame.to_dict("records")
    assert row["gain_measured"] == found.gain.value
    assert row["speedup_after"] == found.quantities["speedup"].after.value
    assert (row["verdict"], row["trial"], row["ends_after"]) == ("confirmed", "t", "3 ok")


def test_a_table_of_no_advice_has_its_columns() -> None:
    assert len(verification_frame([])) == 0
    assert "verdict" in verification_frame([])


@pytest.mark.parametrize(
    ("before", "after", "kept", "said"),
    [
        ([0.900, 0.901, 0.899], [0.901, 0.900, 0.900], "equivalent", "Accuracy is kept: "),
        ([0.900, 0.901, 0.899], [0.88, 0.92, 0.90], "not_shown", "The comparison of accuracy is inconclusive: "),
        ([0.900, nan, nan], [0.900, nan, nan], "not_shown", "The comparison of accuracy is inconclusive: "),
        ([0.900, nan, nan], [nan, 0.900, 0.901], "none", "Accuracy was not compared: no repeat has it both"),
        ([0.900, 0.901, 0.899], [nan, nan, nan], "none", "Accuracy was not compared: no repeat has it both"),
        ([nan, nan, nan], [nan, nan, nan], "none", "Accuracy was not measured."),
    ],
)
def test_accuracy_is_said_to_be_kept_only_where_launches_of_both_sides_show_it(
    content: dict[str, Any], before: list[float], after: list[float], kept: str, said: str
) -> None:
    """The speed is confirmed in all of these cases."""
    made = tried_study(content)
    runs = made.runs.copy()
    for variant, accuracies in (("ddp", before), ("ddp-after", after)):
        mine = runs["variant"] == variant
        runs.loc[mine, "validation_accuracy"] = runs.loc[mine, "repeat"].map(dict(enumerate(accuracies, start=1)))
    found = score(trial_of(Interval(2.0, 1.9, 2.1)), made.plan, summary_frame(made.plan, runs), runs, made.epochs)
    assert (found.verdict, found.accuracy_kept) == ("confirmed", kept)
    file = VerificationFile(study="small", verified=(found,), left_out=(), runs={})
    text = " ".join("\n".join(verification_lines(file, made.plan.study)).split())
    assert said in text
    assert ("Accuracy is kept" in text) == (kept == "equivalent")
