"""What a search leaves: a study whose runs are those of the final blocks, a table, and a text."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml
from scalestudy.analyse.statistics.intervals import NOTHING
from scalestudy.cli.search.tune_costs import recorded_device_s, replaced_device_s
from scalestudy.cli.search.tune_launches import LiveLaunches
from scalestudy.cli.search.tuning import write_beside
from scalestudy.study.config.load import parse_study
from scalestudy.study.plan import make_plan
from scalestudy.tune.answer import answer_text, launches_frame
from scalestudy.tune.final import judge, winner
from scalestudy.tune.words import launch_line, sentence_of
from simulated_tuning import Simulated, race_of, simulated_space

SPACE = simulated_space()


def test_the_runs_of_the_answer_are_the_launches_of_the_final_blocks(tmp_path: Path) -> None:
    """Another batch and another precision: a workload and a variant beside the present ones."""
    won = winner(judge(race_of(SPACE, Simulated(seed=1), budget_s=400.0), NOTHING))
    assert won is not None
    assert won.setting["batch_size"] == 32
    study = parse_study(yaml.safe_load(answer_text(SPACE, "tuned", won, "It is better.")), source="answer")
    plan = make_plan(study)
    live = LiveLaunches(SPACE, "tuned", tmp_path, tmp_path)
    for setting in (SPACE.present, won.setting):
        for repeat in range(1, won.blocks + 1):
            assert live.spec(setting, "whole", repeat).run_id in plan.runs
        assert live.spec(setting, "short", 1).run_id not in plan.runs
    assert set(study.workloads) == {"mlp", "mlp-b32"}
    assert study.repeats == won.blocks


@pytest.mark.parametrize("setting", SPACE.settings[::17])
def test_a_setting_is_launched_as_it_says(setting: dict, tmp_path: Path) -> None:
    spec = LiveLaunches(SPACE, "tuned", tmp_path, tmp_path).spec(setting, "short", 1)
    assert spec.global_batch == setting["batch_size"]
    assert spec.precision == setting["precision"]
    assert spec.accumulation_steps == setting["accumulation_steps"]
    assert (spec.input.loader, spec.input.workers) == (
        ("dataloader", 1) if setting["input.workers"] else ("direct", 0)
    )
    assert spec.strategy == ("ddp" if setting["sharding"] == "ddp" else "fsdp")
    assert spec.ddp.bucket_cap_mb == setting.get("ddp.bucket_cap_mb", 25)
    assert (spec.epochs, spec.measure.probe_rounds) == (0, 0)


def test_a_look_is_the_present_setting_with_probes(tmp_path: Path) -> None:
    look = LiveLaunches(SPACE, "tuned", tmp_path, tmp_path).spec(SPACE.present, "look", 1)
    assert look.measure.probe_rounds > 0
    assert look.epochs == 2


def test_the_table_has_every_launch_and_the_worth_of_a_sample() -> None:
    race = race_of(SPACE, Simulated(seed=2, fails={"precision": ("bf16", "oom")}), budget_s=160.0)
    table = launches_frame(SPACE, tuple(race.made), 8.0)
    assert len(table) == len(race.made)
    large = table[(table["batch_size"] == 32) & (table["outcome"] == "ok")].iloc[0]
    assert large["sample_worth"] == pytest.approx(24 / 40)
    assert large["goodput_samples_per_s"] == pytest.approx(large["throughput_samples_per_s"] * 24 / 40)
    assert (table["outcome"] == "oom").any()
    lost = next(one for one in race.made if one.outcome == "oom")
    assert "OOM" in launch_line(SPACE, lost, race.per_s(lost))


def test_without_a_winner_the_sentence_says_why() -> None:
    assert sentence_of(SPACE, "goodput", None, "") == "No setting is shown to be better than the present one."
    assert sentence_of(SPACE, "goodput", None, "it broke") == "There is no answer: it broke."


def test_a_text_that_is_there_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "tuned.yaml"
    assert write_beside(path, "first") == path
    assert write_beside(path, "first") == path
    second = write_beside(path, "second")
    assert second.name == "tuned-2.yaml"
    assert write_beside(path, "second") == second
    assert path.read_text() == "first"


def test_runs_that_were_set_aside_count_towards_the_budget(tmp_path: Path) -> None:
    record = {"spec": {"nodes": 1, "devices_per_node": 2}, "environment": {}, "totals": {"wall_time_s": 1.5}}
    for place in ("runs/one", "superseded/two.2026"):
        (tmp_path / place).mkdir(parents=True)
        (tmp_path / place / "run.json").write_text(json.dumps(record))
    assert recorded_device_s(tmp_path) == pytest.approx(6.0)
    assert recorded_device_s(tmp_path / "none") == 0


def test_a_run_costs_what_the_disturbed_ones_cost_that_it_replaced(tmp_path: Path) -> None:
    """Not what another run cost, nor one that the end of the budget cut off, nor a damaged record."""
    record = {"spec": {"nodes": 1, "devices_per_node": 2}, "environment": {"held_devices": 4}}
    ended = {"one.1": ("ok", 1.5), "one.2": ("timeout", 8.0), "one-more.1": ("ok", 16.0), "one.3": ("ok", 2.0)}
    for place, (outcome, wall_time_s) in ended.items():
        (tmp_path / "superseded" / place).mkdir(parents=True)
        whole = json.dumps(record | {"outcome": outcome, "totals": {"wall_time_s": wall_time_s}})
        (tmp_path / "superseded" / place / "run.json").write_text(whole)
    assert replaced_device_s(tmp_path, "one") == pytest.approx(14.0)
    (tmp_path / "superseded" / "one.3" / "run.json").write_text('{"outcome": "ok", "spec": [')
    assert replaced_device_s(tmp_path, "one") == pytest.approx(6.0)
    assert replaced_device_s(tmp_path, "none") == 0


def test_a_launch_beside_other_load_is_said_so() -> None:
    race = race_of(SPACE, Simulated(seed=2), budget_s=160.0)
    one = race.made[0].model_copy(update={"spoiled": ("other_load", "throttled")})
    assert "(measured under other load on the host or with throttled clocks)" in launch_line(SPACE, one, 5.0)
    assert "measured" not in launch_line(SPACE, race.made[0], 5.0)
    table = launches_frame(SPACE, (one, race.made[1]), 8.0)
    assert list(table["spoiled"]) == ["other_load throttled", "none"]
