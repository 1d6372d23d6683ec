"""A paper that inputs what leaves the house: compiled in three classes, and its pages read again."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pandas as pd
import pypdfium2
import pytest
from builders import frames_of, results_of, study_of
from scalestudy.analyse.point.summary import summary_frame
from scalestudy.analyse.study.environment import StudyEnvironment
from scalestudy.cli.main import main
from scalestudy.publish.figures import drawing
from scalestudy.publish.figures.save import save_figure
from scalestudy.publish.figures.style import paper_style
from scalestudy.publish.numbers.latex import numbers_view
from scalestudy.publish.numbers.ledger import make_numbers
from scalestudy.publish.numbers.model import NumbersFile
from scalestudy.publish.numbers.rounding import Shown
from scalestudy.publish.templates import DIRECTORY, render
from scalestudy.record.document import write_document
from scalestudy.registry.tables import FILES
from scalestudy.study.config.load import parse_study
from scalestudy.study.plan import Plan, make_plan

PAPER = Path(__file__).parent / "paper" / "paper.tex"
TIMES = {
    ("mlp", 1, 32): [0.0100, 0.0102],
    ("mlp", 1, 16): [0.0060, 0.0061],
    ("mlp", 2, 16): [0.0070, 0.0073],
    ("mlp", 2, 32): [0.0110, 0.0112],
}
CLASSES = {
    "article": "{article}",
    "IEEEtran": "[conference]{IEEEtran}",
    "acmart": "[sigconf,nonacm]{acmart}",
}

# The class that a style is for; that of NeurIPS is not in TeX Live, its width is.
STYLES = {
    "article": CLASSES["article"],
    "ieee": CLASSES["IEEEtran"],
    "acm": CLASSES["acmart"],
    "neurips": "{article}\n\\setlength{\\textwidth}{5.5in}\\setlength{\\columnwidth}{5.5in}",
}

pytestmark = pytest.mark.skipif(
    shutil.which("pdflatex") is None,
    reason="no pdflatex; apt-get install texlive-latex-extra texlive-science texlive-publishers",
)


@pytest.fixture
def plan(content: dict[str, Any]) -> Plan:
    return make_plan(parse_study(content, source="x"))


@pytest.fixture
def numbers(plan: Plan) -> NumbersFile:
    """Of a study, and a number below zero."""
    made = make_numbers(plan, results_of(plan, study_of(plan, TIMES)))
    speedup = made.numbers["mlp.ddp.strong.n2.speedup"]
    below = speedup.model_copy(update={"shown": Shown("-0.51", "-0.60", "-0.42")})
    return made.model_copy(update={"numbers": made.numbers | {"mlp.ddp.strong.n2.negative": below}})


def numbers_tex(numbers: NumbersFile) -> str:
    return render(DIRECTORY / "numbers.tex", **numbers_view(numbers))


def compile_paper(
    folder: Path,
    numbers: NumbersFile,
    *,
    document_class: str,
    fragments: str = "",
    body: str | None = None,
    passes: int = 2,
) -> tuple[int, str]:
    """(exit status, log) of the sample paper with these fragments, or of one with another body."""
    text = PAPER.read_text(encoding="utf-8").replace("CLASS", document_class).replace("FRAGMENTS", fragments)
    if body is not None:
        begin, end = text.index("\\tableofcontents"), text.index("\\end{document}")
        text = text[:begin] + body + text[end:]
    (folder / "paper.tex").write_text(text, encoding="utf-8")
    (folder / "numbers.tex").write_text(numbers_tex(numbers), encoding="utf-8")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "paper.tex"]
    for _ in range(passes):  # the second has the table of contents
        result = subprocess.run(command, cwd=folder, capture_output=True, text=True, errors="replace")
        if result.returncode:
            break
    return result.returncode, result.stdout


def words_of(pdf: Path) -> str:
    """The text of all pages, spaces and lines as one space."""
    document = pypdfium2.PdfDocument(pdf)
    return re.sub(r"\s+", " ", " ".join(page.get_textpage().get_text_range() for page in document))


MIXED = {
    "study": "mixed",
    "scales": ["1x2", "1x4", "2x2", "2x4"],
    "variants": {
        "single": {"strategy": "single"},
        "ddp": {"strategy": "ddp"},
        "ddp-large-buckets": {"strategy": "ddp", "ddp": {"bucket_cap_mb": 100}},
        "fsdp": {"strategy": "fsdp"},
    },
}
FACTS = {
    "device": ["NVIDIA A100-SXM4-80GB"],
    "cpu": ["AMD EPYC 7763 64-Core Processor _ % & # { } \\ $ ~ ^ < > | 漢 \N{GRINNING FACE} \u202e"],
    "version of torch": ["2.13.0+cu130"],
    "hardware gpu links": ["NV12 between all, a sentence that is long enough to be broken into several lines"],
}
ENVIRONMENT = StudyEnvironment.model_validate({"facts": FACTS})


def mixed_study(content: dict[str, Any]) -> tuple[Plan, pd.DataFrame]:
    """Strategies and variants on one and on two nodes, with numbers as long as they get, and failures."""
    plan = make_plan(parse_study(content | MIXED, source="x"))
    times = {
        (s.workload, s.world_size, s.batch_per_rank): [12.3456 / s.world_size, 13.4567 / s.world_size]
        for s in plan.runs.values()
    }
    runs = study_of(plan, times)
    for kind in ("allocated", "reserved"):
        runs[f"peak_{kind}_gib"] = 61.234
    for variant, outcome in (("fsdp", "oom"), ("ddp-large-buckets", "timeout")):
        failed = (runs["variant"] == variant) & (runs["world_size"] == 8)
        measured = ["step_time_s", "throughput_samples_per_s", "peak_allocated_gib"]
        runs.loc[failed, measured] = float("nan")
        runs.loc[failed, "outcome"] = outcome
    runs.loc[(runs["variant"] == "ddp") & (runs["nodes"] == 2) & (runs["repeat"] == 1), "outcome"] = "failed"
    return plan, runs


def write_fragments(folder: Path, plan: Plan, runs: pd.DataFrame) -> list[str]:
    """Write every table with `scalestudy stage tables`, and return their names."""
    results = results_of(plan, runs, environment=ENVIRONMENT)
    results.summary.to_csv(folder / "comprehensive_summary.csv", index=False)
    (folder / "plan.json").write_text(plan.model_dump_json(), encoding="utf-8")
    write_document(folder / "numbers.json", make_numbers(plan, results))
    write_document(folder / "environment.json", ENVIRONMENT)
    assert main(["stage", "tables", f"--results={folder}"]) == 0
    return sorted(path.stem for path in (folder / "tables").glob("*.tex"))


@pytest.mark.parametrize(
    ("paper", "failing"),
    [
        *(pytest.param(style, False, marks=[] if style == "article" else pytest.mark.slow) for style in STYLES),
        ("ieee", True),
    ],
    ids=[*STYLES, "ieee, all fail"],
)
def test_every_fragment_compiles_and_fits(
    content: dict[str, Any],
    numbers: NumbersFile,
    tmp_path: Path,
    paper: str,
    failing: bool,
) -> None:
    plan, runs = mixed_study(content | {"report": {"paper": paper}})
    if failing:
        runs = study_of(
            plan, {(s.workload, s.world_size, s.batch_per_rank): ["oom"] * 2 for s in plan.runs.values()}
        )
    names = write_fragments(tmp_path, plan, runs)
    assert set(names) == {*FILES.values(), "environment", "provenance"}
    body = "\n".join(f"\\input{{tables/{name}}}\\clearpage" for name in names)
    status, log = compile_paper(tmp_path, numbers, document_class=STYLES[paper], body=body, passes=1)
    assert status == 0, log[-3000:]
    too_wide = [float(points) for points in re.findall(r"Overfull \\hbox \(([\d.]+)pt too wide\)", log)]
    assert too_wide == [], log
    assert "Float too large" not in log
    words = words_of(tmp_path / "paper.pdf")
    assert "OOM" in words
    assert "nan" not in words.split()
    if not failing:
        assert "timeout" in words
        assert "1 failed, 1 ok" in words or "1 ok, 1 failed" in words


def printed(numbers: NumbersFile, key: str) -> Shown:
    return numbers.numbers[f"mlp.{key}"].shown


def draw_figures(content: dict[str, Any], paper: str, folder: Path) -> str:
    """A figure of a column and one of a page, and the LaTeX that prints them at their own size."""
    plan = make_plan(parse_study(content | {"report": {"paper": paper}}, source="x"))
    frames = frames_of(plan, summary_frame(plan, study_of(plan, TIMES)))
    with paper_style():
        for name in ("throughput", "speedup_efficiency"):
            save_figure(drawing(name)(plan, "mlp", frames), folder / name)
    return (
        "\\begin{figure}\\centering\\includegraphics{throughput}\\caption{FIGURE of a column}\\end{figure}"
        "\\begin{figure*}\\centering\\includegraphics{speedup_efficiency}\\caption{FIGURE of a page}\\end{figure*}"
    )


@pytest.mark.parametrize(
    ("paper", "document_class"),
    [
        pytest.param(paper, words, marks=[] if paper == "article" else pytest.mark.slow)
        for paper, words in zip(("article", "ieee", "acm"), CLASSES.values(), strict=True)
    ],
    ids=list(CLASSES),
)
def test_a_paper_has_numbers_and_figures_wherever_it_wants_them(
    content: dict[str, Any], numbers: NumbersFile, tmp_path: Path, paper: str, document_class: str
) -> None:
    figures = draw_figures(content, paper, tmp_path)
    status, log = compile_paper(tmp_path, numbers, document_class=document_class, fragments=figures)
    assert status == 0, log[-3000:]
    assert "Overfull" not in log
    assert "Float too large" not in log
    words = words_of(tmp_path / "paper.pdf")
    assert words.count("FIGURE of a") == 2
    assert "Speedup over one process" in words, "the text of a figure is text"
    step, speedup = printed(numbers, "ddp.strong.n2.step_time_ms"), printed(numbers, "ddp.strong.n2.speedup")
    assert f"STEP {step.value} ms {step.limits} END" in words
    assert "ONE 1.00 no interval END" in words
    assert "MINUS \u22120.51 \u22120.51 END" in words
    assert f"EDEF {speedup.value} END" in words
    # The title, the heading and the heading in the table of contents; acmart's headings are in capitals.
    assert len(re.findall(rf"speedup of {speedup.value} \[", words, re.IGNORECASE)) == 2
    assert f"How it scales: {speedup.value} on two ranks" in words
    assert f"Throughput of {printed(numbers, 'ddp.strong.n2.throughput_samples_per_s').value} samples/s" in words
    bookmarks = [item.get_title() for item in pypdfium2.PdfDocument(tmp_path / "paper.pdf").get_toc()]
    assert any(f"speedup of {speedup.value} [" in title for title in bookmarks), bookmarks


def test_an_unknown_key_is_an_error_that_names_it(numbers: NumbersFile, tmp_path: Path) -> None:
    status, log = compile_paper(
        tmp_path, numbers, document_class="{article}", body="\\scalenum{mlp.ddp.n3.speedup}"
    )
    assert status != 0
    assert "no number 'mlp.ddp.n3.speedup'" in " ".join(log.split())


def test_a_key_of_an_older_release_is_an_error_that_names_the_new_one(
    numbers: NumbersFile, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "numbers.json"
    write_document(path, numbers)
    old = "mlp.ddp.weak.n2.finding.healthy.share-of-overhead-in-the-step"
    new = "mlp.ddp.weak.n2.finding.healthy.overhead_share"
    assert numbers.renamed[old] == new
    status, log = compile_paper(tmp_path, numbers, document_class="{article}", body=f"\\scalenum{{{old}}}")
    assert status != 0
    assert f"The number `{old}' has another key now: `{new}'" in "".join(log.split("\n")), log[-1500:]
    assert main(["number", old, "--results", str(path.parent)]) == 2
    assert f"{old}: the key is now {new}" in capsys.readouterr().err


def test_two_studies_need_a_prefix_each(numbers: NumbersFile, tmp_path: Path) -> None:
    shown = {"shown": Shown("7.77")}
    changed = {key: number.model_copy(update=shown) for key, number in numbers.numbers.items()}
    other = numbers.model_copy(update={"numbers": changed})
    (tmp_path / "other.tex").write_text(numbers_tex(other), encoding="utf-8")
    twice = "\\input{numbers}\\input{other}\\scalenum{mlp.ddp.strong.n2.speedup}"
    status, log = compile_paper(tmp_path, numbers, document_class="{article}", body=twice, passes=1)
    assert status != 0
    assert "has two values" in log
    apart = twice.replace("\\input{other}", "\\def\\scalestudyprefix{b.}\\input{other}")
    body = f"{apart} and \\scalenum{{b.mlp.ddp.strong.n2.speedup}}"
    status, log = compile_paper(tmp_path, numbers, document_class="{article}", body=body, passes=1)
    assert status == 0, log[-3000:]
    assert f"{printed(numbers, 'ddp.strong.n2.speedup').value} and 7.77" in words_of(tmp_path / "paper.pdf")
