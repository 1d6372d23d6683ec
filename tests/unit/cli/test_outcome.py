"""What is printed when a study is complete: the answer first, and no more than a screen."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from builders import printed_of, results_of, study_of
from conftest import mlp_workload, small_content
from scalestudy.cli.main import main
from scalestudy.cli.outcome import DOCUMENTS, failed_lines, outcome_lines
from scalestudy.cli.results.inputs import table_of
from scalestudy.cli.verb.results import SCREEN, summarise
from scalestudy.diagnose.findings import FindingsFile
from scalestudy.publish.numbers.ledger import make_numbers
from scalestudy.record.document import write_document
from scalestudy.registry.results import RESULTS
from scalestudy.study.config.load import parse_study
from scalestudy.study.plan import make_plan

SPEEDUPS = (1.9, 0.5, 1.3, 1.95, 1.92, 1.91, 0.7, 1.94, 1.93, 1.85)
ALONE_S = 0.010


def finished(folder: Path, workloads: int, outcome: str = "") -> tuple[Path, list[Any]]:
    """(results of a study, its answers as documents print them). outcome: of a run, if it is not ok."""
    names = [f"net-{number}" for number in range(workloads)]
    content = small_content(workloads={name: mlp_workload(scaling=["strong"]) for name in names})
    plan = make_plan(parse_study(content, source="x"))
    times: dict[Any, Any] = {}
    for name, speedup in zip(names, SPEEDUPS, strict=False):
        times[name, 1, 32] = [ALONE_S, ALONE_S]
        times[name, 1, 16] = [ALONE_S / 2, ALONE_S / 2]
        times[name, 2, 16] = [ALONE_S / speedup, ALONE_S / speedup * 1.02]
    if outcome:
        times["net-0", 2, 16][1] = outcome
    made = results_of(plan, study_of(plan, times))
    made.summary.to_csv(folder / RESULTS["summary"], index=False)
    made.runs.assign(record_sha256="0" * 64).to_csv(folder / RESULTS["runs"], index=False)
    (folder / RESULTS["plan"]).write_text(plan.model_dump_json())
    write_document(folder / RESULTS["findings"], FindingsFile(study="small", diagnoses=tuple(made.findings)))
    write_document(folder / RESULTS["numbers"], make_numbers(plan, made))
    return folder, printed_of(plan, made)["answers"]


def test_the_summary_begins_with_the_answer_of_the_report(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    results, (answer,) = finished(tmp_path, 1)
    assert main(["summary", "--results", str(results)]) == 0
    out = capsys.readouterr().out
    said, rest = out.split("\n\n")
    assert " ".join(said.split()) == " ".join(answer.short)
    assert said.startswith("Two processes train net-0 1.8")
    assert rest.splitlines()[0] == "study small: 6 runs (6 ok)"
    assert rest.splitlines()[-len(DOCUMENTS) :] == [f"  {results / name}" for name in DOCUMENTS]


def test_of_many_workloads_the_worst_come_first_and_a_screen_is_enough(tmp_path: Path) -> None:
    results, answers = finished(tmp_path, len(SPEEDUPS))
    files = [f"  {results / name}" for name in DOCUMENTS]
    runs = table_of(results, "runs")
    lines = outcome_lines(results, runs, SCREEN)
    assert lines[-len(files) :] == files
    assert len(lines) <= SCREEN
    assert max(len(line) for line in lines[: -len(files)]) <= 80
    said = [line for line in lines if " train net-" in line]
    assert [line.split()[3] for line in said] == ["net-1", "net-6", "net-2"][: len(said)]
    assert len(said) >= 2
    assert f"  and {len(answers) - len(said)} more in report.html" in lines
    whole = outcome_lines(results, runs)
    assert [line.split()[3] for line in whole if " train net-" in line] == [
        f"net-{n}" for n in range(len(answers))
    ]
    assert not any("more in report.html" in line for line in whole)


def test_failed_runs_are_the_exit_status(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    results, _ = finished(tmp_path, 1, outcome="failed")
    assert summarise(results) == 1
    assert capsys.readouterr().err == "1 run failed: a reason; the report shows the end of each log\n"


def test_the_first_reason_is_shown_and_the_others_are_counted() -> None:
    rows = [
        ("failed", "rank 0: boom"),
        ("ok", ""),
        ("failed", "rank 0: boom"),
        ("failed", "rank 1: " + "x " * 200),
    ]
    runs = pd.DataFrame(rows, columns=["outcome", "reason"])
    said = " ".join(" ".join(failed_lines(runs)).split())
    assert said == "3 runs failed: rank 0: boom; 1 other reason; the report shows the end of each log"
    long = failed_lines(runs.iloc[3:])
    assert len(long) == 3 and " ..." in " ".join(long)
    assert failed_lines(runs.iloc[1:2]) == []
