"""What runs again after a change: only what depends on it, and training only if the measurement changes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from conftest import Checkout, finished_study, planned
from scalestudy.record.parts import DATA_FILES
from scalestudy.record.voucher import VOUCHER

PACKAGE = Path("workflow/scalestudy")


def plan_after(checkout: Checkout, *arguments: str) -> dict[str, int]:
    return planned(checkout.run("snakemake", "-n", *arguments).stdout)


def append(checkout: Checkout, path: Path | str, text: str) -> None:
    with (checkout.root / path).open("a", encoding="utf-8") as handle:
        handle.write(text)


def training(jobs: dict[str, int]) -> int:
    return jobs.get("train_baseline", 0) + jobs.get("train_distributed", 0)


def test_a_finished_study_has_nothing_to_do(finished: Checkout) -> None:
    assert plan_after(finished) == {}


def test_an_edited_template_renders_again_and_a_comment_in_the_training_code_changes_nothing(
    edited: Checkout,
) -> None:
    append(edited, "report/templates/performance_report.txt", "\nOne more line.\n")
    append(edited, PACKAGE / "train/loop.py", "\n# a comment\n")
    jobs = plan_after(edited)
    assert jobs == {"write_text_report": 1, "report": 1}
    edited.run("snakemake", "results/tiny/performance_report.txt")
    text = (edited.root / "results/tiny/performance_report.txt").read_text()
    assert text.endswith("One more line.\n")


def test_an_edited_analysis_aggregates_again_and_trains_nothing(edited: Checkout) -> None:
    append(edited, PACKAGE / "analyse/point/scaling.py", "\n\nANSWER = 42\n")
    jobs = plan_after(edited)
    assert jobs["aggregate_runs"] == 1
    assert training(jobs) == 0


@pytest.mark.slow
def test_an_edited_diagnosis_leaves_the_summary_alone(edited: Checkout) -> None:
    append(edited, PACKAGE / "diagnose/verdicts.py", "\n\nANSWER = 42\n")
    jobs = plan_after(edited)
    assert jobs["diagnose_study"] == 1
    assert "aggregate_runs" not in jobs
    assert training(jobs) == 0


@pytest.mark.slow
def test_a_comment_in_the_training_code_changes_nothing(edited: Checkout) -> None:
    append(edited, PACKAGE / "train/loop.py", "\n# a comment\n")
    assert plan_after(edited) == {}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        pytest.param("but no CUDA device is visible", "yet no CUDA device is visible", marks=pytest.mark.slow),
        pytest.param("available", "usable", marks=pytest.mark.slow),
        pytest.param("Where a rank runs", "The place of a rank", marks=pytest.mark.slow),
    ],
    ids=["an error message", "a local variable", "a docstring"],
)
def test_edited_training_code_measures_nothing_again(edited: Checkout, old: str, new: str) -> None:
    path = edited.root / PACKAGE / "train/place/placement.py"
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")
    assert plan_after(edited) == {}


def test_an_edited_workload_measures_exactly_its_own_runs(edited: Checkout) -> None:
    study = finished_study()
    study["workloads"]["first"]["optimizer"]["learning_rate"] = 0.06
    edited.configure(study)
    output = edited.run("snakemake", "-n").stdout
    assert training(planned(output)) == 2
    assert "runs/first-" in output
    assert "output: results/tiny/runs/second-" not in output


def test_words_and_limits_measure_nothing(edited: Checkout) -> None:
    study = finished_study() | {"description": "Other words.", "time_limit_min": 3}
    study["report"] = {"overhead_reference": False, "confidence": 0.9}
    edited.configure(study)
    jobs = plan_after(edited)
    assert jobs["aggregate_runs"] == 1
    assert training(jobs) == 0


def test_more_repeats_keep_the_runs_that_are_there(edited: Checkout) -> None:
    edited.configure(finished_study() | {"repeats": 2})
    assert training(plan_after(edited)) == 4  # the second run of each of four points


@pytest.mark.slow
def test_another_study_does_not_disturb_this_one(edited: Checkout) -> None:
    jobs = plan_after(edited, "--config", "study=other")
    assert training(jobs) == 4
    assert plan_after(edited) == {}


@pytest.mark.slow
def test_a_forced_rerun_keeps_what_was_measured(edited: Checkout) -> None:
    """`snakemake --forceall` repeats every rule; finished runs are kept."""
    runs = edited.root / "results/tiny/runs"
    before = {path: path.read_bytes() for path in sorted(runs.glob("*/*"))}
    edited.run("snakemake", "--forceall", "results/tiny/performance_report.txt")
    assert {path: path.read_bytes() for path in sorted(runs.glob("*/*"))} == before


PROTOCOL_4 = """
PROTOCOLS = (*PROTOCOLS, Protocol(4, "2027-01-01", "Steps are timed otherwise.", (EVERYTHING,)))
CURRENT = 4
"""


@pytest.mark.slow
def test_a_raised_protocol_measures_nothing_until_it_is_asked_for(edited: Checkout) -> None:
    """Nothing measured is lost: old observations are moved, whole, and new ones take their place."""
    results = edited.root / "results/tiny"
    before = {path.parent.name: path.read_bytes() for path in results.glob("runs/*/run.json")}
    append(edited, PACKAGE / "record/protocol.py", PROTOCOL_4)
    assert training(plan_after(edited)) == 0
    printed = " ".join(edited.run("scalestudy", "plan").stdout.split())
    assert "measured already: 4 runs Measured 4 by protocol 3; the current protocol is 4." in printed
    assert "Steps are timed otherwise. Not comparable with its predecessor: every column." in printed
    assert "scalestudy retry results/tiny --protocol" in printed

    assert "4 of 4 runs set aside" in edited.run("scalestudy", "retry", "results/tiny", "--protocol").stdout
    again = edited.run("scalestudy", "retry", "results/tiny", "--protocol", check=False)
    assert "results/tiny: no runs found" in again.stdout
    kept = {path.parent.name.split(".")[0]: path for path in results.glob("superseded/*/run.json")}
    assert {name: path.read_bytes() for name, path in kept.items()} == before
    assert {path.name for path in next(iter(kept.values())).parent.iterdir()} == {*DATA_FILES, "run.json", VOUCHER}
    assert training(plan_after(edited)) == 4
    run = next(name for name in before if name.startswith("first-single"))
    edited.run("snakemake", f"results/tiny/runs/{run}/run.sha256")
    assert json.loads((results / "runs" / run / "run.json").read_bytes())["protocol"] == 4
    assert training(plan_after(edited)) == 3
