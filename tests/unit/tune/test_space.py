"""The space: the keys of a workload, the keys that are held, and the messages."""

from __future__ import annotations

import sys
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
import yaml
from scalestudy.cli.main import main
from scalestudy.errors import RefusedStudyError, UserError
from scalestudy.study.config.load import parse_study
from scalestudy.tune.space import Space, make_space, parse_levels
from scalestudy.tune.target import Target
from simulated_tuning import STUDY, simulated_space

COMMAND: dict[str, Any] = {
    "study": "own",
    "scales": ["1x2"],
    "variants": {"single": {"strategy": "single"}, "ddp": {"strategy": "ddp"}},
    "workloads": {"script": {"command": "train.py --batch-size {batch_per_rank}", "batch_size": 32}},
}


def space_of(scale: str = "1x2", *, levels: dict[str, list[Any]] | None = None, **options: Any) -> Space:
    target = Target.of(parse_study(STUDY, source="test"), "mlp", None, scale)
    return make_space(target, levels=levels or {}, **options)


def keys(space: Space) -> dict[str, tuple[Any, ...]]:
    return {knob.key: knob.levels for knob in space.knobs}


def test_the_present_setting_is_the_first_and_every_setting_is_valid_and_distinct() -> None:
    space = simulated_space()
    assert space.present == {
        "batch_size": 16,
        "accumulation_steps": 1,
        "precision": "fp32",
        "ddp.bucket_cap_mb": 25,
        "input.workers": 0,
        "sharding": "ddp",
    }
    # A bucket size means nothing with FSDP.
    assert len(space.settings) == 3 * 3 * 2 * 2 * (3 + 1)
    assert len({frozenset(one.items()) for one in space.settings}) == len(space.settings)
    assert all("ddp.bucket_cap_mb" not in one for one in space.settings if one["sharding"] != "ddp")


def test_one_process_has_nothing_to_shard() -> None:
    space = space_of("1x1")
    assert set(keys(space)) == {"batch_size", "accumulation_steps", "precision", "input.workers"}
    assert space.held["sharding"] == "one process has nothing to shard"


def test_a_cpu_has_no_tf32_and_a_gpu_has() -> None:
    assert keys(space_of())["precision"] == ("fp32", "bf16")
    on_gpu = make_space(
        Target.of(parse_study({**STUDY, "host": {"device": "cuda"}}, source="test"), "mlp", None, "1x2"),
        levels={},
        cuda=True,
    )
    assert keys(on_gpu)["precision"] == ("fp32", "tf32", "bf16", "fp16")
    assert all(one["sharding"] == "ddp" for one in on_gpu.settings if one["precision"] == "fp16"), (
        "FSDP has no fp16"
    )
    assert on_gpu.refused


def test_a_batch_leaves_steps_of_an_epoch_and_is_within_four_times_what_was_measured() -> None:
    assert keys(space_of())["batch_size"] == (16, 8, 32), "of 1 348 samples 64 leave 21 steps"
    with pytest.raises(UserError, match="128 is more than 4 times the largest measured batch, 8"):
        space_of(levels={"batch_size": [128]})
    assert 128 in keys(space_of(levels={"batch_size": [128]}, largest_batch=16))["batch_size"]


def test_a_batch_that_is_held_says_why_unless_it_is_asked_for() -> None:
    assert space_of(hold_batch="no accuracy").held["batch_size"] == "no accuracy"
    asked = space_of(hold_batch="no accuracy", levels={"batch_size": [8]})
    assert keys(asked)["batch_size"] == (16, 8)
    assert "batch_size" not in asked.held


def test_a_command_has_only_what_has_a_placeholder() -> None:
    target = Target.of(parse_study(COMMAND, source="test"), "script", None, "1x2")
    space = make_space(target, levels={})
    assert keys(space) == {"batch_size": (32, 16, 64, 128)}
    assert space.held["precision"] == "the command has no placeholder for it"
    with pytest.raises(UserError, match="script is a command, for which only batch_size"):
        make_space(target, levels={"precision": ["bf16"]})


@pytest.mark.parametrize(
    ("levels", "said"),
    [
        ({"bucket": [1]}, "--try bucket: no such key; keys are batch_size, sharding"),
        ({"ddp.bucket": [1]}, "--try ddp.bucket: no such key"),
        ({"ddp": [1]}, "--try ddp: no such key"),
        ({"strategy": ["fsdp"]}, "--try strategy: no such key; use sharding"),
        ({"precision": ["fp64"]}, "--try precision: fp64 cannot be run: variants.ddp-fp64.precision"),
        ({"batch_size": [7]}, "--try batch_size: 7 cannot be run: workloads.mlp-b7.batch_size: 7 does not divide"),
        ({"batch_size": ["x"]}, "--try batch_size: x is not a number of samples"),
    ],
)
def test_a_value_that_cannot_be_run_is_named(levels: dict[str, list[Any]], said: str) -> None:
    with pytest.raises(UserError) as error:
        space_of(levels=levels)
    assert said in str(error.value)


def test_levels_are_read_as_yaml() -> None:
    assert parse_levels(["compile=true,false", "ddp.bucket_cap_mb=0.5,25"]) == {
        "compile": [True, False],
        "ddp.bucket_cap_mb": [0.5, 25],
    }


def test_the_learning_rate_follows_the_batch_as_the_workload_says() -> None:
    space = simulated_space()
    workload = space.target.workload_of({**space.present, "batch_size": 32}, whole=True)
    assert workload["optimizer"]["learning_rate"] == pytest.approx(0.05 * 2**0.5)
    assert "learning_rate" not in space.target.workload_of(space.present, whole=True)["optimizer"], "it stays"


def test_what_keeps_the_training_is_known() -> None:
    space = simulated_space()
    assert space.keeps_training({**space.present, "accumulation_steps": 4, "ddp.bucket_cap_mb": 1})
    assert not space.keeps_training({**space.present, "precision": "bf16"})
    assert not space.keeps_training({**space.present, "batch_size": 8})


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("study.yaml").write_text(yaml.safe_dump(STUDY))
    return tmp_path


def test_a_dry_run_prints_space_and_cost_and_leaves_nothing(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["tune", "study.yaml", "--budget", "0.5", "--dry-run", "--hold", "input.workers"]) == 0
    said = capsys.readouterr().out
    assert "ddp.bucket_cap_mb is held: the gradients fit into one bucket" in said
    assert "input.workers is held: --hold" in said
    assert "at most 0.5 device-hours: 15 min on 2 devices" in said
    assert "which a first run measures" in said
    assert [path.name for path in place.iterdir()] == ["study.yaml"]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ([], "Missing option '--budget'"),
        (["--budget", "0"], "--budget"),
        (["--budget", "1", "--workload", "x"], "--workload x: not in the study; it has mlp"),
        (["--budget", "1", "--scale", "2"], "2: a scale is NODESxDEVICES, such as 1x4"),
        (["--budget", "1", "--variant", "single"], "--variant single: does not run at 1x2"),
        (["--budget", "1", "--scale", "0x1"], "0x1: a scale is NODESxDEVICES, such as 1x4"),
        (["--budget", "nan"], "nan: not a number that can be used"),
        (["--budget", "1", "--results", "missing"], "missing: no such folder"),
        (["--budget", "1", "--hold", "bucket"], "--hold bucket: no such key"),
        (["--budget", "1", "--try", "precision"], "must be KEY=VALUE,VALUE"),
        (["--budget", "1", "--try", "precision=["], "--try precision=[: not valid YAML"),
        (["--budget", "1", "--try", "precision=fp32", "precision=bf16"], "precision is given twice"),
        (
            ["--budget", "1", "--try", "precision=bf16", "--hold", "precision"],
            "--hold precision: --try has values",
        ),
        (["--budget", "1", "--scaling", "weak"], "--scaling weak: mlp has scaling: [strong]"),
    ],
)
def test_a_mistake_is_named_with_what_would_be_right(
    place: Path, capsys: pytest.CaptureFixture[str], options: list[str], said: str
) -> None:
    assert main(["tune", "study.yaml", *options]) == 2
    assert said in capsys.readouterr().err
    assert not (place / "results").exists()


def test_without_optuna_the_command_that_installs_it_is_named(
    place: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "optuna", None)
    assert main(["tune", "study.yaml", "--budget", "1"]) == 2
    assert "pip install 'scalestudy[tune]'" in capsys.readouterr().err


def bounded(scale: str = "1x2", *, levels: dict[str, list[Any]] | None = None, **tune: Any) -> Space:
    """The space of the study with a key `tune`; options as on the command line."""
    content = STUDY | {"tune": tune}
    again = parse_study(parse_study(content, source="test").model_dump(mode="json"), source="again")
    spaces = [
        make_space(Target.of(study, "mlp", None, scale), levels=levels or {})
        for study in (parse_study(content, source="test"), again)
    ]
    assert keys(spaces[0]) == keys(spaces[1]), "a study is the same after it was written with all its defaults"
    return spaces[0]


@pytest.mark.parametrize(
    ("tune", "key", "levels"),
    [
        ({"batch_factors": [0.25, 0.5]}, "batch_size", (16, 4, 8)),
        ({"largest_batch": 16}, "batch_size", (16, 8)),
        ({"fewest_steps": 10}, "batch_size", (16, 8, 32, 64)),
        ({"accumulation_steps": [8]}, "accumulation_steps", (1, 8)),
        ({"workers": [0, 4]}, "input.workers", (0, 4)),
        ({"bucket_cap_mb": [0.5, 50]}, "ddp.bucket_cap_mb", (25, 0.5, 50)),
        ({"sharding": ["fsdp-full"]}, "sharding", ("ddp", "fsdp-full")),
        ({"also": {"compile": [True]}}, "compile", (False, True)),
    ],
)
def test_the_study_bounds_what_is_searched(tune: dict[str, Any], key: str, levels: tuple[Any, ...]) -> None:
    """The present value is always among those tried. No other key changes."""
    found = keys(bounded(**tune))
    assert found[key] == levels
    usual = keys(space_of())
    assert {name: one for name, one in found.items() if name != key} == {
        name: one for name, one in usual.items() if name != key
    }


@pytest.mark.parametrize(
    ("width", "sizes"),
    [
        (64, (0.001, 25)),  # less than 1 MiB: one bucket with the default size too
        (600, (1, 5, 25)),  # 2.9 MiB: two or more with the default size, one with 5 MiB
        (4096, (1, 5, 25, 100)),  # 133 MiB
    ],
)
def test_sizes_of_buckets_are_tried_where_they_change_the_buckets(width: int, sizes: tuple[float, ...]) -> None:
    content = deepcopy(STUDY)
    content["workloads"]["mlp"]["model"] = {"type": "mlp", "widths": [width, width, width]}
    if width == 64:
        content["variants"]["ddp"]["ddp"] = {"bucket_cap_mb": 0.001}
    found = keys(make_space(Target.of(parse_study(content, source="x"), "mlp", "ddp", "1x2"), levels={}))
    assert set(found["ddp.bucket_cap_mb"]) == set(sizes)


def test_a_key_that_the_study_holds_is_searched_where_the_command_asks_for_it() -> None:
    space = bounded(hold=["precision", "input.workers"])
    assert {"precision", "input.workers"}.isdisjoint(keys(space))
    assert space.held["precision"] == "tune.hold"
    assert keys(bounded(hold=["precision"], levels={"precision": ["bf16"]}))["precision"] == ("fp32", "bf16")


def test_values_of_the_command_take_the_place_of_the_study_s() -> None:
    assert keys(bounded(workers=[0, 4], levels={"input.workers": [2]}))["input.workers"] == (0, 2)
    assert keys(bounded(largest_batch=16, levels={"batch_size": [32]}))["batch_size"] == (16, 32)


def test_bounds_of_what_a_target_does_not_take_are_left_out() -> None:
    assert "ddp.bucket_cap_mb" not in keys(bounded("1x1", bucket_cap_mb=[5]))
    tune = {"precision": ["bf16"], "also": {"compile": [True]}, "largest_batch": 64}
    space = make_space(
        Target.of(parse_study(COMMAND | {"tune": tune}, source="x"), "script", None, "1x2"), levels={}
    )
    assert keys(space) == {"batch_size": (32, 16, 64)}
    assert space.held["compile"] == "the command has no placeholder for it"


@pytest.mark.parametrize(
    ("tune", "said"),
    [
        ({"workers": [-1]}, "tune.workers.0: 0 or more is expected, not -1"),
        (
            {"precision": ["fp64"]},
            "tune.precision.0: 'fp32', 'tf32', 'bf16' or 'fp16' is expected, not 'fp64'",
        ),
        ({"bucket_cap_mb": []}, "tune.bucket_cap_mb: at least 1 is needed, and there is none"),
        ({"accumulation_steps": [2, 2]}, "tune.accumulation_steps: each may be listed once; repeated: 2"),
        ({"largest_batch": 0}, "tune.largest_batch: 1 or more is expected, not 0"),
        ({"batch_factor": [2]}, "tune.batch_factor: unknown key; did you mean batch_factors?"),
        ({"also": {"bucket": [1]}}, "tune.also: bucket: no such key; keys are batch_size, sharding"),
        ({"also": {"strategy": ["fsdp"]}}, "tune.also: strategy: no such key; use sharding"),
        ({"also": {"precision": ["bf16"]}}, "tune.also: precision: give its values by tune.precision"),
        ({"hold": ["bucket"]}, "tune.hold: bucket: no such key"),
        ({"hold": ["input.workers"], "workers": [4]}, "tune.hold: input.workers: it has values in tune.workers"),
    ],
)
def test_bad_bounds_are_refused_by_their_key(tune: dict[str, Any], said: str) -> None:
    with pytest.raises(RefusedStudyError) as error:
        parse_study(STUDY | {"tune": tune}, source="test")
    assert said in str(error.value)


@pytest.mark.parametrize(
    ("tune", "said"),
    [
        ({"also": {"ddp.communication_hook": ["bf16"]}}, "tune.also.ddp.communication_hook: bf16 cannot be run: "),
        ({"accumulation_steps": [1, 999]}, "tune.accumulation_steps: 999 cannot be run: "),
        (
            {"batch_factors": [8], "fewest_steps": 1},
            "tune.batch_factors: 128 is more than 4 times the largest",
        ),
    ],
)
def test_a_bound_that_no_setting_can_run_with_is_named_by_its_key(tune: dict[str, Any], said: str) -> None:
    with pytest.raises(UserError) as error:
        bounded(**tune)
    assert said in str(error.value)


def test_the_command_reads_the_bounds_of_the_study(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("study.yaml").write_text(yaml.safe_dump(STUDY | {"tune": {"workers": [3], "hold": ["precision"]}}))
    assert main(["tune", "study.yaml", "--budget", "0.5", "--dry-run"]) == 0
    said = capsys.readouterr().out
    assert "input.workers       0 (now), 3" in said
    assert "precision is held: tune.hold" in said
    Path("study.yaml").write_text(yaml.safe_dump(STUDY | {"tune": {"workers": [-3]}}))
    assert main(["tune", "study.yaml", "--budget", "0.5", "--dry-run"]) == 2
    assert "tune.workers.0: 0 or more is expected" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("epochs", "said"),
    [
        (2, "only if its accuracy is shown to be kept"),
        (0, "accuracy is not measured, so its value at another batch"),
    ],
)
def test_what_becomes_of_the_accuracy_is_said_before_anything_is_launched(
    place: Path, capsys: pytest.CaptureFixture[str], epochs: int, said: str
) -> None:
    workload = STUDY["workloads"]["mlp"] | {"epochs": epochs}
    Path("study.yaml").write_text(yaml.safe_dump(STUDY | {"workloads": {"mlp": workload}}))
    options = ["--goal", "epoch_time", "--budget", "0.5", "--dry-run", "--try", "batch_size=8"]
    assert main(["tune", "study.yaml", *options]) == 0
    assert said in capsys.readouterr().out
