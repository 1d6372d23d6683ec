"""Run ids outlive releases: specs of 0.1 have the ids that they had, whatever was renamed or added since."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from scalestudy.study import identity
from scalestudy.study.config.load import parse_study
from scalestudy.study.config.origin import with_planned_defaults
from scalestudy.study.identity import ChangedDefault, from_canonical, keep_defaults, to_canonical
from scalestudy.study.plan import make_plan
from scalestudy.study.spec import parse_spec

FROZEN = json.loads((Path(__file__).parents[2] / "data" / "run_ids_0.1.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("pair", FROZEN, ids=[pair["run_id"] for pair in FROZEN])
def test_a_spec_of_release_0_1_has_the_id_it_had(pair: dict[str, Any]) -> None:
    spec = parse_spec(json.dumps(pair["spec"]))
    assert spec.run_id == pair["run_id"]
    assert json.loads(spec.to_json()) == pair["spec"]
    assert parse_spec(spec.model_dump_json()) == spec  # as run.json and plan.json have it


def test_the_frozen_specs_are_diverse() -> None:
    specs = [pair["spec"] for pair in FROZEN]
    assert len(specs) >= 12
    assert {spec["strategy"] for spec in specs} == {"single", "ddp", "fsdp"}
    assert len({spec["model"]["type"] for spec in specs}) >= 4
    assert {spec["nodes"] for spec in specs} == {1, 2}


def test_the_rank_of_a_demonstration_goes_by_its_name_of_today() -> None:
    faulty = [pair for pair in FROZEN if "SCALESTUDY_WORKER" in pair["spec"]["host"]["environment"]]
    assert faulty
    for pair in faulty:
        worker = parse_spec(json.dumps(pair["spec"])).host.environment["SCALESTUDY_WORKER"]
        assert worker == "scalestudy.demo.rank"


def spec_content() -> dict[str, Any]:
    return json.loads(json.dumps(FROZEN[0]["spec"]))


def test_renamed_keys_map_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(identity, "RENAMED_KEYS", {"ddp.bucket_size_mib": "ddp.bucket_cap_mb", "run": "repeat"})
    old = spec_content()
    new = from_canonical(spec_content())
    assert "bucket_cap_mb" not in new["ddp"]
    assert (new["ddp"]["bucket_size_mib"], new["run"]) == (old["ddp"]["bucket_cap_mb"], old["repeat"])
    assert to_canonical(new) == old


def test_keys_added_later_are_left_out_at_their_old_behaviour(monkeypatch: pytest.MonkeyPatch) -> None:
    added = {"fuse": False, "ddp.delay_s": 0.0, "model[mlp].dropout": 0.0, "model[convnet].groups": 1}
    monkeypatch.setattr(identity, "ADDED_KEYS", added)
    old = spec_content()
    new = from_canonical(spec_content())
    assert (new["fuse"], new["ddp"]["delay_s"], new["model"]["dropout"]) == (False, 0.0, 0.0)
    assert "groups" not in new["model"]  # it is an mlp
    assert to_canonical(json.loads(json.dumps(new))) == old
    assert to_canonical(new | {"fuse": True}) == old | {"fuse": True}


def test_changed_defaults_are_for_new_studies(
    content: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As if `probe_rounds` had been 2 and the epochs of every workload 1 in version 1 of the defaults."""
    monkeypatch.chdir(tmp_path)
    del content["workloads"]["mlp"]["epochs"]
    changes = (ChangedDefault(2, "measure.probe_rounds", 2), ChangedDefault(2, "workloads.*.epochs", 1))
    monkeypatch.setattr(identity, "CHANGED_DEFAULTS", changes)
    assert keep_defaults({"workloads": {"a": {}, "b": {"epochs": 3}}}, 1) == {
        "workloads": {"a": {"epochs": 1}, "b": {"epochs": 3}},
        "measure": {"probe_rounds": 2},
    }
    assert keep_defaults({}, 2) == {}
    content = content | {"workloads": {"mlp": content["workloads"]["mlp"] | {"epochs": 4}}}
    new = parse_study(with_planned_defaults(content), source="x")
    assert new.measure.probe_rounds == 4
    folder = tmp_path / "results" / content["study"]
    folder.mkdir(parents=True)
    (folder / "plan.json").write_text(json.dumps({"study": {"study": content["study"]}}))  # as 0.1 wrote it
    planned = parse_study(with_planned_defaults(content), source="x")
    assert (planned.measure.probe_rounds, planned.defaults) == (2, 1)
    given = parse_study(with_planned_defaults(content | {"measure": {"probe_rounds": 6}}), source="x")
    assert given.measure.probe_rounds == 6


@pytest.mark.parametrize("text", ["", "{}", "[1]", '{"study": "digits"}', "cut sh"])
def test_a_damaged_plan_has_no_defaults(text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "results" / "small").mkdir(parents=True)
    (tmp_path / "results" / "small" / "plan.json").write_text(text)
    assert with_planned_defaults({"study": "small"}) == {"study": "small"}


def test_the_key_defaults_changes_no_run_id(content: dict[str, Any]) -> None:
    content = content | {"host": {"device": "cpu"}}
    plans = [make_plan(parse_study(given, source="x")) for given in (content, content | {"defaults": 1})]
    assert list(plans[0].runs) == list(plans[1].runs)


def test_cores_that_no_study_named_are_one_in_what_was_measured_before(
    content: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The default was 1. It still is on a CPU, and in a study that was planned by then."""
    monkeypatch.chdir(tmp_path)

    def runs(host: dict[str, Any]) -> list[str]:
        return list(make_plan(parse_study(with_planned_defaults(content | {"host": host}), source="x")).runs)

    named = {device: runs({"device": device, "cores_per_rank": 1}) for device in ("auto", "cpu", "cuda")}
    assert runs({"device": "cpu"}) == runs({"device": "cpu", "cores_per_rank": None}) == named["cpu"]
    assert not {*runs({"device": "cuda"}), *runs({})} & {*named["cuda"], *named["auto"]}, "they may have eight"
    folder = tmp_path / "results" / content["study"]
    folder.mkdir(parents=True)
    (folder / "plan.json").write_text(json.dumps({"study": {"study": content["study"], "defaults": 3}}))
    assert runs({"device": "cuda"}) == named["cuda"]
    assert runs({}) == named["auto"]


def test_what_a_user_allows_a_script_changes_no_run_id() -> None:
    """A run that was measured before stays valid where `allow_shared` is added."""
    workload = {"command": "train.py", "batch_size": 8}
    content = {"study": "s", "scales": ["1x2"], "variants": {"ddp": {"strategy": "ddp"}}}
    content["variants"] |= {"single": {"strategy": "single"}}
    plans = [
        make_plan(parse_study(content | {"workloads": {"own": workload | more}}, source="x"))
        for more in ({}, {"allow_shared": True}, {"allow_shared": False})
    ]
    lines = [[(run, spec.to_json()) for run, spec in plan.runs.items()] for plan in plans]
    assert lines[0] == lines[1] == lines[2]
