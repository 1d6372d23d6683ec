"""`scalestudy tune` with runs of its own: it finds what is slow, repeats nothing, and ends with a study."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml
from conftest import mlp_workload, small_content
from scalestudy.cli.search.tune_launches import LiveLaunches
from scalestudy.record.document import read_document
from scalestudy.registry.words.points import spoiled_by
from scalestudy.study.config.load import load_study, parse_study
from scalestudy.study.plan import make_plan
from scalestudy.tune.model import TuneFile
from scalestudy.tune.space import make_space
from scalestudy.tune.target import Target
from shells import in_shell

NAME = "small-tune-mlp-ddp-1x2-epoch-time"
STUDY: dict[str, Any] = small_content(
    # Eight passes of two samples, which take several times as long as one pass of sixteen.
    variants={"single": {"strategy": "single"}, "ddp": {"strategy": "ddp", "accumulation_steps": 8}},
    workloads={"mlp": mlp_workload(model={"type": "mlp", "hidden_dim": 128, "num_layers": 3}, epochs=2)},
    host={"device": "cpu", "start": "fork"},
    measure={"warmup_steps": 2, "max_warmup_steps": 2, "min_steps": 20, "max_steps": 20},
    time_limit_min=2,
)
COMMAND = (
    "scalestudy tune study.yaml --goal epoch_time --budget 0.03 --seed 2"
    " --try accumulation_steps=1,8 --hold batch_size precision input.workers ddp.bucket_cap_mb sharding"
)


@pytest.mark.alone  # which setting is faster is judged by its times
def test_a_search_ends_with_a_study_and_goes_on_from_its_records(tmp_path: Path) -> None:
    (tmp_path / "study.yaml").write_text(yaml.safe_dump(STUDY))
    said = in_shell(f"{COMMAND} || echo ended=$?", tmp_path)
    folder = tmp_path / "results" / NAME
    found = read_document(folder / "tuning.json", TuneFile)
    assert found.settings == 2
    assert found.device_time_s <= 0.03 * 3600
    spoiled = {code: None for one in found.launches for code in one.spoiled}  # if the host was not ours alone
    if spoiled:
        assert f"measured {spoiled_by(' '.join(spoiled))}" in " ".join(said.split())
    if found.answer is None:
        busy = spoiled or "the host is busy" in said  # waiting for a quiet moment takes of the budget
        assert busy, said
        assert "ended=1" in said, said
    elif found.answer["accumulation_steps"] == 8:
        assert spoiled and "No setting is shown to be better than the present one." in said, said
        assert all(one.gain.low < 1 for one in found.finalists), said
    else:
        is_a_study_of_the_final_blocks(found, folder, said)

    records = {path: path.stat().st_mtime_ns for path in folder.glob("runs/*/run.json")}
    again = in_shell(f"{COMMAND} || true", tmp_path)
    assert {path: path.stat().st_mtime_ns for path in folder.glob("runs/*/run.json")} == records
    assert "(recorded before)" in again
    assert read_document(folder / "tuning.json", TuneFile).answer == found.answer
    assert not (folder / "tuned-2.yaml").exists()


def is_a_study_of_the_final_blocks(found: TuneFile, folder: Path, said: str) -> None:
    """The answer is the faster setting, and its study has the runs that were made."""
    assert found.finalists[0].gain.low > 1
    assert f"study file: results/{NAME}/tuned.yaml" in said

    table = pd.read_csv(folder / "tuning.csv")
    assert list(table["run_id"]) == [one.run_id for one in found.launches]
    assert {path.name for path in (folder / "runs").iterdir() if path.name != ".partial"} == set(table["run_id"])

    study = load_study(folder / "tuned.yaml")
    won = {point.variant for point in make_plan(study).points} - {"single", "ddp"}
    assert len(won) == 1
    assert study.variants[won.pop()].accumulation_steps == 1
    final = {one.run_id for one in found.launches if one.kind == "whole"}
    blocks = {one.repeat for one in found.launches if one.kind == "whole"}
    planned = {
        run for run, spec in make_plan(study).runs.items() if spec.repeat in blocks and spec.world_size == 2
    }
    assert planned <= final, "the study's runs are those of the final blocks"


BURN = """\
import pathlib, sys, time
aside, end = pathlib.Path(sys.argv[1]), time.monotonic() + 120
while time.monotonic() < end and not aside.exists():
    for _ in range(10**6):
        pass
"""


@pytest.mark.alone  # another test beside it would be other load too
def test_a_launch_beside_other_load_is_set_aside_and_made_once_more(tmp_path: Path) -> None:
    """Two busy processes end when the run is set aside, and the second run has the host to itself."""
    target = Target.of(parse_study(STUDY, source="test"), "mlp", "ddp", "1x2")
    space = make_space(target, levels={"accumulation_steps": [1, 8]}, hold=[])
    launches = LiveLaunches(space, NAME, tmp_path / NAME, tmp_path / "data")
    aside = tmp_path / NAME / "superseded"
    burning = [subprocess.Popen([sys.executable, "-c", BURN, str(aside)]) for _ in range(2)]
    try:
        one = launches.make(space.present, "short", 1, left_s=200.0, rung=0, block=0)
    finally:
        for process in burning:
            process.kill()
            process.wait()
    first = next(aside.iterdir())
    assert (tmp_path / NAME / "runs" / one.run_id / "run.json").exists()
    records = [
        json.loads((path / "run.json").read_text()) for path in (first, launches.folder / "runs" / one.run_id)
    ]
    walls_s = [record["totals"]["wall_time_s"] for record in records]
    assert one.device_time_s == pytest.approx(2 * sum(walls_s))
    known = launches.make(space.present, "short", 1, left_s=200.0, rung=0, block=0)
    assert not known.measured_now
    assert known.device_time_s == one.device_time_s, "a search that is repeated makes the same choices"
    if one.spoiled:  # by another program, perhaps after the run began: its own load was gone
        (load,) = records[1]["environment"]["host_load"]["training"]
        assert load["others_cores"] > 0 or load["stolen_share"] > 0
