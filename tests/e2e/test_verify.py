"""Advice is tried: its study is written, run by Snakemake, scored, and not run again."""

from __future__ import annotations

import shutil
import signal
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml
from conftest import handlers_kept, small_content, wait_for
from killed import kill_alone, left_in_temporary, nothing_left, of_place, start
from scalestudy.cli.results.inputs import plan_of, table_of
from scalestudy.cli.stage.observations import aggregate
from scalestudy.diagnose.findings import FindingsFile, Recommendation
from scalestudy.diagnose.study import diagnose_study
from scalestudy.launch.run import measure_run
from scalestudy.publish.numbers.model import NumbersFile
from scalestudy.record.document import read_document, write_document
from scalestudy.record.files import write_json
from scalestudy.record.observation import RunRecord, read_record
from scalestudy.study.config.load import parse_study
from scalestudy.study.plan import make_plan
from scalestudy.verify.model import VerificationFile
from shells import in_shell
from tried_advice import SELDOM, only_seldom

WIDE = {"type": "mlp", "hidden_dim": 512, "num_layers": 3}
MEASURE = {
    "probe_rounds": 0,
    "floor": False,
    "warmup_steps": 2,
    "max_warmup_steps": 2,
    "min_steps": 20,
    "max_steps": 20,
}
STUDY: dict[str, Any] = small_content(
    study="small",
    scales=["1x2"],
    # Written at every step, which takes longer than the step.
    variants={"single": {"strategy": "single"}, "ddp": {"strategy": "ddp", "checkpoint_every_steps": 1}},
    host={"device": "cpu", "start": "fork"},
    measure=MEASURE,
    report={"overhead_reference": False, "forecast_scales": []},
)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the results of a small study whose only advice is to save less often."""
    folder = tmp_path_factory.mktemp("verify")
    results = folder / "results/small"
    STUDY["workloads"]["mlp"] |= {"model": WIDE, "epochs": 0, "scaling": ["strong"]}
    plan = make_plan(parse_study(STUDY, source="test"))
    write_json(results / "plan.json", plan.model_dump(mode="json"))
    with handlers_kept():
        for spec in plan.runs.values():
            measure_run(spec, results, limits=plan.study.limits)
    aggregate(results)
    diagnoses = diagnose_study(
        plan_of(results).study, table_of(results, "summary"), table_of(results, "forecasts")
    )
    write_document(results / "findings.json", FindingsFile(study="small", diagnoses=only_seldom(diagnoses)))
    return folder


def test_a_budget_of_nothing_runs_nothing_and_says_so(place: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copytree(place, tmp_path / "copy"))
    said = in_shell("scalestudy verify --results results/small --budget 0", copy)
    assert "0 pieces of advice tried" in said
    assert "device-hours, and the budget has 0 left" in " ".join(said.split())
    assert [path.name for path in (copy / "results").iterdir()] == ["small"]


def test_advice_is_tried_scored_and_not_run_again(place: Path) -> None:
    said = in_shell("scalestudy verify --results results/small", place)
    name = "small-mlp-ddp-save-less-often"
    file = place / f"results/small/verification/{name}.yaml"
    assert f"{file.relative_to(place)}: at most 6 runs" in said
    assert set(yaml.safe_load(file.read_text())["variants"]) == {"single", "ddp", "ddp-after"}
    (found,) = read_document(place / "results/small/verification.json", VerificationFile).verified
    # Two repeats beside other load leave a wide interval: only that a gain is not excluded follows from them.
    assert found.verdict != "refuted", found.reason
    assert found.gain.low <= found.gain.value <= found.gain.high
    assert found.gain.high > 1
    (row,) = pd.read_csv(place / "results/small/verification.csv").to_dict("records")
    assert row["verdict"] == found.verdict
    in_shell("scalestudy stage numbers --results results/small", place)
    numbers = read_document(place / "results/small/numbers.json", NumbersFile)
    after = "mlp.ddp.strong.n2.verified.checkpointing.save_less_often.after"
    assert numbers.numbers[f"{after}.speedup"].value == found.quantities["speedup"].after.value
    assert set(numbers.launches(numbers.points[after].runs)) == set(found.after.runs)
    assert not set(found.after.runs) & set(plan_of(place / "results/small").runs), "not of what led to the advice"
    records = {path: path.stat().st_mtime_ns for path in place.glob("results/*/runs/*/run.json")}
    assert len(records) == 4 + 6
    again = in_shell("scalestudy verify --results results/small", place)
    assert again.splitlines()[-6:] == said.splitlines()[-6:]
    assert {path: path.stat().st_mtime_ns for path in place.glob("results/*/runs/*/run.json")} == records


@pytest.mark.slow
def test_an_edited_trial_is_run_as_it_was_edited_and_under_its_name(place: Path, tmp_path: Path) -> None:
    copy = Path(
        shutil.copytree(
            place / "results/small", tmp_path / "results/small", ignore=shutil.ignore_patterns("verification*")
        )
    )
    in_shell("scalestudy verify --results results/small --dry-run", tmp_path)
    (file,) = (copy / "verification").glob("*.yaml")
    content = yaml.safe_load(file.read_text())
    file.write_text(yaml.safe_dump(content | {"repeats": 1, "max_repeats": 1}))
    assert "at most 3 runs" in in_shell("scalestudy verify --results results/small --dry-run", tmp_path)
    file.write_text(yaml.safe_dump(content | {"study": "other"}))
    said = in_shell("scalestudy verify --results results/small --dry-run || true", tmp_path)
    assert f"keep the name {file.stem}" in said
    assert "Traceback" not in said
    # One that cannot be run here is listed, and ends nothing else.
    file.write_text(yaml.safe_dump(content | {"host": content["host"] | {"cores_per_rank": 999}}))
    in_shell("scalestudy verify --results results/small --keep-going", tmp_path)
    found = read_document(copy / "verification.json", VerificationFile)
    assert not found.verified
    assert [item.why.partition(";")[0] for item in found.left_out] == ["Snakemake failed with exit status 1"]
    assert "ended=1" in in_shell("scalestudy verify --results results/small || echo ended=$?", tmp_path)


@pytest.mark.parametrize(
    "signum",
    [
        pytest.param(
            signum,
            id=signum.name,
            marks=[
                pytest.mark.fault(
                    fault=f"{signum.name} to `scalestudy verify` alone",
                    moment="block",
                    outcome="not recorded",
                    kept="every finished run and the chosen trials",
                    next_call="measures the missing runs",
                ),
                pytest.mark.slow,  # one call that is killed alone is in test_killed_alone.py
            ],
        )
        for signum in (signal.SIGKILL, signal.SIGTERM, signal.SIGHUP)
    ],
)
def test_a_trial_ends_with_a_call_that_is_killed_alone(
    place: Path, tmp_path: Path, signum: signal.Signals
) -> None:
    """Snakemake of the trial, its shell, the launcher, torchrun and the ranks; then the same command goes on."""
    ignored = shutil.ignore_patterns("verification*")
    copy = Path(shutil.copytree(place / "results/small", tmp_path / "results/small", ignore=ignored))
    in_shell("scalestudy verify --results results/small --dry-run", tmp_path)
    (file,) = (copy / "verification").glob("*.yaml")
    text = file.read_text()
    content = yaml.safe_load(text)
    endless = content["measure"] | {"min_steps": 100_000, "max_steps": 100_000}
    file.write_text(yaml.safe_dump(content | {"measure": endless}))
    (tmp_path / "tmp").mkdir()
    process = start(tmp_path, "verify", "--results", "results/small")
    wait_for(lambda: list(tmp_path.glob("results/*/runs/.partial/*/progress.json")))
    assert any("snakemake" in words for words in of_place(tmp_path).values())
    kill_alone(process, signum)
    wait_for(lambda: nothing_left(tmp_path), seconds=60)
    assert left_in_temporary(tmp_path) == []
    assert not list(tmp_path.glob("results/small-*/runs/*/run.json"))
    assert not list((tmp_path / ".snakemake/locks").glob("*")), "the trial's Snakemake ended in order"
    file.write_text(text)
    in_shell("scalestudy verify --results results/small", tmp_path)
    assert {one.outcome for one in launches_of_trial(tmp_path).values()} == {"ok"}
    assert len(read_document(copy / "verification.json", VerificationFile).verified) == 1


@pytest.mark.slow
def test_a_patch_of_ours_that_is_refused_is_one_line_and_loses_no_trial(place: Path, tmp_path: Path) -> None:
    """The first advice is refused by the schema, which is our mistake. The next one is tried, scored and kept."""
    folder = Path(
        shutil.copytree(
            place / "results/small", tmp_path / "results/small", ignore=shutil.ignore_patterns("verification*")
        )
    )
    refused = Recommendation(
        id="ours", change="Do it.", patch={"variants": {"ddp": {"ddp": {"bucket_cap_mb": 0}}}}
    )
    findings = read_document(folder / "findings.json", FindingsFile)
    both = [
        finding.model_copy(update={"recommendations": (refused, SELDOM)})
        for finding in findings.diagnoses[0].findings
    ]
    only = (findings.diagnoses[0].model_copy(update={"findings": tuple(both)}),)
    write_document(folder / "findings.json", FindingsFile(study="small", diagnoses=only))
    said = in_shell("scalestudy verify --results results/small 2>&1 || echo ended=$?", tmp_path)
    assert "Traceback" not in said
    (line,) = [line for line in said.splitlines() if line.startswith("scalestudy: defect: ")]
    assert "(finding checkpointing, advice ours): variants.ddp-after.ddp.bucket_cap_mb: " in line
    assert said.rstrip().endswith("ended=1")
    found = read_document(folder / "verification.json", VerificationFile)
    assert [one.trial.advice for one in found.verified] == ["save_less_often"]
    assert ["defect of scalestudy" in item.why for item in found.left_out] == [True]
    in_shell("scalestudy verify --results results/small --keep-going", tmp_path)
    in_shell("scalestudy verify --results results/small --keep-going --dry-run", tmp_path)


def too_cheap(place: Path, tmp_path: Path) -> tuple[Path, float]:
    """(a copy of the study whose table has 1/100 of the time of each run, mean device-hours of a run)."""
    copy = Path(
        shutil.copytree(
            place / "results/small", tmp_path / "results/small", ignore=shutil.ignore_patterns("verification*")
        )
    )
    runs = pd.read_csv(copy / "runs.csv")
    hours = float((runs["wall_time_s"] * runs["world_size"]).mean()) / 3600
    runs.assign(wall_time_s=runs["wall_time_s"] / 100).to_csv(copy / "runs.csv", index=False)
    (copy / "checksums.json").unlink()  # an edited table is refused
    return copy, hours


def launches_of_trial(tmp_path: Path) -> dict[str, RunRecord]:
    (trial,) = (path for path in (tmp_path / "results").iterdir() if path.name != "small")
    return {path.parent.name: read_record(path.parent) for path in sorted(trial.glob("runs/*/run.json"))}


def taken_hours(records: dict[str, RunRecord]) -> list[float]:
    """Device-hours of the runs, without those that were not needed."""
    made = [one for one in records.values() if one.outcome != "unneeded"]
    return [one.totals.wall_time_s * one.spec.world_size / 3600 for one in made]


@pytest.mark.slow  # beside other load all runs may be shorter than the mean that the budget is made of
def test_a_budget_that_ends_half_way_begins_no_further_launch_and_what_was_measured_counts(
    place: Path, tmp_path: Path
) -> None:
    """Two repeats of three runs were thought to cost a hundredth: the budget ends them within one run."""
    copy, hours = too_cheap(place, tmp_path)
    budget = 3.2 * hours  # the first repeat has one run of one rank and two of two
    in_shell(f"scalestudy verify --results results/small --budget {budget}", tmp_path)
    records = launches_of_trial(tmp_path)
    assert len(records) == 6
    took = taken_hours(records)
    assert 3 <= len(took) < 6
    assert sum(took) < budget + max(took)
    assert {one.outcome for one in records.values() if one.spec.repeat == 1} == {"ok"}
    reasons = {one.reason for one in records.values() if one.outcome == "unneeded"}
    assert all("the trial's budget is spent" in reason for reason in reasons)
    (found,) = read_document(copy / "verification.json", VerificationFile).verified
    assert found.verdict == "undecided"
    assert "the budget ended after 1 repeat" in found.reason
    assert found.gain.value > 0
    # As docs/verify.md says how to continue.
    name = found.trial.id
    in_shell(f"scalestudy retry results/{name} --outcome unneeded", tmp_path)
    in_shell(f"scalestudy run --study results/small/verification/{name}.yaml", tmp_path)
    in_shell("scalestudy verify --results results/small", tmp_path)
    again = launches_of_trial(tmp_path)
    assert len(again) == 6 and {one.outcome for one in again.values()} == {"ok"}
    assert {run: one for run, one in records.items() if one.outcome == "ok"}.items() <= again.items()
    (found,) = read_document(copy / "verification.json", VerificationFile).verified
    assert "budget" not in found.reason


@pytest.mark.slow
def test_a_budget_that_ends_in_the_first_repeat_keeps_its_launches_for_a_larger_one(
    place: Path, tmp_path: Path
) -> None:
    copy, hours = too_cheap(place, tmp_path)
    in_shell(f"scalestudy verify --results results/small --budget {0.5 * hours}", tmp_path)
    first = launches_of_trial(tmp_path)
    assert len(first) == 1, "one launch is as much as the budget may be exceeded by"
    left = read_document(copy / "verification.json", VerificationFile)
    assert not left.verified
    assert "the budget was spent before its first repeat was complete" in left.left_out[0].why
    in_shell(f"scalestudy verify --results results/small --budget {50 * hours}", tmp_path)
    records = launches_of_trial(tmp_path)
    assert len(records) == 6 and {one.outcome for one in records.values()} == {"ok"}
    assert first.items() <= records.items()
    assert len(read_document(copy / "verification.json", VerificationFile).verified) == 1
