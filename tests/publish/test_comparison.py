"""`scalestudy compare` from folders to documents: its output, documents that compile, and refusals."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Sequence
from copy import deepcopy
from math import isnan
from pathlib import Path
from typing import Any

import pandas as pd
import pypdfium2
import pytest
from builders import study_of
from conftest import small_content
from published_schemas import check_json
from scalestudy.analyse.point.summary import summary_frame
from scalestudy.analyse.study.environment import StudyEnvironment, WarningCount
from scalestudy.cli.main import main
from scalestudy.compare.model import ComparisonFile
from scalestudy.compare.spelling import in_a_figure, plain
from scalestudy.record.document import read_document, write_document
from scalestudy.registry.files import FILES
from scalestudy.study.config.load import parse_study
from scalestudy.study.plan import make_plan

OLD = {
    ("mlp", 1, 32): [0.0100, 0.0103, 0.0101],
    ("mlp", 1, 16): [0.0060, 0.0062, 0.0061],
    ("mlp", 1, 8): [0.0041, 0.0042, 0.0040],
    ("mlp", 2, 16): [0.0079, 0.0085, 0.0081],
    ("mlp", 2, 32): [0.0131, 0.0139, 0.0134],
    ("mlp", 4, 8): ["oom", "oom", "oom"],
    ("mlp", 4, 32): [0.0171, 0.0182, 0.0175],
}
NEW = OLD | {
    ("mlp", 2, 16): [0.0061, 0.0063, 0.0066],
    ("mlp", 2, 32): [0.0130, 0.0141, "timeout"],
    ("mlp", 4, 8): [0.0051, 0.0052, 0.0054],
    ("mlp", 4, 32): ["failed", "timeout", "failed"],
}
HOSTILE = "_ % & # { } \\ $ ~ ^ < > \" ' | \\input{/etc/passwd} $\\foo$ 漢 \N{GRINNING FACE} \u202e Zürich"
CLASSES = {"ieee": "[conference]{IEEEtran}", "acm": "[sigconf,nonacm]{acmart}", "article": "{article}"}
NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?![\w.]*\w)")

needs_tex = pytest.mark.skipif(
    shutil.which("pdflatex") is None,
    reason="no pdflatex; apt-get install texlive-latex-extra texlive-science texlive-publishers",
)


CONTENT = small_content(repeats=3, scales=["1x2", "1x4"])


@pytest.fixture
def content() -> dict[str, Any]:
    return deepcopy(CONTENT)


def write_study(
    folder: Path,
    content: dict[str, Any],
    times: dict[Any, Any],
    facts: dict[str, Any] | None = None,
    warnings: Sequence[WarningCount] = (),
) -> Path:
    """A results folder as the pipeline writes it, with the files that a comparison reads."""
    plan = make_plan(parse_study(content, source="x"))
    keys = {(spec.workload, spec.world_size, spec.batch_per_rank) for spec in plan.runs.values()}
    runs = study_of(plan, {key: times.get(("mlp", *key[1:]), [0.01] * 3)[: plan.study.repeats] for key in keys})
    runs["record_sha256"] = [f"{folder.name}{index}" for index in range(len(runs))]
    folder.mkdir(parents=True)
    (folder / "plan.json").write_text(plan.model_dump_json(), encoding="utf-8")
    runs.to_csv(folder / "runs.csv", index=False)
    summary_frame(plan, runs).to_csv(folder / "comprehensive_summary.csv", index=False)
    facts = {"cpu": ["EPYC"], "version of torch": ["2.13.0"], "backend": ["gloo"]} | (facts or {})
    environment = StudyEnvironment(facts=facts, warnings=tuple(warnings))
    write_document(folder / "environment.json", environment)
    return folder


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Studies `old` and `new`, made once. New has a workload and a variant of its own, and another host."""
    folder = tmp_path_factory.mktemp("results")
    warning = WarningCount(kind="busy host", launches=2, example="the host is busy")
    write_study(folder / "old", CONTENT, OLD, warnings=[warning])
    content = deepcopy(CONTENT)
    content["workloads"]["other"] = content["workloads"]["mlp"] | {"scaling": ["strong"]}
    content["variants"]["fsdp"] = {"strategy": "fsdp"}
    content["host"] = {"cores_per_rank": 2, "pin": False}
    facts = {"version of torch": ["2.14.0"], "cpu": [HOSTILE], "host": ["node1"]}
    write_study(folder / "new", content, NEW, facts)
    return folder


@pytest.fixture
def old(made: Path, tmp_path: Path) -> Path:
    """A copy, to edit."""
    return Path(shutil.copytree(made / "old", tmp_path / "results/old"))


@pytest.fixture
def new(made: Path, tmp_path: Path) -> Path:
    """A copy, to edit."""
    return Path(shutil.copytree(made / "new", tmp_path / "results/new"))


def compare(*arguments: Any) -> int:
    return main(["compare", *map(str, arguments)])


@pytest.fixture(scope="module")
def out(made: Path) -> Path:
    """A comparison with failures on both sides. Not to be changed."""
    old, new, folder = made / "old", made / "new", made / "out"
    assert compare(old, new, "--name", "A=Old cluster", "--name", f"{new}=New cluster", "--out", folder) == 0
    return folder


def part(text: str, begin: str, end: str) -> str:
    return " ".join(text[text.index(begin) : text.index(end)].split())


def test_the_text_can_be_read_aloud_from_its_first_sentence(out: Path) -> None:
    text = (out / "comparison.txt").read_text(encoding="utf-8")
    assert text.isascii()
    assert max(map(len, text.splitlines())) <= 80
    assert not re.search(r"\bnan\b|None", text)
    summary = part(text, "SUMMARY", "POINTS")
    ratio = r"mlp: New cluster \(B\) is 1\.29 \[1\.18, 1\.41\] times as fast as Old cluster \(A\)"
    assert re.search(rf"{ratio} at ddp strong, 2 ranks, batch 16 per rank\.", summary)
    assert "1 of 5 points is faster, 2 show no significant difference, 2 were not measured in both." in summary, (
        summary
    )
    points = part(text, "POINTS", "WHAT DIFFERS")
    assert "B: faster than A." in points
    assert "B: no significant difference from A." in points
    assert "A OOM -- B 5.23" in points
    assert "B: no ratio (OOM in A)." in points
    assert "B: no ratio (failed / timeout in B)." in points
    assert "B: 2 ok, 1 timeout." in points
    assert re.search(r"efficiency minus the efficiency of A: 18\.0 \[9\.8, 26\.8\] points \(higher\)", points)
    assert "equivalent within 1 point" in points
    assert points.count("single, one process, batch 32") == 1, "the base case of strong and of weak scaling is one"


def test_the_text_says_what_differs_and_what_is_missing(out: Path) -> None:
    text = (out / "comparison.txt").read_text(encoding="utf-8")
    differing = part(text, "WHAT DIFFERS", "WHAT COULD NOT")
    assert "version of torch A 2.13.0 B 2.14.0" in differing
    assert "host A not recorded B node1" in differing
    assert "host.cores_per_rank A not set B 2" in differing
    assert "host.pin A true B false" in differing
    assert "communication backend" not in differing, "it is the same"
    assert "A: busy host (2 of 21 runs)" in differing
    missing = text[text.index("WHAT COULD NOT") :]
    said = " ".join(missing.split())
    assert "* mlp, only in B: fsdp strong, 2 ranks, batch 16 per rank; fsdp strong, 4 ranks" in said
    assert "* other, only in B: single, one process, batch 32; " in said


def test_every_number_of_the_text_is_in_the_json_as_printed(out: Path) -> None:
    check_json(out / "comparison.json", "comparison")
    points = read_document(out / "comparison.json", ComparisonFile).points
    numbers = [number for point in points for study in point.studies.values() for number in study.numbers.values()]
    shown = {text for number in numbers for text in vars(number.shown).values()}
    text = (out / "comparison.txt").read_text(encoding="utf-8")
    measured = text[text.index("\nmlp\n") : text.index("WHAT DIFFERS")]
    measured = re.sub(r"batch\s+\d+|\d+ ranks?|\d+\s+(ok|timeout)|within\s+1\s+point|\d+ more", " ", measured)
    found = NUMBER.findall(measured)
    assert len(found) > 60
    assert sorted(set(found) - shown) == []
    assert all(bool(number.shown.low) == (not isnan(number.low)) for number in numbers)


def test_the_csv_has_every_point_of_every_study_in_si_units(out: Path, made: Path) -> None:
    frame = pd.read_csv(out / "comparison.csv")
    declared = [name for column in FILES["comparison.csv"].columns for name in column.names]
    assert sorted(frame.columns) == sorted(declared)
    assert frame["name"].unique().tolist() == ["Old cluster", "New cluster"]
    mine = frame[(frame["scaling"] == "strong") & (frame["variant"] == "ddp") & (frame["world_size"] == 2)]
    mine = mine[mine["workload"] == "mlp"]
    a, b = mine.to_dict("records")
    assert b["throughput_ratio"] == pytest.approx(b["throughput_samples_per_s"] / a["throughput_samples_per_s"])
    assert b["step_time_s"] == pytest.approx((0.0061 * 0.0063 * 0.0066) ** (1 / 3))
    assert b["throughput_ratio_low"] < b["throughput_ratio"] < b["throughput_ratio_high"]
    for letter, folder in (("A", made / "old"), ("B", made / "new")):
        summary = pd.read_csv(folder / "comprehensive_summary.csv")
        distributed = summary[summary["variant"] != "single"]
        theirs = frame[(frame["study"] == letter) & (frame["variant"] != "single")]
        assert len(theirs) == len(distributed)
        assert theirs["step_time_s"].sum() == pytest.approx(distributed["step_time_s"].sum())
    assert set(frame[frame["workload"] == "other"]["not_compared"]) == {"not_in_first"}


def test_the_figure_has_its_ratios_and_says_what_failed(out: Path) -> None:
    assert sorted(path.suffix for path in (out / "figures").iterdir()) == [".csv", ".pdf", ".png", ".svg", ".txt"]
    drawn = pd.read_csv(out / "figures/mlp_comparison.csv")
    own = FILES["figures/WORKLOAD_comparison.csv"].columns
    assert drawn.columns.tolist() == [column.name for column in (*FILES["figures/FIGURE.csv"].columns, *own)]
    ratios = drawn[(drawn["y_name"] == "Throughput relative to A") & drawn["y"].notna()]
    frame = pd.read_csv(out / "comparison.csv")
    found = frame[frame["throughput_ratio"].notna() & ~frame["is_reference"]]
    assert sorted(ratios["y"]) == pytest.approx(sorted(found["throughput_ratio"]))
    assert set(ratios["x"]) == {1, 2}
    assert set(ratios["series"]) == {
        "B New cluster: single",
        "B New cluster: ddp, strong scaling",
        "B New cluster: ddp, weak scaling",
    }
    words = (out / "figures/mlp_comparison.txt").read_text(encoding="utf-8")
    assert "Throughput relative to A against ranks: B New cluster: single 1 at 1" in words
    pdf = pypdfium2.PdfDocument(out / "figures/mlp_comparison.pdf")
    printed = pdf[0].get_textpage().get_text_range()
    assert "A: OOM" in printed
    assert "B: failed / timeout" in printed
    assert "equal to A" in printed


@needs_tex
@pytest.mark.parametrize(
    ("paper", "document_class"),
    [pytest.param(*one, marks=[] if one[0] == "article" else pytest.mark.slow) for one in CLASSES.items()],
    ids=list(CLASSES),
)
def test_the_fragment_compiles_and_fits_with_any_name(
    content: dict[str, Any], new: Path, tmp_path: Path, paper: str, document_class: str
) -> None:
    """Three studies, so that columns move to a second panel; two of them on two nodes too."""
    content["scales"] = ["1x2", "2x2"]
    first = write_study(tmp_path / "first", content | {"report": {"paper": paper}}, OLD)
    third = write_study(tmp_path / "third", content, {key: ["oom"] * 3 for key in OLD})
    out = tmp_path / "out"
    assert compare(first, new, third, "--name", f"A={HOSTILE}", "--name", f"C={'long ' * 30}", "--out", out) == 0
    (tmp_path / "paper.tex").write_text(
        f"\\documentclass{document_class}\n\\usepackage{{lmodern}}\\usepackage{{booktabs,siunitx}}\n"
        "\\begin{document}\n\\input{out/comparison}\nText.\n\\end{document}\n"
    )
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "paper.tex"]
    result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, errors="replace")
    assert result.returncode == 0, result.stdout[-3000:]
    too_wide = [float(points) for points in re.findall(r"Overfull \\hbox \(([\d.]+)pt too wide\)", result.stdout)]
    assert too_wide == [], result.stdout
    words = " ".join(
        page.get_textpage().get_text_range() for page in pypdfium2.PdfDocument(tmp_path / "paper.pdf")
    )
    assert "OOM" in words
    assert "passwd" in words
    assert "nan" not in words.split()
    tex = (out / "comparison.tex").read_text(encoding="utf-8")
    assert tex.startswith("% Needs \\usepackage{booktabs,siunitx}.")
    assert "\\input{/etc" not in tex
    assert "|" not in tex.split("\\begin{tabular}")[1]
    assert "{Nodes}" in tex


def test_hostile_names_are_drawn_and_told_in_plain_letters(old: Path, new: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert compare(old, new, "--name", f"A={HOSTILE}", "--name", "B=_hidden", "--out", out) == 0
    text = (out / "comparison.txt").read_text(encoding="utf-8")
    assert text.isascii()
    assert max(map(len, text.splitlines())) <= 80
    assert "(U+1F600) (U+202E) Zurich" in " ".join(text.split())
    printed = pypdfium2.PdfDocument(out / "figures/mlp_comparison.pdf")[0].get_textpage().get_text_range()
    assert "A _ % & # { } \\ $ ~" in printed
    assert "B _hidden: ddp, strong scaling" in printed
    assert json.loads((out / "comparison.json").read_text())["studies"][0]["name"] == " ".join(HOSTILE.split())
    assert plain({"a": ["naïve \t x"]}) == {"a": ["naive x"]}
    assert in_a_figure("5 $ é") == "5 \\$ é"


@pytest.mark.slow
def test_names_are_the_studies_own_or_their_folders(
    content: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def names(*folders: Path) -> list[str]:
        assert compare(*folders, "--out", tmp_path / "out") == 0
        return [study["name"] for study in json.loads((tmp_path / "out/comparison.json").read_text())["studies"]]

    first = write_study(tmp_path / "a/small", content, OLD)
    second = write_study(tmp_path / "b/small", content, NEW)
    renamed = write_study(tmp_path / "c/small", content | {"study": "renamed"}, NEW)
    elsewhere = write_study(tmp_path / "moved", content, NEW)
    assert names(first, renamed) == ["small", "renamed"]
    assert names(first, elsewhere) == ["small", "moved"]
    assert names(first, second) == [str(first), str(second)]


def test_what_was_trained_differently_is_refused_with_its_keys(
    content: dict[str, Any], old: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = deepcopy(content)
    other["variants"]["ddp"]["precision"] = "bf16"
    part_of_it = write_study(tmp_path / "half", other, NEW)
    assert compare(old, part_of_it, "--out", tmp_path / "out") == 0
    text = " ".join((tmp_path / "out/comparison.txt").read_text().split())
    assert (
        "mlp (ddp), B against A: not the same question: variants.ddp.precision is fp32 in A and bf16 in B." in text
    )
    capsys.readouterr()
    other["workloads"]["mlp"]["model"]["hidden_dim"] = 32
    nothing = write_study(tmp_path / "nothing", other, NEW)
    assert compare(old, nothing, "--out", tmp_path / "none") == 2
    error = capsys.readouterr().err
    assert "nothing can be compared" in error
    assert "workloads.mlp.model.hidden_dim is 16 in A and 32 in B" in error
    assert not (tmp_path / "none").exists()


def test_where_only_references_meet_the_text_says_so(content: dict[str, Any], old: Path, tmp_path: Path) -> None:
    """One process at batch 16: here what two ranks have of 32, there what four have of 64."""
    content["workloads"]["mlp"] |= {"batch_size": 64}
    other = write_study(tmp_path / "larger", content | {"scales": ["1x4"]}, OLD)
    assert compare(old, other, "--out", tmp_path / "out") == 0
    text = " ".join((tmp_path / "out/comparison.txt").read_text().split())
    assert "mlp: only single processes at other batches are compared between larger (B) and old (A)" in text
    assert "1 more comparison of single processes at other batches (references of strong scaling) is in" in text
    assert "mlp, only in B: single, one process, batch 64; ddp strong, 4 ranks, batch 16 per rank;" in text


def spoil(folder: Path, name: str, *, drop: str = "", **values: Any) -> None:
    """A table without a column, or plan.json with other values at its top."""
    path = folder / name
    if drop:
        pd.read_csv(path).drop(columns=drop).to_csv(path, index=False)
    else:
        path.write_text(json.dumps(json.loads(path.read_text()) | values))


@pytest.mark.parametrize(
    ("what", "said"),
    [
        ("missing", "no such folder; name the results of a study, such as results/STUDY"),
        ("above", "it has no plan.json. Name the folder of one study; it contains new, old"),
        ("empty", "it has no plan.json. Name the folder of one study, such as results/STUDY"),
        (
            "no summary",
            "so the study is not finished; run snakemake on it, or `scalestudy stage aggregate --results",
        ),
        ("schema", "plan.json: written by a newer scalestudy: schema 2, this one reads 1"),
        ("column", "has no column throughput_samples_per_s, so another version wrote it"),
        ("points", "does not match the plan in its folder: other points"),
        ("runs", "does not match the plan in its folder: no run mlp-"),
        (
            "no environment",
            "environment.json: no such file or directory; run or import the study again, or `scalestudy stage"
            " aggregate`",
        ),
        ("twice", "given twice"),
        ("link", "is the same); name two different studies"),
        ("confidence", "report.confidence differs: 0.95 in"),
        ("name", "--name D=x: write LETTER=NAME or FOLDER=NAME; the studies are A ("),
        ("empty name", "no name after the equals sign"),
        ("same names", "two studies are called x; give them different names"),
        ("out", "is the folder of a study; name another folder for the comparison"),
        ("in common", "the studies have no point in common\n  A ("),
        ("copy", "the studies have the same runs; one is a copy of the other"),
    ],
)
def test_what_cannot_be_compared_is_said_in_words(
    content: dict[str, Any],
    old: Path,
    new: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    what: str,
    said: str,
) -> None:
    other, more, out = new, [], tmp_path / "out"
    if what == "missing":
        other = tmp_path / "nowhere"
    elif what == "above":
        other = tmp_path / "results"
    elif what == "empty":
        other = tmp_path / "empty"
        other.mkdir()
    elif what == "no summary":
        (new / "comprehensive_summary.csv").unlink()
    elif what == "schema":
        spoil(new, "plan.json", schema_version=2)
    elif what == "column":
        spoil(new, "runs.csv", drop="throughput_samples_per_s")
    elif what == "points":
        shutil.copy(old / "comprehensive_summary.csv", new)
    elif what == "runs":
        shutil.copy(old / "runs.csv", new)
    elif what == "no environment":
        (new / "environment.json").unlink()
    elif what == "twice":
        other = old
    elif what == "link":
        other = tmp_path / "link"
        other.symlink_to(old)
    elif what == "confidence":
        other = write_study(tmp_path / "wide", content | {"report": {"confidence": 0.9}}, NEW)
    elif what == "name":
        more = ["--name", "D=x"]
    elif what == "empty name":
        more = ["--name", "A= "]
    elif what == "same names":
        more = ["--name", "A=x", "--name", "B=x"]
    elif what == "out":
        out = old
    elif what == "in common":
        renamed = content | {"workloads": {"text": content["workloads"]["mlp"]}}
        other = write_study(tmp_path / "apart", renamed, NEW)
    elif what == "copy":
        other = tmp_path / "copy"
        shutil.copytree(old, other)
    assert compare(old, other, *more, "--out", out) == 2
    error = capsys.readouterr().err
    assert said in error
    assert error.startswith("scalestudy compare: ")
    assert not (out / "comparison.txt").exists()


def test_a_study_alone_is_nothing_to_compare(
    old: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert compare(old, "--out", tmp_path / "out") == 2
    assert "a comparison needs at least 2" in capsys.readouterr().err
