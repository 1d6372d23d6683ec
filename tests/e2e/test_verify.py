"""Advice is tried: its study is made, run by Snakemake, scored, and not run again."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml
from conftest import handlers_kept, small_content
from scalestudy.cli.inputs import plan_of, table_of
from scalestudy.cli.stage.observations import aggregate
from scalestudy.diagnose.findings import Finding, FindingsFile, Recommendation
from scalestudy.diagnose.study import diagnose_study
from scalestudy.launch.run import measure_run
from scalestudy.publish.numbers.model import NumbersFile
from scalestudy.record.document import read_document, write_document
from scalestudy.record.files import write_json
from scalestudy.study.config.load import parse_study
from scalestudy.study.plan import make_plan
from scalestudy.verify.model import VerificationFile
from shells import in_shell

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
SELDOM = Recommendation(
    id="save_less_often",
    change="Write a checkpoint every 10 steps.",
    patch={"variants": {"ddp": {"checkpoint_every_steps": 10}}},
    unpredicted="it is a test.",
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
    finding = Finding(cause="checkpointing", explanation="", evidence=(), refuted_by="", recommendations=(SELDOM,))
    only = tuple(one.model_copy(update={"findings": (finding,)}) for one in diagnoses)
    write_document(results / "findings.json", FindingsFile(study="small", diagnoses=only))
    return folder


def test_a_budget_of_nothing_runs_nothing_and_says_so(place: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copytree(place, tmp_path / "copy"))
    said = in_shell("scalestudy verify --results results/small --budget 0", copy)
    assert "0 pieces of advice tried" in said
    assert "device-hours, and 0 are left" in " ".join(said.split())
    assert [path.name for path in (copy / "results").iterdir()] == ["small"]


def test_advice_is_tried_scored_and_not_run_again(place: Path) -> None:
    said = in_shell("scalestudy verify --results results/small", place)
    name = "small-mlp-ddp-save-less-often"
    file = place / f"results/small/verification/{name}.yaml"
    assert f"{file.relative_to(place)}: 6 launches at the most" in said
    assert set(yaml.safe_load(file.read_text())["variants"]) == {"single", "ddp", "ddp-after"}
    (found,) = read_document(place / "results/small/verification.json", VerificationFile).verified
    assert found.verdict != "refuted", found.reason
    assert found.gain.value > 1
    assert found.quantities["speedup"].after.value > found.quantities["speedup"].before.value
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
    assert "3 launches at the most" in in_shell("scalestudy verify --results results/small --dry-run", tmp_path)
    file.write_text(yaml.safe_dump(content | {"study": "other"}))
    said = in_shell("scalestudy verify --results results/small --dry-run || true", tmp_path)
    assert f"keep the name {file.stem}" in said
    assert "Traceback" not in said
    # One that cannot be run here is listed, and ends nothing else.
    file.write_text(yaml.safe_dump(content | {"host": content["host"] | {"cores_per_rank": 4096}}))
    in_shell("scalestudy verify --results results/small --keep-going", tmp_path)
    found = read_document(copy / "verification.json", VerificationFile)
    assert not found.verified
    assert [item.why.partition(";")[0] for item in found.left_out] == ["Snakemake ended with 1"]
    assert "ended=1" in in_shell("scalestudy verify --results results/small || echo ended=$?", tmp_path)


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
