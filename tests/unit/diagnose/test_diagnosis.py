"""Diagnosis of numbers: verdicts that the interval supports, causes in the order of decision, valid patches."""

from __future__ import annotations

from math import nan
from typing import Any

import pandas as pd
import pytest
from builders import diagnosed, study_of, summary_of
from scalestudy.analyse.forecast.forecasts import forecasts_frame
from scalestudy.analyse.point.summary import summary_frame
from scalestudy.diagnose.case import Case, make_cases
from scalestudy.diagnose.findings import Diagnosis, Recommendation
from scalestudy.diagnose.unexplained import unexplained
from scalestudy.diagnose.verdicts import judge_point
from scalestudy.study.config.load import merge, parse_study
from scalestudy.study.config.study import Study
from scalestudy.study.plan import make_plan

# (workload, world size, batch per rank) -> seconds
HEALTHY = {("mlp", 1, 32): 0.0100, ("mlp", 1, 16): 0.0055, ("mlp", 2, 16): 0.0058, ("mlp", 2, 32): 0.0104}
NEGATIVE = {("mlp", 1, 32): 0.0010, ("mlp", 1, 16): 0.0006, ("mlp", 2, 16): 0.0040, ("mlp", 2, 32): 0.0041}
POOR = {("mlp", 1, 32): 0.0100, ("mlp", 1, 16): 0.0055, ("mlp", 2, 16): 0.0085, ("mlp", 2, 32): 0.0150}
NOISE = (1.0, 1.004, 0.997)


def diagnose(
    content: dict[str, Any], times: dict, *, noise: tuple = NOISE, **options: Any
) -> dict[str, Diagnosis]:
    """Diagnoses by scaling, of runs with these step times. Several ranks have the noise of the next repeat."""
    content = content | {"repeats": len(noise)}
    plan = make_plan(parse_study(content, source="x"))
    turned = (*noise[1:], noise[0])
    launches = {
        key: [time * factor for factor in (turned if key[1] > 1 else noise)] for key, time in times.items()
    }
    summary = summary_of(plan, launches, **options)
    return {d.scaling: d for d in diagnosed(plan, summary)}


def causes(diagnosis: Diagnosis) -> list[str]:
    return [finding.cause for finding in diagnosis.findings]


@pytest.mark.parametrize(
    ("times", "verdict", "cause"),
    [
        (HEALTHY, "healthy", "healthy"),
        (NEGATIVE, "negative_scaling", "comm-bound"),
        (POOR, "poor", "comm-bound"),
    ],
)
def test_verdict_and_cause(content: dict[str, Any], times: dict, verdict: str, cause: str) -> None:
    for scaling in ("strong", "weak"):
        diagnosis = diagnose(content, times)[scaling]
        assert (diagnosis.verdict, causes(diagnosis)) == (verdict, [cause])


def test_more_ranks_are_advised_beyond_the_largest_scale_only(content: dict[str, Any]) -> None:
    plan = make_plan(parse_study(content | {"scales": ["1x2", "1x4"], "repeats": 3}, source="x"))
    four = {("mlp", 1, 8): 0.0030, ("mlp", 4, 8): 0.0032, ("mlp", 4, 32): 0.0106}
    times = {key: [time * factor for factor in NOISE] for key, time in (HEALTHY | four).items()}
    found = {(d.scaling, d.world_size): d for d in diagnosed(plan, summary_of(plan, times))}
    assert {diagnosis.verdict for diagnosis in found.values()} == {"healthy"}
    for (_, ranks), diagnosis in found.items():
        advice = [one.scale for one in diagnosis.findings[0].recommendations]
        assert advice == ([] if ranks == 2 else ["1x8"])


def test_more_than_ideal_without_an_interval_is_undecided(content: dict[str, Any]) -> None:
    fast = {("mlp", 1, 32): 0.0100, ("mlp", 1, 16): 0.0055, ("mlp", 2, 16): 0.0022, ("mlp", 2, 32): 0.0044}
    strong = diagnose(content, fast, noise=(1.0,))["strong"]
    assert strong.verdict == "undecided"
    assert "the speedup is above 2, the number of ranks" in strong.sentence
    assert diagnose(content, fast)["strong"].verdict == "confounded"
    plan = make_plan(parse_study(content | {"repeats": 1}, source="x"))
    summary = summary_of(plan, {key: [time] for key, time in fast.items()})
    case = make_cases(plan.study, summary, forecasts_frame(plan.study, summary))[0]
    advice = unexplained(case, "undecided").recommendations[0]
    assert advice.change == "Run more repeats (repeats: 2): there is no interval."


def test_an_interval_that_holds_the_target_is_undecided(content: dict[str, Any]) -> None:
    near = {("mlp", 1, 32): 0.0100, ("mlp", 1, 16): 0.0055, ("mlp", 2, 16): 0.0066, ("mlp", 2, 32): 0.0132}
    weak = diagnose(content, near, noise=(1.0, 1.05, 0.95))["weak"]
    assert (weak.verdict, causes(weak)) == ("undecided", ["unexplained"])
    assert weak.findings[0].recommendations[0].patch == {"repeats": 6}


def test_a_step_that_does_not_shrink_with_its_batch_is_not_blamed_on_communication(
    content: dict[str, Any],
) -> None:
    """Half the batch takes 90 % of the step on one process already; two ranks add 2 % to that."""
    fixed = {("mlp", 1, 32): 0.0100, ("mlp", 1, 16): 0.0090, ("mlp", 2, 16): 0.0092, ("mlp", 2, 32): 0.0101}
    strong = diagnose(content, fixed, noise=(1.0, 1.0005, 0.9995))["strong"]
    assert (strong.verdict, causes(strong)) == ("poor", ["launch-bound"])
    assert strong.findings[0].recommendations[0].patch == {
        "variants": {"ddp": {"compile": True}, "single": {"compile": True}}
    }


def test_one_launch_is_judged_and_said_to_have_no_interval(content: dict[str, Any]) -> None:
    weak = diagnose(content, NEGATIVE, noise=(1.0,))["weak"]
    assert weak.verdict == "negative_scaling"
    assert "there is only one run, so there is no interval" in weak.sentence


def test_more_threads_than_cores_come_before_the_batch(content: dict[str, Any]) -> None:
    """The same numbers as a comm-bound study, with both ranks on one core: the batch must not be blamed."""
    # The baseline has the same threads per rank, on a core of its own.
    plan = make_plan(parse_study(content | {"repeats": 3}, source="x"))
    launches = {key: [time * factor for factor in NOISE] for key, time in NEGATIVE.items()}
    runs = study_of(plan, launches)
    runs.loc[runs["world_size"] == 2, "threads_per_core"] = 2.0
    found = diagnosed(plan, summary_frame(plan, runs))
    for diagnosis in found:
        assert causes(diagnosis) == ["oversubscribed"]
        patch = diagnosis.findings[0].recommendations[0].patch
        assert patch == {"host": {"pin": True, "cores_per_rank": 1}}


@pytest.mark.parametrize(
    ("column", "value", "words"),
    [
        ("precision", "bf16", "precision: fp32 for the baseline, bf16 here"),
        ("torch", "2.9.0", "torch: 2.13.0 for the baseline, 2.9.0 here"),
        ("device", "NVIDIA H100", "device: cpu for the baseline, NVIDIA H100 here"),
        ("threads_per_rank", 4.0, "threads_per_rank: 1 for the baseline, 4 here"),
    ],
)
def test_rows_that_differ_in_more_than_ranks_are_confounded(
    content: dict[str, Any], column: str, value: Any, words: str
) -> None:
    plan = make_plan(parse_study(content | {"repeats": 3}, source="x"))
    launches = {key: [time * factor for factor in NOISE] for key, time in HEALTHY.items()}
    summary = summary_of(plan, launches)
    summary[column] = summary[column].astype(object)
    summary.loc[summary["world_size"] == 2, column] = value
    for diagnosis in diagnosed(plan, summary):
        assert diagnosis.verdict == "confounded"
        assert causes(diagnosis) == ["confounded"]
        assert words in diagnosis.findings[0].explanation


def test_a_speedup_above_the_number_of_ranks_is_confounded(content: dict[str, Any]) -> None:
    times = HEALTHY | {("mlp", 2, 16): 0.0040}  # 2.5x on 2 ranks
    found = diagnose(content, times)
    assert found["strong"].verdict == "confounded"
    assert "above 2, the number of ranks" in found["strong"].findings[0].explanation
    assert found["weak"].verdict == "healthy"


def test_a_label_that_the_batches_contradict_is_confounded(content: dict[str, Any]) -> None:
    plan = make_plan(parse_study(content | {"repeats": 3}, source="x"))
    summary = summary_of(plan, {key: [t * f for f in NOISE] for key, t in HEALTHY.items()})
    strong = (summary["scaling"] == "strong") & (summary["world_size"] == 2)
    summary.loc[strong, "global_batch"] = 64
    found = {d.scaling: d for d in diagnosed(plan, summary)}
    assert "global_batch: 32 for the baseline, 64 here" in found["strong"].findings[0].explanation


@pytest.mark.parametrize("times", [HEALTHY, NEGATIVE, POOR])
def test_every_patch_gives_a_valid_study(content: dict[str, Any], times: dict) -> None:
    for diagnosis in diagnose(content, times).values():
        for finding in diagnosis.findings:
            for recommendation in finding.recommendations:
                if recommendation.patch:
                    study = parse_study(merge(content, recommendation.patch), source="patched")
                    assert study != parse_study(content, source="x"), "a patch changes something"


MANY = {"type": "synthetic-images", "samples": 100_000, "channels": 1, "size": 8}
"""Samples enough for any batch that is requested."""
LINE = {("mlp", 1, 32): 0.0010, ("mlp", 1, 16): 0.0006, ("mlp", 2, 16): 0.0037, ("mlp", 2, 32): 0.0041}
"""Tc = 0.2 ms + 25 us B, and an overhead of 3.1 ms on two ranks."""


def with_data(content: dict[str, Any], data: dict[str, Any]) -> dict[str, Any]:
    return content | {"workloads": {"mlp": content["workloads"]["mlp"] | {"data": data}}}


def weak_advice(content: dict[str, Any], times: dict, **options: Any) -> Recommendation:
    """The advice for weak scaling that speaks of the size."""
    found = diagnose(content, times, **options)["weak"].recommendations
    (advice,) = (one for _, one in found if one.id in ("larger_batch", "larger_model"))
    return advice


def batch_and_rate(advice: Recommendation) -> tuple[int, float]:
    assert advice.patch is not None
    patch = advice.patch["workloads"]["mlp"]
    return patch["batch_size"], patch["optimizer"]["learning_rate"]


@pytest.mark.parametrize(
    ("optimizer", "rate"),
    [
        ({"type": "sgd", "learning_rate": 0.01}, 0.04),
        ({"type": "adam", "learning_rate": 0.01}, 0.02),
        ({"type": "adamw", "learning_rate": 0.01}, 0.02),
        ({"type": "adam", "learning_rate": 0.01, "learning_rate_scaling": "linear"}, 0.04),
    ],
)
def test_the_learning_rate_follows_the_batch(
    content: dict[str, Any], optimizer: dict[str, Any], rate: float
) -> None:
    """SGD: in proportion; Adam: by the square root; otherwise as the study sets it. Four times the batch."""
    content = with_data(content, MANY)
    workload = content["workloads"]["mlp"] | {"optimizer": optimizer}
    advice = weak_advice(content | {"workloads": {"mlp": workload}}, LINE, noise=(1.0, 1.0, 1.0))
    assert batch_and_rate(advice) == (128, pytest.approx(rate))
    assert f"and the learning rate from 0.01 to {rate:g}" in advice.change


def test_the_recommended_batch_reaches_the_target_by_its_own_model(content: dict[str, Any]) -> None:
    """Tc = 0.2 ms + 25 us B, X = 1.05 ms: E = 75 % asks for (1.05 x 3 - 0.2) / 0.025 = 118, rounded up to 120."""
    times = LINE | {("mlp", 2, 16): 0.00165, ("mlp", 2, 32): 0.00205}
    advice = weak_advice(with_data(content, MANY), times, noise=(1.0, 1.0, 1.0))
    assert batch_and_rate(advice) == (120, pytest.approx(0.05 * 120 / 32, rel=5e-3))
    assert advice.prediction is not None
    step_s = 0.0002 + 25e-6 * 120 + 0.00105
    assert advice.prediction.step_time_s.value == pytest.approx(step_s)
    assert advice.prediction.efficiency.value == pytest.approx(0.0032 / step_s)
    assert advice.prediction.speedup.value == pytest.approx(2 * 0.0032 / step_s)
    assert advice.prediction.gain.value == pytest.approx((120 / step_s) / (32 / 0.00205))
    assert advice.changes == "batch"
    assert "3.8-fold and an epoch shrinks to 416 steps, so" in advice.warning
    assert "needs about" not in advice.warning


def test_a_batch_is_advised_no_farther_than_four_times_what_was_measured(content: dict[str, Any]) -> None:
    """E = 75 % would take 368, which is 11 times what one process was measured at."""
    advice = weak_advice(with_data(content, MANY), LINE, noise=(1.0, 1.0, 1.0))
    assert batch_and_rate(advice) == (128, pytest.approx(0.2))
    assert advice.prediction is not None
    assert advice.prediction.step_time_s.value == pytest.approx(0.0002 + 25e-6 * 128 + 0.0031)
    assert "needs about 368 samples, but the largest batch measured on one process is 32 samples" in advice.warning


def test_a_batch_leaves_thirty_steps_an_epoch(content: dict[str, Any]) -> None:
    """6000 samples on two ranks: 100 a rank leave 30 steps, in multiples of eight 96."""
    advice = weak_advice(with_data(content, MANY | {"samples": 6000}), LINE, noise=(1.0, 1.0, 1.0))
    assert batch_and_rate(advice) == (96, pytest.approx(0.15))
    assert (
        "needs about 368 samples, but a larger batch would leave fewer than 30 steps per epoch" in advice.warning
    )


def test_where_no_larger_batch_leaves_steps_enough_another_model_is_advised(content: dict[str, Any]) -> None:
    """1438 samples: 22 steps of 32 on two ranks are already too few."""
    advice = weak_advice(content, LINE, noise=(1.0, 1.0, 1.0))
    assert (advice.id, advice.patch) == ("larger_model", None)
    assert (
        advice.unpredicted
        == "an efficiency of 75 % needs a batch of 368 samples per rank, which leaves 1 step per epoch."
    )
    slow_link = NEGATIVE | {("mlp", 2, 16): 0.0806, ("mlp", 2, 32): 0.0810}
    assert weak_advice(content, slow_link).unpredicted.endswith("samples per rank, more than the data have.")


def noisy(content: dict[str, Any], noise: float) -> Diagnosis:
    """Weak scaling of a network with this gradient noise scale."""
    plan = make_plan(parse_study(with_data(content, MANY) | {"repeats": 3}, source="x"))
    summary = summary_of(plan, {key: [time * f for f in NOISE] for key, time in LINE.items()})
    for name, factor in (("", 1.0), ("_low", 0.9), ("_high", 1.1)):
        summary[f"gradient_noise_scale_samples{name}"] = noise * factor
    return next(d for d in diagnosed(plan, summary) if d.scaling == "weak")


def test_a_larger_batch_is_weighed_by_the_gradient_noise_scale(content: dict[str, Any]) -> None:
    """64 samples become 256: at 1000 samples of noise each keeps (1000 + 64) / (1000 + 256) of its worth."""
    (advice,) = (one for _, one in noisy(content, 1000.0).recommendations if one.id == "larger_batch")
    assert advice.prediction is not None
    worth = 1064 / 1256
    assert f"(1000 samples), a sample is then worth {100 * worth:.0f} % of what it is now" in advice.warning
    assert f"progress is {advice.prediction.gain.value * worth:.2f} [" in advice.warning


def test_a_batch_that_brings_no_progress_is_not_advised(content: dict[str, Any]) -> None:
    """At a noise scale of 1 sample four times the batch is four times the work for the same progress."""
    found = noisy(content, 1.0)
    assert "larger_batch" not in [one.id for _, one in found.recommendations]
    (advice,) = (one for _, one in found.recommendations if one.id == "larger_model")
    assert "to the gradient noise scale at the end of the training (1 samples)" in advice.unpredicted


def test_an_unbounded_noise_scale_takes_nothing_from_a_batch(content: dict[str, Any]) -> None:
    (advice,) = (one for _, one in noisy(content, float("inf")).recommendations if one.id == "larger_batch")
    assert "a sample is then worth 100 % of what it is now" in advice.warning


def test_of_unsteady_rows_no_batch_is_reckoned(content: dict[str, Any]) -> None:
    plan = make_plan(parse_study(with_data(content, MANY) | {"repeats": 3}, source="x"))
    summary = summary_of(plan, {key: [time * f for f in NOISE] for key, time in LINE.items()})
    summary.loc[summary["world_size"] == 2, "launches_unsteady"] = 3
    for diagnosis in diagnosed(plan, summary):
        (advice,) = (one for _, one in diagnosis.recommendations if one.id == "larger_batch")
        assert advice.patch is None
        assert advice.prediction is None
        assert "no single step time" in advice.unpredicted


def test_one_process_is_the_first_advice_where_it_is_faster(content: dict[str, Any]) -> None:
    """Before a larger batch, whose gain on paper is larger."""
    for diagnosis in diagnose(with_data(content, MANY), LINE).values():
        assert diagnosis.recommendations[0][1].id == "one_process"


def test_fewer_ranks_are_advised_where_they_are_faster(content: dict[str, Any]) -> None:
    """Two ranks take 6 ms for 32 samples and four take 7 ms; one process takes 10."""
    times = {("mlp", 1, 32): 0.010, ("mlp", 1, 16): 0.0055, ("mlp", 1, 8): 0.003, ("mlp", 2, 16): 0.006}
    times |= {("mlp", 4, 8): 0.007, ("mlp", 2, 32): 0.0105, ("mlp", 4, 32): 0.011}
    plan = make_plan(parse_study(content | {"repeats": 3, "scales": ["1x2", "1x4"]}, source="x"))
    found = diagnosed(plan, summary_of(plan, {key: [time * f for f in NOISE] for key, time in times.items()}))
    strong = {d.world_size: d for d in found if d.scaling == "strong"}
    (advice,) = (one for _, one in strong[4].recommendations if one.id == "fewer_ranks")
    assert advice.change == "Use 2 ranks: they are faster than 4."
    assert advice.prediction is not None
    assert advice.prediction.gain.value == pytest.approx(7 / 6, rel=1e-3)
    assert not [one for _, one in strong[2].recommendations if one.id == "fewer_ranks"]


def test_advice_whose_gain_is_within_its_noise_is_not_given(content: dict[str, Any]) -> None:
    """Two ranks that may be faster than four or may not."""
    times = {("mlp", 1, 32): 0.010, ("mlp", 1, 16): 0.0055, ("mlp", 1, 8): 0.003, ("mlp", 2, 16): 0.0069}
    times |= {("mlp", 4, 8): 0.007, ("mlp", 2, 32): 0.0105, ("mlp", 4, 32): 0.011}
    plan = make_plan(parse_study(content | {"repeats": 3, "scales": ["1x2", "1x4"]}, source="x"))
    noise = {2: (0.95, 1.0, 1.05), 4: (1.05, 1.0, 0.95), 1: NOISE}
    found = diagnosed(plan, summary_of(plan, {k: [t * f for f in noise[k[1]]] for k, t in times.items()}))
    assert not [one for d in found for _, one in d.recommendations if one.id == "fewer_ranks"]


def test_nothing_measured_is_said_and_not_judged(content: dict[str, Any]) -> None:
    plan = make_plan(parse_study(content | {"repeats": 2}, source="x"))
    times = {key: [time, time] for key, time in HEALTHY.items()} | {("mlp", 2, 16): ["oom", "oom"]}
    strong = next(d for d in diagnosed(plan, summary_of(plan, times)) if d.scaling == "strong")
    assert (strong.verdict, causes(strong)) == ("not_measured", ["ddp-oom"])
    assert strong.sentence == "no run completed: 2 oom"


def seed_case(ranks: int, speedup: float) -> Case:
    """A case with a published speedup and no interval, as the reader of a table has it."""
    study = Study.model_validate(
        {
            "study": "seed",
            "scales": ["1x2"],
            "variants": {"single": {"strategy": "single"}},
            "workloads": {
                "w": {
                    "model": {"type": "mlp"},
                    "data": {"type": "digits"},
                    "optimizer": {"type": "sgd"},
                    "batch_size": 32,
                    "epochs": 1,
                }
            },
        }
    )
    point = {"world_size": ranks, "speedup": speedup, "speedup_low": nan, "speedup_high": nan, "launches_ok": 1}
    nothing = pd.DataFrame()
    row = pd.Series(point)
    return Case(study=study, point=row, base=row, alone=nothing, forecasts=nothing, peers=nothing, smaller=nothing)


@pytest.mark.parametrize(
    ("name", "ranks", "speedup", "verdict"),
    [
        ("IMDB on 4 GPUs", 4, 3.49, "healthy"),
        ("AG News on 4 GPUs", 4, 0.46, "negative_scaling"),
        ("MLP, batch 256, 2 V100", 2, 12369 / 33700, "negative_scaling"),
        ("MLP, batch 4096, 2 V100", 2, 71710 / 41052, "healthy"),
        ("LLM fine-tuning, 2 GPUs", 2, 18 / 15, "poor"),
    ],
)
def test_published_cases_are_judged_as_their_authors_did(
    name: str, ranks: int, speedup: float, verdict: str
) -> None:
    assert judge_point(seed_case(ranks, speedup), confounded=False)[0] == verdict
