"""What runs again after a change: exactly what the change touches, and training only for what is measured."""

from __future__ import annotations

from pathlib import Path

from conftest import Checkout, planned, tiny_study
from scalestudy.record.parts import DATA_FILES

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


def test_an_edited_diagnosis_leaves_the_summary_alone(edited: Checkout) -> None:
    append(edited, PACKAGE / "diagnose/verdicts/judge.py", "\n\nANSWER = 42\n")
    jobs = plan_after(edited)
    assert jobs["diagnose_study"] == 1
    assert "aggregate_runs" not in jobs
    assert training(jobs) == 0


def test_other_behaviour_of_the_training_code_measures_everything_again(edited: Checkout) -> None:
    append(edited, PACKAGE / "train/loop.py", "\n\nANSWER = 42\n")
    assert training(plan_after(edited)) == 4


def test_an_edited_workload_measures_exactly_its_own_runs(edited: Checkout) -> None:
    study = tiny_study()
    study["workloads"]["first"]["optimizer"]["learning_rate"] = 0.06
    edited.configure(study)
    output = edited.run("snakemake", "-n").stdout
    assert training(planned(output)) == 2
    assert "runs/first-" in output
    assert "output: results/tiny/runs/second-" not in output


def test_words_and_limits_measure_nothing(edited: Checkout) -> None:
    study = tiny_study() | {"description": "Other words.", "time_limit_min": 3}
    study["report"] = {"overhead_reference": False, "confidence": 0.9}
    edited.configure(study)
    jobs = plan_after(edited)
    assert jobs["aggregate_runs"] == 1
    assert training(jobs) == 0


def test_more_repeats_keep_the_runs_that_are_there(edited: Checkout) -> None:
    edited.configure(tiny_study() | {"repeats": 2})
    assert training(plan_after(edited)) == 4  # the second launch of each of four points


def test_another_study_does_not_disturb_this_one(edited: Checkout) -> None:
    jobs = plan_after(edited, "--config", "study=other")
    assert training(jobs) == 4
    assert plan_after(edited) == {}


def test_a_forced_rerun_keeps_what_was_measured(edited: Checkout) -> None:
    """`snakemake --forceall` makes all anew; the launches are there and stay."""
    runs = edited.root / "results/tiny/runs"
    before = {path: path.read_bytes() for path in sorted(runs.glob("*/*"))}
    edited.run("snakemake", "--forceall", "results/tiny/performance_report.txt")
    assert {path: path.read_bytes() for path in sorted(runs.glob("*/*"))} == before


def test_changed_training_code_sets_the_old_run_aside(edited: Checkout) -> None:
    """Nothing measured is lost: the old observation is moved, whole, and the new one takes its place."""
    append(edited, PACKAGE / "train/loop.py", "\n\nANSWER = 42\n")
    results = edited.root / "results/tiny"
    run = next(results.glob("runs/first-single-*"))
    before = (run / "run.json").read_bytes()
    edited.run("snakemake", str((run / "run.sha256").relative_to(edited.root)))
    kept = list(results.glob(f"superseded/{run.name}.*/run.json"))
    assert [path.read_bytes() for path in kept] == [before]
    # Snakemake removes the output of a job that runs again; what it knows the run by is all that it can remove.
    assert {path.name for path in kept[0].parent.iterdir()} == {*DATA_FILES, "run.json"}
    assert (run / "run.json").read_bytes() != before
