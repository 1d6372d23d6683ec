"""What came of advice: verdicts from the gain, its prediction and the accuracy; numbers of the trial alone."""

from __future__ import annotations

from math import nan
from typing import Any

import pandas as pd
import pytest
from builders import study_of
from scalestudy.analyse.point.summary import summary_frame
from scalestudy.analyse.statistics.intervals import NOTHING, Interval
from scalestudy.diagnose.findings import Prediction
from scalestudy.registry.codes import AccuracyKept
from scalestudy.study.config.load import parse_study
from scalestudy.study.plan import Plan, make_plan
from scalestudy.verify.model import Place, Trial, VerificationFile
from scalestudy.verify.score import judge, score
from scalestudy.verify.frame import verification_frame

BEFORE = Place(workload="mlp", variant="ddp", scaling="strong", nodes=1, devices_per_node=2)
RAN = pd.Series({"launches_ok": 3})


def trial(gain: Interval | None, **after: Any) -> Trial:
    predicted = None
    if gain is not None:
        nothing = Interval(nan)
        predicted = Prediction(
            step_time_s=nothing, gain=gain, speedup=nothing, efficiency=nothing, peak_memory_gib=nan, assumes="x"
        )
    return Trial(
        id="t",
        cause="bucket-size",
        advice="default_buckets",
        change="Leave buckets alone.",
        patch={"variants": {"ddp": {"ddp": {"bucket_cap_mb": 25}}}},
        before=BEFORE,
        after=BEFORE.model_copy(update={"variant": "ddp-after"} | after),
        predicted=predicted,
    )


@pytest.mark.parametrize(
    ("predicted", "gain", "kept", "verdict"),
    [
        (Interval(1.5, 1.4, 1.6), Interval(1.45, 1.3, 1.6), "none", "confirmed"),
        (Interval(1.5), Interval(1.45, 1.3, 1.6), "none", "confirmed"),
        (Interval(1.5, 1.4, 1.6), Interval(1.3, 1.26, 1.34), "none", "partly"),
        (Interval(1.5, 1.4, 1.6), Interval(1.9, 1.8, 2.0), "none", "partly"),
        (Interval(1.5, 1.4, 1.6), Interval(1.1, 1.0, 1.2), "none", "refuted"),
        (Interval(1.5, 1.4, 1.6), Interval(0.7, 0.6, 0.8), "none", "refuted"),
        (Interval(1.5, 1.4, 1.6), Interval(1.2, 0.9, 1.6), "none", "undecided"),
        (Interval(1.5, 1.4, 1.6), Interval(1.5), "none", "undecided"),
        (Interval(1.5, 1.4, 1.6), NOTHING, "none", "undecided"),
        (Interval(1.5, 1.4, 1.6), Interval(1.45, 1.3, 1.6), "lower", "partly"),
        (Interval(1.5, 1.4, 1.6), Interval(1.45, 1.3, 1.6), "not_shown", "confirmed"),
        (None, Interval(1.2, 1.1, 1.3), "none", "confirmed"),
        (None, Interval(0.9, 0.8, 0.99), "none", "refuted"),
        (None, Interval(1.0, 0.9, 1.1), "none", "undecided"),
    ],
)
def test_the_verdict_follows_from_the_intervals(
    predicted: Interval | None, gain: Interval, kept: str, verdict: str
) -> None:
    assert judge(trial(predicted), gain, AccuracyKept(kept), RAN)[0] == verdict


def test_advice_that_does_not_run_is_refuted_with_what_happened() -> None:
    ends = {f"launches_{end}": 0 for end in ("diverged", "failed", "too_short", "preempted", "timeout")}
    oom = pd.Series({"launches_ok": 0, "launches": 3, "launches_oom": 3, **ends})
    verdict, reason = judge(trial(Interval(1.5)), NOTHING, AccuracyKept.NONE, oom)
    assert verdict == "refuted"
    assert "3 oom" in reason or "out of memory" in reason


@pytest.fixture
def measured(content: dict[str, Any]) -> tuple[Plan, pd.DataFrame, pd.DataFrame]:
    """Before 4 ms, after 2 ms, in three repeats that drift alike."""
    content["variants"] |= {"ddp-after": {"strategy": "ddp", "ddp": {"bucket_cap_mb": 5}}}
    plan = make_plan(parse_study(content | {"repeats": 3}, source="x"))
    times = {("mlp", 1, 32): 0.0010, ("mlp", 1, 16): 0.0006, ("mlp", 2, 16): 0.0040, ("mlp", 2, 32): 0.0041}
    runs = study_of(plan, {key: [time] * 3 for key, time in times.items()})
    drift = runs["repeat"].map({1: 1.0, 2: 1.3, 3: 0.8})
    faster = (runs["variant"] == "ddp-after").map({True: 2.0, False: 1.0})
    few = runs["repeat"].map({1: 1.01, 2: 1.0, 3: 0.99})
    for column, factor in (("step_time_s", drift / faster), ("throughput_samples_per_s", faster * few / drift)):
        runs[column] *= factor
    runs.loc[runs["variant"] != "ddp-after", "throughput_samples_per_s"] /= few
    return plan, summary_frame(plan, runs), runs


def test_the_gain_is_within_repeats(measured: tuple[Plan, pd.DataFrame, pd.DataFrame]) -> None:
    """Launches of a repeat share their drift of 30 %: it is not in the limits."""
    found = score(trial(Interval(2.0, 1.9, 2.1)), *measured)
    assert found.gain.value == pytest.approx(2.0, rel=1e-3)
    assert 1.9 < found.gain.low < 2.0 < found.gain.high < 2.1
    assert found.verdict == "confirmed"
    assert found.step_time_before_s.value == pytest.approx(2 * found.step_time_after_s.value)


def test_one_process_is_scored_by_the_speedup(measured: tuple[Plan, pd.DataFrame, pd.DataFrame]) -> None:
    plan, summary, runs = measured
    found = score(
        trial(Interval(4.0, 3.0, 5.0), variant="single", nodes=1, devices_per_node=1), plan, summary, runs
    )
    assert found.gain.value == pytest.approx(1 / found.speedup_before.value)
    assert found.speedup_after.value == 1


def test_the_text_and_the_table_say_what_the_file_says(
    measured: tuple[Plan, pd.DataFrame, pd.DataFrame], tmp_path: Any
) -> None:
    found = score(trial(Interval(2.0, 1.9, 2.1)), *measured)
    file = VerificationFile(study="small", verified=(found,), left_out=())
    assert VerificationFile.model_validate_json(file.model_dump_json()).verified[0].gain == found.gain
    lines = verification_lines(file)
    assert max(map(len, lines)) <= 80
    text = "\n".join(lines)
    assert text.startswith("study small: 1 piece of advice tried: 1 confirmed")
    assert "CONFIRMED: it is faster, as predicted" in text
    (row,) = verification_frame(file.verified).to_dict("records")
    assert row["measured_gain"] == found.gain.value
    assert (row["verdict"], row["trial"]) == ("confirmed", "t")
