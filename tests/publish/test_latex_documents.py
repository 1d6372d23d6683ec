"""Report, proposal and artifact description: they compile, fit, bear any name, have no number of their own."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

import pandas as pd
import pypdfium2
import pytest
from builders import WORKLOAD_FIGURES, declared, frames_of, results_of, study_of
from conftest import mlp_workload
from scalestudy.analyse.study.environment import StudyEnvironment, WarningCount
from scalestudy.analyse.trace.summary import TracesFile
from scalestudy.cli.main import main
from scalestudy.diagnose.findings import FindingsFile
from scalestudy.publish.figures import drawing, figures_of
from scalestudy.publish.figures.save import save_figure
from scalestudy.publish.figures.style import paper_style
from scalestudy.publish.numbers.ledger import make_numbers
from scalestudy.publish.results import Results
from scalestudy.publish.templates import breakable, code, prose, with_code
from scalestudy.publish.typeset import missing_tex
from scalestudy.record.document import write_document
from scalestudy.registry.drawn import TIDY
from scalestudy.registry.results import RESULTS
from scalestudy.study.config.load import parse_study
from scalestudy.study.plan import Plan, make_plan
from test_every_number import NUMBER, between, unknown, without_thresholds
from test_every_number import TIMES as SOME_FAIL
from test_measured_views import TRACE, probed
from test_paper import words_of

needs_tex = pytest.mark.skipif(bool(missing_tex()), reason=missing_tex())

SIGNS = "_ % & # { } \\ $ ~ ^ < > \" ' ` -- | \\input{/etc/passwd} \\end{document} 漢 \N{GRINNING FACE} \u202e"
RIGHT_TO_LEFT = "\N{ARABIC LETTER ALEF}" * 40
HOSTILE = f"{SIGNS} {'x' * 200} {RIGHT_TO_LEFT} {bytes(range(0xA1, 0x100)).decode('latin-1')}"
LONG = "w" * 60
ENVIRONMENT = StudyEnvironment(
    facts={
        "device": ("cpu",),
        "cpu": (HOSTILE,),
        "python": ("3.11.7",),
        "version of torch": ("2.13.0+cpu",),
        "variable OMP_NUM_THREADS": (HOSTILE,),
    },
    warnings=(WarningCount(kind="busy host", launches=1, example=HOSTILE),),
)


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Figures of a study, used for other studies too; the figure of accuracy is empty."""
    folder = tmp_path_factory.mktemp("drawn")
    plan, results = measured()
    write_results(folder, plan, results)
    epochs = pd.DataFrame([{"run_id": run, "epoch": 1, "epoch_time_s": 0.1} for run in plan.runs])
    declared(epochs, "epochs.csv").to_csv(folder / "epochs.csv", index=False)
    calls = pd.DataFrame(columns=["collective", "bytes", "time_s", "run_id"])
    declared(calls, "collectives.csv").to_csv(folder / RESULTS["collectives"], index=False)
    frames = frames_of(plan, results.summary)
    declared(frames.quantiles, RESULTS["quantiles"]).to_csv(folder / RESULTS["quantiles"], index=False)
    declared(frames.held_out, RESULTS["held_out"]).to_csv(folder / RESULTS["held_out"], index=False)
    assert main(["stage", "plot", f"--results={folder}", "--workload=mlp"]) == 0
    return folder / "figures"


def content(**study: Any) -> dict[str, Any]:
    """A study whose documents have all of their parts."""
    return {
        "study": "small",
        "repeats": 3,
        "scales": ["1x2", "1x4"],
        "variants": {"single": {"strategy": "single"}, "ddp": {"strategy": "ddp"}},
        "workloads": {"mlp": mlp_workload(target_accuracy=0.8)},
    } | study


def measured(environment: StudyEnvironment = ENVIRONMENT, **study: Any) -> tuple[Plan, Results]:
    """Some runs fail; probes, notes and a trace are there."""
    plan = make_plan(parse_study(content(**study), source="x"))
    runs = study_of(plan, SOME_FAIL)
    runs["record_sha256"], runs["commit"], runs["dirty"] = "abcdef" * 10, "0123456789abcdef" * 2, True
    plain = results_of(plan, runs)
    return plan, results_of(plan, runs, probed(plain.summary), traces=[TRACE], environment=environment)


def all_failed(reason: str) -> tuple[Plan, Results]:
    """Names as long as they may be, and data from a file; no run ended well."""
    study = content(report={"paper": "article"}, description=HOSTILE)
    workload = study["workloads"]["mlp"] | {"data": {"type": "cifar", "path": SIGNS, "sha256": "0" * 64}}
    study["variants"] = {"single": {"strategy": "single"}, "v" * 60: {"strategy": "ddp"}}
    study["workloads"] = {LONG: workload}
    plan = make_plan(parse_study(study, source="x"))
    times = {(s.workload, s.world_size, s.batch_per_rank): ["oom"] * 3 for s in plan.runs.values()}
    runs = study_of(plan, times)
    runs["reason"] = reason
    return plan, results_of(plan, runs, environment=ENVIRONMENT)


def one_run() -> tuple[Plan, Results]:
    """A single process, launched once, without accuracy; nothing is known of where."""
    study = content(repeats=1, variants={"single": {"strategy": "single"}}, report={"paper": "neurips"})
    study["workloads"]["mlp"] |= {"scaling": ["strong"]}
    plan = make_plan(parse_study(study, source="x"))
    assert len(plan.runs) == 1
    runs = study_of(plan, {("mlp", 1, 32): [0.01]}, accuracy=float("nan"))
    return plan, results_of(plan, runs)


def write_results(folder: Path, plan: Plan, results: Results) -> None:
    """What the earlier stages wrote."""
    for name in ("summary", "runs", "floors", "forecasts", "factors"):
        declared(getattr(results, name), RESULTS[name]).to_csv(folder / RESULTS[name], index=False)
    contents = {
        "numbers": make_numbers(plan, results),
        "findings": FindingsFile(study=plan.study.name, diagnoses=tuple(results.findings)),
        "environment": results.environment,
        "traces": TracesFile(traces=tuple(results.traces)),
    }
    for name, content in contents.items():
        write_document(folder / RESULTS[name], content)
    (folder / RESULTS["plan"]).write_text(plan.model_dump_json(), encoding="utf-8")


def write_documents(folder: Path, drawn: Path, plan: Plan, results: Results, command: str = "snakemake") -> None:
    """The three .tex files with their tables and figures, as the rules write them."""
    write_results(folder, plan, results)
    assert main(["stage", "tables", f"--results={folder}"]) == 0
    (folder / "figures").mkdir()
    for workload in plan.study.workloads:
        for path in drawn.glob("mlp_*"):
            shutil.copy(path, folder / "figures" / path.name.replace("mlp", workload))
    frames = frames_of(plan, results.summary)
    with paper_style():
        for entry, workload in figures_of(plan):
            if not workload:
                save_figure(drawing(entry.name)(plan, frames), folder / "figures" / entry.name)
    assert main(["stage", "documents", f"--results={folder}", f"--command={command}"]) == 0


def pdf_of(folder: Path, name: str) -> Path:
    """The PDF of a document, in which no line is too wide."""
    assert main(["stage", "typeset", f"{folder}/{name}.tex"]) == 0
    log = (folder / f"{name}.log").read_text(encoding="utf-8", errors="replace")
    too_wide = [float(points) for points in re.findall(r"Overfull \\[hv]box \(([\d.]+)pt too", log)]
    assert max(too_wide, default=0) <= 1, re.findall(r"Overfull.*", log)
    assert "undefined" not in log.lower().replace("font shape", "").split("here is how much")[0]
    return folder / f"{name}.pdf"


def pages(pdf: Path) -> int:
    return len(pypdfium2.PdfDocument(pdf))


@needs_tex
def test_a_study_with_failures_compiles_and_fits(tmp_path: Path, drawn: Path) -> None:
    plan, results = measured(description=HOSTILE)
    write_documents(tmp_path, drawn, plan, results, command=f"snakemake --config 'description={SIGNS}'")
    report = words_of(pdf_of(tmp_path, "report"))
    titles = ("Answer", "Summary", "What to do", "Measurements", "Figures", "Forecasts", "Findings", "Failed runs")
    ends = ("Warnings", "Method", "Artifact", "Provenance")
    places = [re.search(rf"\b(?:\d+|[AB]) {title}", report) for title in (*titles, *ends)]
    starts = [place.start() for place in places if place]
    assert len(starts) == len(titles) + len(ends)
    assert starts == sorted(starts), "the answer, what to do, evidence, then method and runs"
    assert "\\input{/etc/passwd}" in report, "what a user wrote is printed, and nothing else is done with it"
    assert "\\end{document}" in report
    assert "root:" not in report
    assert "OOM" in report
    assert "snakemake --config" in report, "two hyphens are two hyphens"
    assert "Validation accuracy against epoch" not in report, "a figure in which nothing is drawn"
    assert "nan" not in report.split()
    proposal = pdf_of(tmp_path, "proposal")
    assert pages(proposal) <= 2
    assert "Workload mlp. Speedup and efficiency" in words_of(proposal)


@needs_tex
@pytest.mark.parametrize("study", ["all failed", pytest.param("one run", marks=pytest.mark.slow)])
def test_a_study_without_a_speedup_compiles_and_fits(tmp_path: Path, drawn: Path, study: str) -> None:
    plan, results = all_failed(HOSTILE) if study == "all failed" else one_run()
    write_documents(tmp_path, drawn, plan, results)
    report, proposal = pdf_of(tmp_path, "report"), pdf_of(tmp_path, "proposal")
    if study == "one run":
        assert pages(proposal) <= 2
        assert "No point has more than one rank" in words_of(report)
        assert "Commit not known" in words_of(report)
        assert "One run per point" in words_of(proposal)
    else:
        assert pages(proposal) <= 2 or "does not fit on 2 pages" in words_of(proposal), (
            "names of 60 letters take room"
        )
        assert "not measured" in words_of(report)
        assert "".join(words_of(report).split()).count("0" * 64) == 1, "the checksum of the data, broken and whole"


def test_every_number_is_in_numbers_json(tmp_path: Path, drawn: Path) -> None:
    plan, results = measured(environment=StudyEnvironment(facts={}))
    write_documents(tmp_path, drawn, plan, results)
    numbers = make_numbers(plan, results)
    report, proposal, artifact = (
        plain((tmp_path / f"{name}.tex").read_text(encoding="utf-8"))
        for name in ("report", "proposal", "artifact_description")
    )
    advice = between(report, "\\section{What to do}", "\\section{Measurements}")
    findings = between(report, "\\section{Findings", "\\section{Method")
    parts = {
        "answer": between(report, "\\section{Answer}", "\\section{Summary}"),
        "summary": between(report, "\\section{Summary}", "\\end{items}"),
        "advice": "\n".join(re.findall(r"Predicted: (.*?), (?:if|based)", advice)),
        "forecasts": between(report, "\\section{Forecasts}", "\\section{Findings"),
        "evidence": "\n".join(re.findall(r"^ +\\item [^:.]+: [-\d].*$", findings, flags=re.M)),
        "proposal": between(proposal, "\\paragraph{Efficiency against", "\\paragraph{What these"),
        "effort": between(artifact, "\\paragraph{Runs and", "\\paragraph{To reproduce"),
    }
    for name, text in parts.items():
        assert len(NUMBER.findall(text)) > 5, name
        said = without_thresholds(text) if name == "evidence" else text
        assert unknown(said, numbers, plan) == [], name


def plain(text: str) -> str:
    """A document as it reads: without what only sets it."""
    text = re.sub(r"\\(penalty\d+|hang\w+=?-?\d*(em)?|smallskip)(\{\})?", "", text)
    text = re.sub(r"p\{[^{}]*em[^{}]*\}|setlength\{\\tabcolsep\}\{3pt\}", "", text)
    text = text.replace("\\textminus{}", "-").replace("\\,\\%", " %").replace("\\,", " ").replace("~", " ")
    return re.sub(r"20\d\d-\d\d-\d\d", "", text)


@needs_tex
@pytest.mark.parametrize("workloads", [3, pytest.param(9, marks=pytest.mark.slow)])
def test_a_proposal_shows_or_names_the_figure_of_every_one(tmp_path: Path, drawn: Path, workloads: int) -> None:
    many = {f"mlp-{index}": content()["workloads"]["mlp"] for index in range(workloads)}
    plan = make_plan(parse_study(content(workloads=many, repeats=2, scales=["1x2"]), source="x"))
    times = {(s.workload, s.world_size, s.batch_per_rank): [0.01, 0.011] for s in plan.runs.values()}
    write_documents(tmp_path, drawn, plan, results_of(plan, study_of(plan, times)))
    proposal = pdf_of(tmp_path, "proposal")
    words = words_of(proposal)
    shown = re.findall(r"Workload (mlp-\d)\. Speedup and efficiency", words)
    left_out = re.findall(r"Figures of ([^.]*) do not fit here", words)
    named = re.findall(r"mlp-\d", " ".join(left_out))
    assert sorted([*shown, *named]) == sorted(many)
    assert shown if workloads == 3 else named
    too_long = f"does not fit on 2 pages: this document has {pages(proposal)}."
    assert (too_long in words) == (pages(proposal) > 2) == (workloads == 9)


@needs_tex
def test_a_proposal_of_many_scales_tells_the_outlines(tmp_path: Path, drawn: Path) -> None:
    scales = ["1x2", "1x4", "1x8", "2x2", "2x4", "2x8", "4x4", "4x8"]
    plan = make_plan(parse_study(content(scales=scales), source="x"))
    times = {
        (spec.workload, spec.world_size, spec.batch_per_rank): [
            (1 + spread) * 1e-3 * spec.batch_per_rank * (1 if spec.world_size < 16 else 10)
            for spread in (0, 0.01, 0.02)
        ]
        for spec in plan.runs.values()
    }
    results = results_of(plan, study_of(plan, times))
    write_documents(tmp_path, drawn, plan, results)
    proposal = pdf_of(tmp_path, "proposal")
    words = words_of(proposal)
    assert pages(proposal) <= 2
    assert "Workload mlp. Speedup and efficiency" in words
    good = "healthy on 2, 4 and 8 ranks, 4 and 8 ranks on 2 nodes"
    bad = "16 ranks on 2 nodes, 16 and 32 ranks on 4 nodes"
    text = (tmp_path / "proposal.tex").read_text(encoding="utf-8").replace("\\textbf{healthy}", "healthy")
    assert text.count(good) == 2, "of strong and of weak scaling"
    assert text.count(f"on {bad}.") == 2
    assert "the table has the scales between" in words
    said = between(plain(text), "\\paragraph{Efficiency against", "\\paragraph{What these")
    without_targets = re.sub(r"target of \d+", "target", said)
    assert unknown(without_targets, make_numbers(plan, results), plan) == []


def test_where_latexmk_is_missing_one_line_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "report.tex").write_text("\\documentclass{article}")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert main(["stage", "typeset", f"{tmp_path}/report.tex"]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert (
        "latexmk, pdflatex are missing; on Debian and Ubuntu: apt-get install latexmk texlive-latex-base" in error
    )
    assert "texlive-science" in error
    assert not (tmp_path / "report.pdf").exists()


@needs_tex
@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("\\undefinedcommand", "report.tex:3: Undefined control sequence."),
        ("\\input{FOLDER/secret}", "secret.tex' not found."),
    ],
)
def test_an_error_of_latex_names_the_log_and_the_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], body: str, said: str
) -> None:
    (tmp_path / "secret.tex").write_text("secret")
    folder = tmp_path / "study"
    folder.mkdir()
    body = body.replace("FOLDER", str(tmp_path))
    text = f"\\documentclass{{article}}\n\\begin{{document}}\n{body} x\n\\end{{document}}\n"
    (folder / "report.tex").write_text(text)
    log = tmp_path / "kept.log"
    assert main(["stage", "typeset", f"{folder}/report.tex", f"--tex-log={log}"]) == 2
    error = capsys.readouterr().err
    assert f"{log}: LaTeX made no PDF of {folder}/report.tex: " in error
    assert said in error
    assert log.stat().st_size > 0
    assert [path.name for path in folder.iterdir()] == ["report.tex"], "nothing is left beside the source"


@needs_tex
def test_latex_runs_no_command(tmp_path: Path) -> None:
    body = f"\\immediate\\write18{{touch {tmp_path}/touched}}x"
    (tmp_path / "report.tex").write_text(f"\\documentclass{{article}}\\begin{{document}}{body}\\end{{document}}")
    assert main(["stage", "typeset", f"{tmp_path}/report.tex"]) == 0
    assert not (tmp_path / "touched").exists()
    first = (tmp_path / "report.pdf").read_bytes()
    assert first.startswith(b"%PDF")


def test_a_figure_that_is_missing_is_named(
    tmp_path: Path, drawn: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plan, results = one_run()
    write_results(tmp_path, plan, results)
    command = ["stage", "documents", f"--results={tmp_path}"]
    assert main(command) == 2
    assert "summary_table.tex: missing; `scalestudy stage tables --results " in capsys.readouterr().err
    assert main(["stage", "tables", f"--results={tmp_path}"]) == 0
    figures = tmp_path / "figures"
    figures.mkdir()
    names = [name for column in TIDY for name in column.names]
    (figures / "mlp_speedup_efficiency.csv").write_text(",".join(names) + "\n")
    assert main(command) == 2
    assert "mlp_step_breakdown.csv: missing; `scalestudy stage plot --results " in capsys.readouterr().err
    for name in WORKLOAD_FIGURES[1:]:
        point = ["1" if column == "y" else "" for column in names]
        (figures / f"mlp_{name}.csv").write_text(",".join(names) + "\n" + ",".join(point) + "\n")
    assert main(command) == 2
    assert "mlp_step_breakdown.pdf: missing; `scalestudy stage plot` draws it" in capsys.readouterr().err


def test_long_words_can_be_broken_and_short_ones_stay() -> None:
    assert breakable("a_b synchronisation") == r"a\_b synchronisation"
    broken = breakable("digits-mlp-ddp-b16-n1g2-r1")
    assert re.sub(r"\\penalty\d+\{\}", "", broken) == "digits-mlp-ddp-b16-n1g2-r1"
    assert "-\\penalty0{}" in broken
    assert re.sub(r"\\penalty\d+\{\}", "", breakable("%" * 30)) == r"\%" * 30
    assert prose("-0.5 [-0.6, 3] >= 1-2") == r"\textminus{}0.5 [\textminus{}0.6, 3] \ensuremath{\geq} 1-2"
    assert code("  - --a 'x'") == r"\ \ -{}\penalty0\ -{}-{}a\penalty0\ {\char39}x{\char39}"


def test_code_in_a_sentence_is_set_as_code() -> None:
    assert prose("run `a --b 1` again: 5") == r"run \texttt{" + code("a --b 1") + "} again: 5"
    assert prose("a ` alone") == "a {`} alone"
    assert with_code("run `a <b>` & more") == "run <code>a &lt;b&gt;</code> &amp; more"
    assert with_code("a ` alone") == "a ` alone"
