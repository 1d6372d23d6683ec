"""A study that was really run, on 1 and 2 ranks over gloo: its records, tables and documents."""

from __future__ import annotations

import json
import re
import zipfile
from pathlib import Path

import pandas as pd
import pytest
from browser import Page
from conftest import Checkout
from published_schemas import check_json
from scalestudy.analyse.run.steps import training_steps
from scalestudy.diagnose.findings import FindingsFile
from scalestudy.publish.typeset import missing_tex
from scalestudy.record.document import read_document
from scalestudy.record.observation import PART_COLUMNS, SCHEMA_VERSION
from scalestudy.record.tables import Observation, read_observation
from scalestudy.registry.figures import FIGURES, OF_WORKLOAD
from scalestudy.registry.files import FILES

ON_THE_PAGE = len(OF_WORKLOAD) - 1
"""Of a workload: with one scale none was forecast, and nothing is drawn beside it."""


@pytest.fixture(scope="module")
def results(finished: Checkout) -> Path:
    return finished.root / "results/tiny"


@pytest.fixture(scope="module")
def observations(results: Path) -> dict[tuple[str, int], Observation]:
    """Observations by workload and world size."""
    found = [read_observation(path.parent) for path in results.glob("runs/*/run.json")]
    return {(o.record.spec.workload, o.record.spec.world_size): o for o in found}


def test_every_launch_came_up_as_planned(observations: dict[tuple[str, int], Observation]) -> None:
    assert set(observations) == {("first", 1), ("first", 2), ("second", 1), ("second", 2)}
    for (_, world_size), observation in observations.items():
        record = observation.record
        assert record.outcome == "ok", record.reason
        assert [rank.rank for rank in record.ranks] == list(range(world_size))
        assert {rank.threads for rank in record.ranks} == {1}
        cores = [core for rank in record.ranks for core in rank.cores]
        assert len(cores) == len(set(cores)) == world_size, "one core of its own for every rank"
        assert record.environment["device_choice"].startswith("device: cpu")
        assert record.environment["backend"] == ("gloo" if world_size > 1 else None)
        totals = record.totals
        assert totals.wall_time_s > totals.training_wall_time_s > totals.train_time_s > 0
        assert totals.probe_wall_time_s > 0.01


def test_steps_are_complete_and_their_parts_add_up(observations: dict[tuple[str, int], Observation]) -> None:
    for (workload, world_size), observation in observations.items():
        steps, spec = training_steps(observation), observation.record.spec
        expected = spec.data.known_train_samples // spec.global_batch * spec.epochs
        assert len(steps) == expected * world_size, workload
        assert (steps.groupby("rank")["step"].nunique() == expected).all()
        assert (steps["samples"] == spec.batch_per_rank).all()
        parts = steps[list(PART_COLUMNS)]
        done = steps[["data_time_s", "forward_time_s", "backward_time_s", "optimizer_time_s", "remainder_time_s"]]
        assert (done > 0).all().all()
        absent = steps[["h2d_time_s", "logging_time_s", "checkpoint_time_s"]]
        assert (absent == 0).all().all(), "a CPU has nothing to copy to, and the study does neither of the others"
        assert parts.sum(axis=1).to_numpy() == pytest.approx(steps["step_time_s"].to_numpy())


@pytest.mark.parametrize("workload", ["first", "second"])
def test_two_ranks_learn_what_one_process_learns(
    observations: dict[tuple[str, int], Observation], workload: str
) -> None:
    """Strong scaling keeps the global batch and the order of samples, so only rounding changes the loss."""
    one, two = observations[workload, 1], observations[workload, 2]
    for column in ("train_loss", "validation_loss"):
        assert two.epochs[column].tolist() == pytest.approx(one.epochs[column].tolist(), rel=1e-4)
    mean_over_ranks = training_steps(two).groupby("step")["loss"].mean()
    assert mean_over_ranks.tolist() == pytest.approx(training_steps(one)["loss"].tolist(), rel=1e-3, abs=1e-4)


def test_the_baseline_has_neither_wrapper_nor_process_group(
    observations: dict[tuple[str, int], Observation],
) -> None:
    assert observations["first", 1].record.totals.gradient_bytes is None
    record = observations["first", 2].record
    assert record.totals.gradient_bytes == 4 * record.totals.parameters


def test_summary_says_what_the_runs_say(results: Path) -> None:
    summary = pd.read_csv(results / "comprehensive_summary.csv").set_index(["workload", "world_size"])
    runs = pd.read_csv(results / "runs.csv").set_index(["workload", "world_size"])
    scale = summary["gradient_noise_scale_samples"]
    assert (scale > 0).all(), "of a single launch, that of its own steps"
    assert (summary["gradient_noise_scale_samples_high"] >= scale).all()
    for workload in ("first", "second"):
        ratio = (
            runs.loc[(workload, 2), "throughput_samples_per_s"]
            / runs.loc[(workload, 1), "throughput_samples_per_s"]
        )
        assert summary.loc[(workload, 2), "speedup"] == pytest.approx(ratio)
        assert pd.isna(summary.loc[(workload, 2), "speedup_low"]), "one launch has no interval"


def test_text_report_is_readable_at_80_columns(results: Path) -> None:
    text = (results / "performance_report.txt").read_text(encoding="utf-8")
    assert max(map(len, text.splitlines())) <= 80
    assert text.isascii()
    assert "One run per point, so there are no intervals." in text
    assert "Total wall time of the runs: " in text
    for section in ("SUMMARY", "MEASUREMENTS", "FINDINGS", "METHOD AND CAVEATS", "ENVIRONMENT"):
        assert f"\n{section}\n" in text
    diagnoses = read_document(results / "findings.json", FindingsFile).diagnoses
    advised = any(one.recommendations or one.uncertain for one in diagnoses)
    assert ("\nRECOMMENDATIONS\n" in text) == advised, "it depends on what was measured"
    assert "nan" not in text.lower().replace("finance", "")


def test_numbers_in_the_text_are_those_of_the_summary(results: Path) -> None:
    text = (results / "performance_report.txt").read_text(encoding="utf-8")
    summary = pd.read_csv(results / "comprehensive_summary.csv")
    distributed = summary[summary["world_size"] == 2]
    head = " ".join(re.split(r"\n(?:RECOMMENDATIONS|MEASUREMENTS)\n", text)[0].split())
    printed = [float(number) for number in re.findall(r"speedup ([\d.]+)", head)]
    assert printed == pytest.approx(distributed["speedup"].tolist(), rel=6e-3)


def test_page_holds_everything_and_asks_for_nothing(results: Path, page: Page) -> None:
    text = (results / "report.html").read_text(encoding="utf-8")
    assert text.count('src="data:image/svg+xml,') == 2 * ON_THE_PAGE
    assert not re.search(r'(src|href)="(?!data:|#)', text)
    page.open(results / "report.html")
    assert page.problems + page.warnings == []
    assert {url.split(":")[0] for url in page.requests} == {"file", "data"}
    assert sum(url.startswith("file:") for url in page.requests) == 1
    assert page.get("[...document.images].filter(image => image.naturalWidth).length") == 2 * ON_THE_PAGE


def test_documents_for_latex_say_what_reproduces_them(results: Path) -> None:
    artifact = (results / "artifact_description.tex").read_text(encoding="utf-8")
    assert "4 runs, started" in artifact
    assert ".venv/bin/snakemake\\par" in artifact, "the default study needs no file named"
    for document in ("report", "proposal"):
        assert "\\placefigure{figures/first_speedup_efficiency.pdf}" in (results / f"{document}.tex").read_text()
        if not missing_tex():
            assert (results / f"{document}.pdf").read_bytes().startswith(b"%PDF")
            assert (results / f"logs/typeset_document/{document}.tex.log").exists()


def test_snakemake_report_has_captions_labels_and_categories(
    finished: Checkout, page: Page, tmp_path: Path
) -> None:
    archive = tmp_path / "report.zip"
    finished.run("snakemake", "--report", str(archive))
    with zipfile.ZipFile(archive) as content:
        names = content.namelist()
        entrance = min((name for name in names if name.endswith("report.html")), key=len)
        index = content.read(entrance).decode()
        content.extractall(tmp_path)
    assert sum(name.endswith(".svg") for name in names) == 2 * len(OF_WORKLOAD)
    for words in ("Figures", "Tables", "Findings", "speedup and efficiency", "Scaling study", "ideal"):
        assert words in index, words
    assert "Speedup and efficiency relative to the plain model in one process; speedup on" in index, (
        "a caption, whole"
    )
    page.open(tmp_path / entrance)
    assert page.problems == []
    # Snakemake includes Tailwind's script for development, which prints this warning.
    assert [text for text in page.warnings if not text.startswith("cdn.tailwindcss.com should not")] == []
    assert "Findings" in page.get("document.body.innerText")
    assert all(url.startswith(("file:", "data:")) for url in page.requests)
    (ours,) = (name for name in names if name.endswith("report.html") and name != entrance)
    page.open(tmp_path / ours)
    assert page.problems == []
    assert page.get("document.images.length") == 2 * ON_THE_PAGE


def test_every_table_has_the_columns_that_are_declared(results: Path) -> None:
    found = [path for path in results.rglob("*") if path.suffix in {".csv", ".parquet"}]
    assert {path.suffix for path in found} == {".csv", ".parquet"}
    for path in found:
        columns = pd.read_csv(path).columns if path.suffix == ".csv" else pd.read_parquet(path).columns
        assert sorted(columns) == sorted(declared_columns(path.relative_to(results))), path


def declared_columns(path: Path) -> list[str]:
    """What the registry declares of a file in the results folder of a study."""
    name = path.name
    if path.parts[0] == "figures":
        kind = next(kind for kind in FIGURES if path.stem.endswith(kind))
        files = [FILES["figures/FIGURE.csv"].columns, FIGURES[kind].columns]
    else:
        files = [FILES[f"runs/RUN/{name}" if path.parts[0] == "runs" else name].columns]
    return [end for columns in files for column in columns for end in column.names]


def test_every_json_file_is_valid_by_its_published_schema(results: Path) -> None:
    files = [path for path in results.rglob("*.json") if ".snakemake" not in path.parts]
    assert {path.stem for path in files} == {
        *("plan", "run", "environment", "checksums", "traces", "findings", "numbers")
    }
    for path in files:
        check_json(path, path.stem)


def test_summary_command_is_short_and_names_the_paths(finished: Checkout) -> None:
    lines = finished.run("scalestudy", "summary").stdout.splitlines()
    assert " train first " in lines[0], "it begins with the answer"
    assert "study tiny: 4 runs (4 ok)" in lines
    assert len(lines) <= 32, "two answers, their verdicts and three files"
    for line in lines[-3:]:
        assert (finished.root / line.strip()).exists()


@pytest.mark.slow  # tests/workflow/test_upgrade.py has damaged runs too
def test_a_corrupted_run_is_refused_by_name(edited: Checkout) -> None:
    run = next(edited.root.glob("results/tiny/runs/first-ddp-*"))
    text = (run / "run.json").read_text()
    (run / "run.json").write_text(text[: len(text) // 2])
    result = edited.run("snakemake", "--forcerun", "aggregate_runs", check=False)
    assert result.returncode != 0
    log = (edited.root / "results/tiny/logs/aggregate_runs.log").read_text()
    assert f"{run.name}/run.json: not a complete run.json of schema version {SCHEMA_VERSION}" in log
    assert "Traceback" not in log


def test_a_users_mistake_at_the_command_line_has_no_traceback(finished: Checkout) -> None:
    wrong = finished.run("scalestudy", "stage", "train", "--run", "no-such-run", check=False)
    assert wrong.returncode == 2
    begin = "scalestudy stage train: --run no-such-run: not in the plan; a run of the plan is, for example, "
    assert wrong.stdout.startswith(begin)
    assert len(wrong.stdout.splitlines()) == 1
    json.loads((finished.root / "results/tiny/findings.json").read_text())
