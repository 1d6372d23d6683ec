"""What leaves the house: tables that compile as they are, figures of their size, names that break neither."""

from __future__ import annotations

import html
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import pandas as pd
import pytest
from builders import WORKLOAD_FIGURES, facts_of, frames_of, page_of, results_of, rows_book, study_of
from matplotlib.figure import Figure
from scalestudy.analyse.point.summary import summary_frame
from scalestudy.analyse.study.environment import StudyEnvironment
from scalestudy.errors import UserError
from scalestudy.publish.figures import drawing
from scalestudy.publish.figures.save import save_figure
from scalestudy.publish.figures.style import paper_style
from scalestudy.publish.figures.tidy import Frames
from scalestudy.publish.tables.view import table_view
from scalestudy.publish.templates import DIRECTORY, latex, render, source_hash
from scalestudy.registry.tables import TABLES
from scalestudy.study.config.load import parse_study
from scalestudy.study.plan import Plan, make_plan

TIMES = {
    ("mlp", 1, 32): [0.0010, 0.0011],
    ("mlp", 1, 16): [0.0006, 0.0006],
    ("mlp", 2, 16): [0.0040, 0.0042],
    ("mlp", 2, 32): [0.0041, 0.0041],
}
HOSTILE = "_ % & # { } \\ $ ~ ^ < > \" ' | \\input{/etc/passwd} 漢 \N{GRINNING FACE} \u202e"

COLUMN_WIDE = ("throughput", "epoch_time_detailed", "memory", "communication", "step_time_distribution")

ENVIRONMENT = StudyEnvironment(facts={"device": ("cpu",), "cpu": (HOSTILE,), "variable OMP_NUM_THREADS": ("1",)})


@pytest.fixture
def plan(content: dict[str, Any]) -> Plan:
    return make_plan(parse_study(content | {"description": HOSTILE}, source="x"))


def table(plan: Plan, runs: pd.DataFrame, **study: Any) -> str:
    summary = summary_frame(plan, runs)
    view = table_view(plan, summary, rows_book(summary), "summary")
    return render(DIRECTORY / "table.tex", **view | {"study": view["study"] | study})


def compile_document(text: str, folder: Path, *, document_class: str) -> str:
    """Log of a paper that inputs the fragment and loads nothing but booktabs and siunitx."""
    (folder / "table.tex").write_text(text, encoding="utf-8")
    (folder / "paper.tex").write_text(
        f"\\documentclass{document_class}\n\\usepackage{{booktabs,siunitx}}\n"
        "\\begin{document}\n\\input{table.tex}\nText.\n\\end{document}\n"
    )
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "paper.tex"]
    result = subprocess.run(command, cwd=folder, capture_output=True, text=True, errors="replace")
    assert result.returncode == 0, result.stdout[-3000:]
    return result.stdout


needs_tex = pytest.mark.skipif(
    shutil.which("pdflatex") is None,
    reason="no pdflatex; apt-get install texlive-latex-extra texlive-science texlive-publishers",
)


@needs_tex
@pytest.mark.parametrize("document_class", ["{article}", "[conference]{IEEEtran}"])
def test_summary_table_compiles_and_fits(plan: Plan, tmp_path: Path, document_class: str) -> None:
    log = compile_document(table(plan, study_of(plan, TIMES)), tmp_path, document_class=document_class)
    assert "Overfull" not in log
    assert "Undefined" not in log


@needs_tex
def test_a_table_with_failures_and_hostile_names_compiles(plan: Plan, tmp_path: Path) -> None:
    times = TIMES | {("mlp", 2, 16): ["oom", "oom"], ("mlp", 2, 32): [0.0041, "timeout"]}
    runs = study_of(plan, times)
    text = table(plan, runs, name=HOSTILE, devices=HOSTILE)
    text = text.replace("\\label{", "% \\label{")  # a study's name is checked by the config; a label is not text
    compile_document(text, tmp_path, document_class="{article}")
    assert "OOM" in text
    assert "(1~ok, 1~timeout)" in text
    assert "passwd" in text
    assert "\\input{/etc" not in text


def test_a_study_without_any_result_has_no_table_or_section_of_nothing(plan: Plan) -> None:
    """The summary has the outcome in each row; a table of parts or of memory would have names only."""
    runs = study_of(
        plan, {(s.workload, s.world_size, s.batch_per_rank): ["failed"] * 3 for s in plan.runs.values()}
    )
    summary = summary_frame(plan, runs)
    layouts = {name: table_view(plan, summary, rows_book(summary), name)["layouts"] for name in TABLES}
    assert layouts["summary"]
    assert not layouts["step_breakdown"] and not layouts["memory"]
    text = render(DIRECTORY / "performance_report.txt", **facts(plan, runs))
    assert "SUMMARY" in text and "WHERE A STEP'S TIME GOES" not in text


def test_table_has_its_base_case_and_no_vertical_rule(plan: Plan) -> None:
    text = table(plan, study_of(plan, TIMES))
    assert "Baseline of every ratio: the plain model in one process" in text
    assert "\\hline" not in text
    assert "|" not in text.split("\\begin{tabular}")[1]
    assert text.startswith("% Needs \\usepackage{booktabs,siunitx}.")
    layouts = int(re.findall(r"^% (\d) layouts", text, flags=re.M)[0])
    assert text.count("\\toprule") == text.count("\\bottomrule") >= layouts > 1
    assert len(re.findall(r"\[0\.\d+, 0\.\d+\]", text)) >= 2, "speedups with their intervals"


def test_latex_escapes_every_special_character() -> None:
    assert latex("a_b & 50% {x} $y$ #1 ~ ^ \\z") == (
        r"a\_b \& 50\% \{x\} \$y\$ \#1 \textasciitilde{} \textasciicircum{} \textbackslash{}z"
    )
    assert latex("é \N{GRINNING FACE}") == "é (U+1F600)"


def test_a_template_that_asks_for_what_is_not_given_is_refused_by_name(tmp_path: Path) -> None:
    template = tmp_path / "report.txt"
    template.write_text("{{ nothing.here }}")
    with pytest.raises(UserError, match=r"report\.txt: 'nothing' is undefined"):
        render(template)
    with pytest.raises(UserError, match=r"none\.tex: no such template"):
        render(tmp_path / "none.tex")


def facts(plan: Plan, runs: pd.DataFrame) -> dict[str, Any]:
    return facts_of(plan, summary_frame(plan, runs), runs, environment=ENVIRONMENT)


def test_page_escapes_what_users_wrote(plan: Plan) -> None:
    times = TIMES | {("mlp", 2, 16): ["oom", "oom"]}
    page = page_of(plan, results_of(plan, study_of(plan, times), environment=ENVIRONMENT))
    assert "&lt; &gt;" in page
    assert "OOM" in page
    assert "Not measured" in page


def test_a_page_allows_no_style_or_script_but_its_own(plan: Plan) -> None:
    """Not even an attribute, since injected text could use it too."""
    page = page_of(plan, results_of(plan, study_of(plan, TIMES), environment=ENVIRONMENT))
    assert "unsafe" not in page
    assert not re.search(r"<[^>]*\s(style|on\w+)=", page)
    assert page.count("<style") == page.count("<script") == 1
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)
    for name in ("style", "script"):
        source = re.search(rf"<{name}>(.*?)</{name}>", page, flags=re.S)
        assert source and policy and source_hash(source[1]) in policy[1]


@pytest.mark.parametrize("failing", [(), (("mlp", 2, 16),), tuple(TIMES)], ids=["none", "one point", "all"])
def test_text_report_holds_for_any_failure(plan: Plan, failing: tuple) -> None:
    times = TIMES | {key: ["failed", "failed"] for key in failing}
    text = render(DIRECTORY / "performance_report.txt", **facts(plan, study_of(plan, times)))
    assert max(map(len, text.splitlines())) <= 80
    assert text.count("NOT MEASURED") == (0 if not failing else 1 if len(failing) == 1 else 2)
    assert not re.search(r"\bnan\b", text)


def epochs_of(plan: Plan) -> pd.DataFrame:
    return pd.DataFrame(
        [
            {"run_id": run, "epoch": epoch, "epoch_time_s": 0.1 * epoch, "validation_accuracy": 0.3 * epoch}
            for run in plan.runs
            for epoch in (1, 2, 3)
        ]
    )


def frames(plan: Plan, summary: pd.DataFrame, epochs: pd.DataFrame | None = None) -> Frames:
    return frames_of(plan, summary, epochs=epochs_of(plan) if epochs is None else epochs)


@pytest.mark.parametrize("name", WORKLOAD_FIGURES)
def test_figures_have_their_exact_size_and_embedded_fonts(plan: Plan, tmp_path: Path, name: str) -> None:
    summary = summary_frame(plan, study_of(plan, TIMES))
    with paper_style():
        drawn = drawing(name)(plan, "mlp", frames(plan, summary))
        figure = drawn.figure
        of_a_column = name in COLUMN_WIDE
        assert figure.get_figwidth() == pytest.approx(3.487 if of_a_column else 7.14, abs=0.001)
        inches = figure.get_figwidth()
        assert plt.fignum_exists(figure.number)
        pdf, svg, png, *_ = save_figure(drawn, tmp_path / f"mlp_{name}")
        assert plt.get_fignums() == [], "what is saved is closed"
    box = re.search(rb"/MediaBox \[ 0 0 ([\d.]+) ([\d.]+) \]", pdf.read_bytes())
    assert box is not None
    assert float(box[1]) / 72 == pytest.approx(inches, abs=0.01)
    assert b"/FontFile2" in pdf.read_bytes()
    assert svg.read_text(encoding="utf-8").startswith("<?xml")
    assert png.stat().st_size > 10_000


def test_a_figure_has_its_data_and_its_words_beside_it(plan: Plan, tmp_path: Path) -> None:
    summary = summary_frame(plan, study_of(plan, TIMES))
    with paper_style():
        made = drawing("speedup_efficiency")(plan, "mlp", frames(plan, summary))
        _, svg, png, csv, words = save_figure(made, tmp_path / "speedup")
    drawn = pd.read_csv(csv)
    measured = summary[(summary["world_size"] == 2) & (summary["scaling"] == "weak")].iloc[0]
    point = drawn[(drawn["panel"] == 1) & (drawn["series"] == "ddp, weak scaling") & (drawn["x"] == 2)].iloc[0]
    assert point["y_name"] == "Speedup over one process"
    assert [point["y"], point["y_low"], point["y_high"]] == pytest.approx(
        [measured["speedup"], measured["speedup_low"], measured["speedup_high"]]
    )
    base = drawn[(drawn["panel"] == 1) & (drawn["x"] == 1)]
    assert (base["y"] == 1).all()
    assert base[["y_low", "y_high"]].isna().all().all(), "what a ratio is to has no interval"
    text = words.read_text(encoding="utf-8").strip()
    assert text.startswith(
        "Speedup over one process against ranks: one process 1 at 1; ddp, strong scaling 0.256 at 2;"
    )
    assert "ddp, weak scaling, forecast" in text
    assert "Efficiency on 2 ranks against batch per rank: ddp, strong scaling" in text
    assert text in html.unescape(svg.read_text(encoding="utf-8"))
    assert text.encode("latin-1") in png.read_bytes()


@pytest.mark.parametrize(
    ("paper", "column_in", "page_in"),
    [pytest.param("acm", 3.336, 7.006, marks=pytest.mark.slow), ("neurips", 5.5, 5.5)],
)
def test_figures_have_the_widths_of_the_paper(
    content: dict[str, Any], paper: str, column_in: float, page_in: float
) -> None:
    plan = make_plan(parse_study(content | {"report": {"paper": paper}}, source="x"))
    summary = summary_frame(plan, study_of(plan, TIMES))
    with paper_style():
        figures = [drawing(name)(plan, "mlp", frames(plan, summary)).figure for name in WORKLOAD_FIGURES]
    widths = [figure.get_figwidth() for figure in figures]
    expected = [column_in if name in COLUMN_WIDE else page_in for name in WORKLOAD_FIGURES]
    assert widths == pytest.approx(expected, abs=0.001)


def draw_twice(plan: Plan, name: str, folder: Path) -> list[bytes]:
    summary = summary_frame(plan, study_of(plan, TIMES))
    drawn = []
    for attempt in ("a", "b"):
        with paper_style():
            figure = drawing(name)(plan, "mlp", frames(plan, summary))
            drawn.append(b"".join(path.read_bytes() for path in save_figure(figure, folder / attempt)))
    return drawn


def test_the_same_data_give_the_same_bytes(plan: Plan, tmp_path: Path) -> None:
    first, second = draw_twice(plan, "speedup_efficiency", tmp_path)
    assert first == second


def ticks(figure: Figure) -> list[str]:
    figure.canvas.draw()
    return [label.get_text() for label in figure.axes[0].get_xticklabels()]


@pytest.mark.parametrize("scales", [["1x2"], ["1x2", "1x4", "1x8", "1x16", "1x32"]])
def test_ticks_stand_at_counts_that_have_a_point(content: dict[str, Any], scales: list[str]) -> None:
    content["scales"] = scales
    plan = make_plan(parse_study(content, source="x"))
    times = {(s.workload, s.world_size, s.batch_per_rank): [0.001, 0.0011] for s in plan.runs.values()}
    summary = summary_frame(plan, study_of(plan, times))
    with paper_style():
        measured = [1, *(int(scale.removeprefix("1x")) for scale in scales)]
        for name, counts in (("throughput", measured), ("speedup_efficiency", [*measured, 2 * measured[-1]])):
            figure = drawing(name)(plan, "mlp", frames(plan, summary)).figure
            assert ticks(figure) == [str(count) for count in counts]  # the last is a forecast


def test_a_wrapped_model_on_one_rank_begins_its_series(content: dict[str, Any]) -> None:
    content["scales"] = ["1x1", "1x2"]
    plan = make_plan(parse_study(content, source="x"))
    times = {(s.workload, s.world_size, s.batch_per_rank): [0.001, 0.0011] for s in plan.runs.values()}
    runs = study_of(plan, times)
    wrapped = (runs["variant"] == "ddp") & (runs["world_size"] == 1)
    runs.loc[wrapped, "throughput_samples_per_s"] *= 0.8
    with paper_style():
        figure = drawing("speedup_efficiency")(plan, "mlp", frames(plan, summary_frame(plan, runs))).figure
    measured = figure.axes[0].containers[0].lines[0]
    assert measured.get_xdata().tolist() == [1, 2]
    assert measured.get_ydata()[0] == pytest.approx(0.8)


def test_a_point_that_failed_is_marked_in_the_figure(plan: Plan) -> None:
    summary = summary_frame(plan, study_of(plan, TIMES | {("mlp", 2, 16): ["oom", "oom"]}))
    with paper_style():
        figure = drawing("speedup_efficiency")(plan, "mlp", frames(plan, summary)).figure
    for axes in figure.axes[:2]:  # the third has larger batches of what was measured
        assert [text.get_text() for text in axes.texts] == ["2 oom"]


def test_a_figure_of_a_study_without_any_result_can_be_drawn(plan: Plan, tmp_path: Path) -> None:
    summary = summary_frame(plan, study_of(plan, {key: ["failed", "failed"] for key in TIMES}))
    assert summary["speedup"].isna().all()
    empty = pd.DataFrame(columns=["run_id", "epoch", "epoch_time_s", "validation_accuracy"])
    with paper_style():
        for name in WORKLOAD_FIGURES:
            save_figure(drawing(name)(plan, "mlp", frames(plan, summary, empty)), tmp_path / name)
