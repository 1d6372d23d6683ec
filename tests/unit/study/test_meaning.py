"""Keys that are valid one by one and mean nothing together are refused by name; studies of our own are not."""

from __future__ import annotations

import json
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
import yaml
from conftest import small_content
from hasty_studies import HASTY, SENSIBLE
from kinds_of_nonsense import KINDS
from meaningless_studies import MEANINGLESS, PAIR, TEXTS, ddp
from scalestudy.errors import RefusedStudyError
from scalestudy.study.config.load import load_study, parse_study, parse_written
from scalestudy.study.config.models import LanguageModel
from scalestudy.study.plan import make_plan
from study_mutations import written


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is planned here."""
    monkeypatch.chdir(tmp_path)


EVERY = MEANINGLESS | KINDS | HASTY


@pytest.mark.parametrize("kind", EVERY)
def test_a_study_that_means_nothing_is_refused(kind: str, tmp_path: Path) -> None:
    changes, expected = EVERY[kind]
    if "settings" in expected or "architecture" in expected:
        pytest.importorskip("transformers")
    (tmp_path / "study.yaml").write_bytes(written(small_content() | changes))
    with pytest.raises(RefusedStudyError) as refused:
        load_study("study.yaml")
    assert len(refused.value.problems) == 1, refused.value.problems
    assert refused.value.problems[0].startswith(expected)
    parse_study(small_content() | changes, source="a study of our own")


@pytest.mark.parametrize(
    "changes", [{}, {"measure": {"until": "precise"}, "max_repeats": 5}, {"time_limit_min": 2}]
)
def test_what_means_something_is_not(changes: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "study.yaml").write_text(yaml.safe_dump(small_content() | changes))
    load_study("study.yaml")


def test_a_study_that_an_earlier_release_planned_goes_on(tmp_path: Path) -> None:
    content = small_content() | MEANINGLESS["scales that nothing runs at"][0]
    (tmp_path / "study.yaml").write_bytes(written(content))
    plan = make_plan(parse_study(content, source="x"))
    folder = tmp_path / "results/small"
    folder.mkdir(parents=True)
    (folder / "plan.json").write_text(plan.model_dump_json())
    assert load_study("study.yaml") == plan.study
    earlier = json.loads(plan.model_dump_json())
    del earlier["study"]["measure"]["batch_trial_share"], earlier["study"]["report"]["goal"]
    (folder / "plan.json").write_text(json.dumps(earlier))
    assert load_study("study.yaml") == plan.study, "a release that did not have these keys yet"
    (tmp_path / "study.yaml").write_bytes(written(content | {"seed": 8}))
    with pytest.raises(RefusedStudyError, match="scales: nothing runs at 2x4"):
        load_study("study.yaml")


def test_all_wrong_sweeps_are_named(tmp_path: Path) -> None:
    content = small_content()
    content["variants"]["ddp"]["sweep"] = 1
    content["workloads"]["mlp"]["sweep"] = {}
    (tmp_path / "study.yaml").write_bytes(written(content))
    with pytest.raises(RefusedStudyError) as refused:
        load_study("study.yaml")
    named = [line.partition(":")[0] for line in refused.value.problems]
    assert named == ["variants.ddp.sweep", "workloads.mlp.sweep"]


def refused(content: dict[str, Any]) -> list[str]:
    """Return the lines of the refusal of a study; empty if it is accepted."""
    try:
        parse_written(content, source="x")
    except RefusedStudyError as error:
        return list(error.problems)
    return []


def test_a_workload_of_unknown_size_hides_no_mistake_of_another() -> None:
    """Whatever their order. Only variants whose longest run is not known may log at any step."""
    random = PAIR["workloads"]["w"] | {"epochs": 1, "target_accuracy": 0.9}
    texts = TEXTS | {"data": {"type": "imdb", "path": "/d"}}
    script = {"command": "train.py --batch {batch_per_rank}", "batch_size": 64}
    for other in (texts, script):
        orders = [{"other": other, "w": random}, {"w": random, "other": other}]
        for workloads in orders:
            assert [
                line.partition(":")[0] for line in refused(small_content() | PAIR | {"workloads": workloads})
            ] == [
                "workloads.w.target_accuracy",
                "workloads.w.epochs",
            ]
    variants = {"single": {"strategy": "single"}, "ddp": {"strategy": "ddp", "log_every_steps": 10**6}}
    study = small_content() | PAIR | {"variants": variants}
    own = TEXTS | {"data": {"type": "text-file", "path": "/d"}, "model": {"type": "language-model"}}
    assert refused(study | {"workloads": {"w": own}}) == []
    assert refused(study) == [
        "variants.ddp.log_every_steps: no run has 1000000 steps, the longest has 299; use fewer, or leave it out"
    ]


@pytest.mark.parametrize("size", ["0M", "0.0B"])
def test_a_decoder_of_no_parameters_is_refused_when_it_is_planned(size: str) -> None:
    """Its shape is a division by 0."""
    content = small_content() | deepcopy(MEANINGLESS["a decoder without a layer"][0])
    content["workloads"]["w"]["model"]["parameters"] = size
    with pytest.raises(
        RefusedStudyError, match=rf"parameters: {size} is not a size; the smallest shape has about"
    ):
        parse_study(content, source="x")


def test_the_smallest_decoder_has_the_size_that_is_named() -> None:
    model = LanguageModel(type="language-model", parameters="0.05M")
    width, _, layers, _ = model.shape
    assert 12 * width**2 * layers == pytest.approx(0.05e6, rel=0.02)
    assert not model.too_small


def test_studies_that_our_own_commands_write_keep_keys_without_effect(tmp_path: Path) -> None:
    """The study of a trial keeps keys of the study that it tries, and an answer of tune those of its runs."""
    text = yaml.safe_dump(small_content() | MEANINGLESS["steps of no probes"][0])
    trials = tmp_path / "results/small/verification"
    trials.mkdir(parents=True)
    (trials / "trial.yaml").write_text(text)
    with pytest.raises(RefusedStudyError, match="probe_steps"):
        load_study(trials / "trial.yaml")
    (tmp_path / "results/small/plan.json").write_text("{}")
    load_study(trials / "trial.yaml")
    for head in ("Made by `scalestudy tune`: the present setting.", "Made by `scalestudy demo`."):
        (tmp_path / "made.yaml").write_text(f"# {head}\n{text}")
        load_study("made.yaml")
    (tmp_path / "mine.yaml").write_text(text)
    with pytest.raises(RefusedStudyError, match="probe_steps"):
        load_study("mine.yaml")


def test_a_key_that_has_an_effect_is_accepted() -> None:
    """Next to each kind above: the same key where something heeds it."""
    pair = small_content() | PAIR
    assert refused(pair | {"profile": True, "measure": {"profile_steps": 9}}) == []
    assert refused(pair | {"measure": {"alternating_rounds": 6, "probe_rounds": 0, "probe_steps": 5}}) == []
    assert refused(pair | {"measure": {"batch_trial_share": 0}}) == []
    assert refused(pair | {"report": {"forecast_scales": ["1x8"], "overhead_reference": False}}) == []
    assert refused(pair | ddp(ddp={"communication_hook": "powersgd", "powersgd_rank": 4})) == []
    assert refused(pair | {"host": {"environment": {"CUDA_VISIBLE_DEVICES": "0,1"}, "device": "cuda"}}) == []
    starts = {"strategy": "ddp", "launcher": "python"}
    script = {"command": "train.py --batch {batch_per_rank}", "batch_size": 64}
    own = pair | {"workloads": {"s": script}, "variants": {"single": {"strategy": "single"}, "ddp": starts}}
    assert refused(own | {"host": {"environment": {"MASTER_PORT": "29501"}}}) == []


@pytest.mark.parametrize("case", SENSIBLE)
def test_the_same_keys_where_something_heeds_them(case: str, tmp_path: Path) -> None:
    (tmp_path / "study.yaml").write_bytes(written(small_content() | SENSIBLE[case]))
    load_study("study.yaml")


def test_the_longest_list_of_mistakes_has_a_line_for_each() -> None:
    content = small_content() | PAIR | {"repeats": 5, "max_repeats": 2, "verify": {"mode": "auto"}, "stduy": 1}
    content["variants"] = {"single": {"strategy": "single"}, "ddp": {"strategy": "ddp", "base": "x"}}
    content["workloads"] = {
        name: PAIR["workloads"]["w"] | {"batch_size": size} for name, size in (("a", 31), ("b", 33))
    }
    assert [line.partition(":")[0] for line in refused(content)] == [
        "verify.budget_device_hours",
        "stduy",
        "variants.ddp.base",
        "workloads.a.batch_size",
        "workloads.b.batch_size",
    ]
    content |= {"verify": {}}
    del content["stduy"]
    assert "max_repeats: 2 is fewer than repeats: 5" in refused(content)
