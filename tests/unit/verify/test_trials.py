"""Which advice becomes a separate study, its content, and what is left out."""

from __future__ import annotations

from typing import Any

import pytest
from builders import diagnosed, summary_of
from scalestudy.diagnose.findings import Diagnosis, Finding, Recommendation
from scalestudy.registry.codes import Tried
from scalestudy.study.config.load import merge, parse_study
from scalestudy.study.config.study import Study
from scalestudy.study.plan import make_plan
from scalestudy.verify.model import Place, TrialsFile
from scalestudy.verify.trials import (
    add_trials,
    make_trial,
    make_trials,
    parse_trial,
    refused_advice,
    why_not,
    with_point,
)

SLOW = {("mlp", 1, 32): 0.0010, ("mlp", 1, 16): 0.0006, ("mlp", 2, 16): 0.0040, ("mlp", 2, 32): 0.0041}


def diagnoses_of(study: Study) -> list[Diagnosis]:
    plan = make_plan(study)
    noise = [(1.0, 1.004, 0.997)[repeat % 3] for repeat in range(study.most_repeats)]
    return diagnosed(plan, summary_of(plan, {key: [time * f for f in noise] for key, time in SLOW.items()}))


def advised(study: Study, **options: Any) -> list[Diagnosis]:
    """The diagnoses of the study with a single recommendation each."""
    advice = Recommendation(**{"id": "tried", "change": "Do it."} | options)
    finding = Finding(cause="a-cause", explanation="", evidence=(), refuted_by="", recommendations=(advice,))
    return [one.model_copy(update={"findings": (finding,)}) for one in diagnoses_of(study)]


@pytest.fixture
def study(content: dict[str, Any]) -> Study:
    return parse_study(content | {"repeats": 3, "max_repeats": 5, "measure": {"floor": True}}, source="x")


def trials_of(study: Study, **options: Any) -> TrialsFile:
    return make_trials(study, advised(study, **options))


def only_study(found: TrialsFile) -> Study:
    ((name, content),) = found.studies.items()
    trial = parse_study(content, source=name)
    assert trial.name == name
    return trial


def test_a_changed_variant_stands_beside_the_one_before(study: Study) -> None:
    found = trials_of(study, patch={"variants": {"ddp": {"ddp": {"bucket_cap_mb": 5}}}})
    trial = only_study(found)
    assert set(trial.variants) == {"single", "ddp", "ddp-after"}
    assert trial.variants["single"] == study.variants["single"]
    assert trial.variants["ddp"].model_copy(update={"base": None}) == study.variants["ddp"]
    assert trial.variants["ddp-after"].ddp.bucket_cap_mb == 5
    assert {one.after.variant for one in found.trials} == {"ddp-after"}
    assert [one.before.scaling for one in found.trials] == ["strong", "weak"]
    assert tuple(trial.workloads["mlp"].scaling) == ("strong", "weak")


def test_a_trial_is_as_rigorous_and_draws_other_seeds(study: Study) -> None:
    trial = only_study(trials_of(study, patch={"variants": {"ddp": {"precision": "bf16"}}}))
    assert trial.seed != study.seed
    assert (trial.repeats, trial.max_repeats, trial.defaults) == (3, 5, study.defaults)
    sides = {"before": {"workload": "mlp", "variant": "ddp"}, "after": {"workload": "mlp", "variant": "ddp-after"}}
    (gain,) = trial.measure.gains  # runs continue for what the advice brings
    assert gain.model_dump() == sides
    assert trial.measure == study.measure.model_copy(update={"floor": False, "probe_rounds": 0, "gains": (gain,)})
    assert trial.workloads["mlp"] == study.workloads["mlp"]
    assert not set(make_plan(trial).runs) & set(make_plan(study).runs)


def test_a_trial_does_not_try_its_own_advice(content: dict[str, Any]) -> None:
    auto = content | {"repeats": 3, "verify": {"mode": "auto", "budget_device_hours": 1}}
    study = parse_study(auto, source="x")
    assert study.verify.automatic
    assert not only_study(trials_of(study, patch={"variants": {"ddp": {"precision": "bf16"}}})).verify.automatic


@pytest.mark.parametrize(("own", "bound"), [({}, 0.5), ({"budget_device_hours": 0.1}, 0.1)])
def test_a_trial_begins_no_repeat_beyond_the_budget(
    content: dict[str, Any], own: dict[str, Any], bound: float
) -> None:
    """The runs of the study do not predict how long a run takes that compiles."""
    changed = {"verify": {"budget_device_hours": 0.5}, "measure": own}
    study = parse_study(content | {"repeats": 3, "max_repeats": 5} | changed, source="x")
    trial = only_study(trials_of(study, patch={"variants": {"ddp": {"compile": True}}}))
    assert trial.measure.budget_device_hours == bound
    assert trial.decisions[0] == 1


def test_a_trial_of_a_study_that_decides_nothing_has_no_such_bound(content: dict[str, Any]) -> None:
    changed = {"verify": {"budget_device_hours": 0.5}, "measure": {"until": "precise"}}
    study = parse_study(content | {"repeats": 3} | changed, source="x")
    assert only_study(trials_of(study, patch={"variants": {"ddp": {"compile": True}}}))


def test_what_came_of_advice_stays_with_its_point_cause_and_patch(study: Study) -> None:
    patch = {"variants": {"ddp": {"precision": "bf16"}}}
    trial = trials_of(study, patch=patch).trials[0]
    first, second = advised(study, patch=patch)[:2]
    (cause, advice), at = first.recommendations[0], Place.of(first)
    assert trial.tries(at, cause, advice)
    assert not trial.tries(at, "another-cause", advice)
    assert not trial.tries(
        at, cause, advice.model_copy(update={"patch": {"variants": {"ddp": {"compile": True}}}})
    )
    assert not trial.tries(Place.of(second), cause, advice)


def test_repeats_that_a_study_left_to_their_defaults_are_those_of_its_trial(content: dict[str, Any]) -> None:
    for given in ({}, {"repeats": 3}, {"repeats": 3, "max_repeats": 12}):
        bare = {key: value for key, value in content.items() if key != "repeats"} | given
        study = parse_study(bare, source="x")
        trial = only_study(trials_of(study, patch={"variants": {"ddp": {"precision": "bf16"}}}))
        assert (trial.repeats, trial.most_repeats) == (study.repeats, study.most_repeats), given


def test_what_changes_the_base_case_too_has_a_base_case_of_its_own(study: Study) -> None:
    patch = {"variants": {name: {"compile": True} for name in ("ddp", "single")}}
    trial = only_study(trials_of(study, patch=patch))
    assert trial.base_of("ddp") == "single"
    assert trial.base_of("ddp-after") == "single-after"
    assert trial.variants["single-after"].compile


def test_a_larger_batch_is_another_workload(study: Study) -> None:
    found = trials_of(study, patch={"workloads": {"mlp": {"batch_size": 64}}})
    trial = only_study(found)
    assert {name: one.batch_size for name, one in trial.workloads.items()} == {"mlp": 32, "mlp-after": 64}
    assert {one.after.workload for one in found.trials} == {"mlp-after"}


def test_one_process_is_the_base_case_of_the_trial(study: Study) -> None:
    found = make_trials(study, diagnoses_of(study))
    assert {(one.advice, one.after.variant, one.after.devices_per_node) for one in found.trials} == {
        ("one_process", "single", 1)
    }
    assert set(only_study(found).variants) == {"single", "ddp"}
    assert not only_study(found).measure.gains, "its gain is the speedup"


def test_another_variant_of_the_study_is_launched_beside_that_of_now(content: dict[str, Any]) -> None:
    variants = {
        "single": {"strategy": "single"},
        "ddp": {"strategy": "ddp", "base": "single"},
        "eager": {"strategy": "single", "precision": "bf16"},
        "fsdp": {"strategy": "fsdp", "base": "eager", "precision": "bf16"},
    }
    study = parse_study(content | {"repeats": 3, "variants": variants}, source="x")
    advice = Recommendation(id="use_ddp", change="Use ddp.", variant="ddp")
    before = Place(workload="mlp", variant="fsdp", scaling="weak", nodes=1, devices_per_node=2)
    trial, held = make_trial(study, before, "fsdp-overhead", advice)
    assert not why_not(advice)
    assert (trial.after.variant, trial.after.scaling) == ("ddp", "weak")
    parsed = parse_trial(trial, with_point(held, before), advice)
    assert {name: parsed.base_of(name) for name in ("fsdp", "ddp")} == {"fsdp": "eager", "ddp": "single"}
    assert parsed.variants["fsdp"] == study.variants["fsdp"]
    assert trial.tries(before, "fsdp-overhead", advice)
    assert not trial.tries(before, "fsdp-overhead", advice.model_copy(update={"variant": "other"}))


def test_fewer_ranks_stand_beside_those_of_now_at_their_scale(content: dict[str, Any]) -> None:
    study = parse_study(content | {"repeats": 3, "scales": ["1x2", "1x4"]}, source="x")
    advice = Recommendation(id="fewer_ranks", change="Use 2 ranks.", changes="ranks", scale="1x2")
    before = Place(workload="mlp", variant="ddp", scaling="strong", nodes=1, devices_per_node=4)
    trial, held = make_trial(study, before, "comm-bound", advice)
    assert not why_not(advice)
    assert (trial.after.variant, trial.after.devices_per_node) == ("ddp", 2)
    assert set(parse_trial(trial, with_point(held, before), advice).scales) == {"1x2", "1x4"}


def test_after_a_refutation_the_next_advice_is_tried(study: Study) -> None:
    """One of two points had its advice refuted: its next advice is added, and no trial that is there changes."""
    found = diagnoses_of(study)
    patches = [{"variants": {"ddp": {"ddp": {"bucket_cap_mb": size}}}} for size in (5, 50)]
    both = tuple(Recommendation(id=f"bucket-{at}", change="", patch=patch) for at, patch in enumerate(patches))
    finding = Finding(cause="a-cause", explanation="", evidence=(), refuted_by="", recommendations=both)
    found = [one.model_copy(update={"findings": (finding,)}) for one in found]
    chosen = make_trials(study, found)
    strong, weak = (one.before for one in chosen.trials)
    more = add_trials(chosen, study, found, {strong: Tried.REFUTED, weak: Tried.CONFIRMED})
    assert more.trials[:2] == chosen.trials
    assert [(one.before, one.advice) for one in more.trials[2:]] == [(strong, "bucket-1")]
    assert all(more.studies[name] == content for name, content in chosen.studies.items())
    assert add_trials(chosen, study, found, {strong: None, weak: Tried.UNDECIDED}) == chosen
    assert add_trials(more, study, found, {strong: Tried.REFUTED, weak: Tried.CONFIRMED}) == more


@pytest.mark.parametrize(
    ("patch", "words"),
    [
        (None, "it is not a patch of the study"),
        ({"repeats": 6}, "it adds repeats"),
        ({"scales": ["1x2", "1x4"]}, "needs devices"),
        ({"host": {"cores_per_rank": 1}}, "every run on the host"),
        ({"report": {"overhead_reference": True}}, "it adds rows"),
    ],
)
def test_what_one_study_cannot_hold_is_left_out_with_the_reason(study: Study, patch: Any, words: str) -> None:
    found = trials_of(study, patch=patch)
    assert not found.trials
    assert len(found.left_out) == 2
    assert all(words in item.why for item in found.left_out)


def test_nothing_to_recommend_is_nothing_to_try(study: Study) -> None:
    bare = [one.model_copy(update={"findings": ()}) for one in diagnoses_of(study)]
    found = make_trials(study, bare)
    assert (found.trials, found.left_out, found.studies) == ((), (), {})


def test_a_variant_that_advice_adds_is_the_one_after_it(study: Study) -> None:
    found = trials_of(study, patch={"variants": {"fsdp": {"strategy": "fsdp"}}})
    trial = only_study(found)
    assert {one.after.variant for one in found.trials} == {"fsdp"}
    assert (trial.variants["fsdp"].strategy, trial.base_of("fsdp")) == ("fsdp", "single")
    assert set(trial.variants) == {"single", "ddp", "fsdp"}


REFUSED = {"workloads": {"mlp": {"batch_size": 0}}}
FINE = {"variants": {"ddp": {"precision": "bf16"}}}


def advised_in_turn(study: Study, *patches: Any) -> list[Diagnosis]:
    """The diagnoses of the study with these patches as their advice, `advice-0` first."""
    advice = tuple(Recommendation(id=f"advice-{at}", change="", patch=patch) for at, patch in enumerate(patches))
    finding = Finding(cause="a-cause", explanation="", evidence=(), refuted_by="", recommendations=advice)
    return [one.model_copy(update={"findings": (finding,)}) for one in diagnoses_of(study)]


@pytest.mark.parametrize(
    ("patch", "says"),
    [
        (REFUSED, "workloads.mlp-after.batch_size: 1 or more is expected, not 0"),
        ({"variants": {"ddp": {"bucket": 5}}}, "variants.ddp-after.bucket: unknown key"),
        ({"workloads": {"other": {"batch_size": 8}}}, "workloads: the patch does not change mlp"),
    ],
)
def test_a_patch_that_is_refused_is_named_with_its_finding_and_the_next_advice_is_tried(
    study: Study, patch: Any, says: str
) -> None:
    found = advised_in_turn(study, patch, FINE)
    chosen = make_trials(study, found)
    assert [trial.advice for trial in chosen.trials] == ["advice-1", "advice-1"]
    assert chosen.trials[0].id in chosen.studies and len(chosen.studies) == 1
    refused = refused_advice(study, found, chosen)
    assert [error.at for error in refused] == [trial.before for trial in chosen.trials]
    assert all("defect of scalestudy (finding a-cause, advice advice-0)" in error.why for error in refused)
    assert all(says in error.why and "\n" not in error.why for error in refused)


def test_a_refused_patch_is_named_again_in_later_calls_until_it_is_mended(study: Study) -> None:
    found = advised_in_turn(study, REFUSED, FINE)
    chosen = make_trials(study, found)
    came = {trial.before: Tried.CONFIRMED for trial in chosen.trials}
    assert add_trials(chosen, study, found, came) == chosen
    assert len(refused_advice(study, found, chosen)) == 2
    assert refused_advice(study, advised_in_turn(study, FINE), chosen) == []


def test_a_refused_patch_behind_the_advice_that_is_tried_is_not_named(study: Study) -> None:
    found = advised_in_turn(study, FINE, REFUSED)
    assert refused_advice(study, found, make_trials(study, found)) == []


def test_every_patch_of_a_real_diagnosis_can_be_tried(content: dict[str, Any]) -> None:
    study = parse_study(content | {"repeats": 3}, source="x")
    for diagnosis in diagnoses_of(study):
        for _, advice in diagnosis.recommendations:
            if advice.patch:
                merged = merge(study.model_dump(mode="json"), advice.patch)
                assert parse_study(merged, source="patched") != study
