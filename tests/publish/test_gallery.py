"""The page of the gallery, from finished studies to Markdown. tests/e2e/test_site.py has it on a built site."""

from __future__ import annotations

import json
import os
import re
import sys
from html import unescape
from pathlib import Path

import pytest
from conftest import ROOT, Checkout
from scalestudy.study.config.load import load_study
from scalestudy.study.plan import make_plan
from test_comparison import CONTENT, NEW, OLD, write_study

sys.path.insert(0, str(ROOT / "site"))
import gallery

PAGE = "docs/reference/gallery.html"


@pytest.fixture(autouse=True)
def command(monkeypatch: pytest.MonkeyPatch) -> None:
    """The command of the interpreter that runs the tests comes first."""
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("PYTHONPATH", str(ROOT / "workflow"))


def targets(text: str, site: Path) -> list[Path]:
    """The files that the page links to or shows, below `site`."""
    found = re.findall(r'(?:href|src)="([^"]+)"', text)
    return [((site / PAGE).parent / unescape(link)).resolve() for link in found]


def test_a_finished_study_is_listed_with_its_answers_and_its_files(edited: Checkout, tmp_path: Path) -> None:
    results, site = edited.root / "results/tiny", tmp_path / "site"
    plan = json.loads((results / "plan.json").read_text(encoding="utf-8"))
    plan["study"]["description"] = "Is 2 < 3 & *fast*?"
    (results / "plan.json").write_text(json.dumps(plan), encoding="utf-8")
    assert gallery.collect(results, site / "gallery/tiny")
    text = gallery.text(site / "gallery")
    linked = targets(text, site)
    assert [path.name for path in linked] == [name for name in gallery.FILES if (results / name).exists()]
    assert all(path.read_bytes() == (results / path.name).read_bytes() for path in linked)
    section = text[text.index("### tiny") : text.index("## Audit")]
    assert "<p>Is 2 &lt; 3 &amp; *fast*?</p>" in section
    report = " ".join((results / "performance_report.txt").read_text(encoding="utf-8").split())
    for workload in ("first", "second"):
        (answer,) = re.findall(rf"<p>(<strong>.* train {workload} .*)</p>", section)
        paragraphs = [unescape(re.sub(r"</?strong>", "", part)) for part in answer.split("<br>")]
        assert all(paragraph in report for paragraph in paragraphs)
        assert paragraphs[-1].startswith("Compared: ddp on 2 processes")
    assert re.search(
        r"<p>4 runs \(4 ok\); device of the ranks: cpu, processor: .+, CPUs available to a run: \d+\.", section
    )
    assert str(tmp_path) not in text


def test_a_study_without_a_report_is_left_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert not gallery.collect(tmp_path / "results/small", tmp_path / "gallery/small")
    assert capsys.readouterr().err.endswith("no report.html; the study is left out of the gallery\n")
    assert "### small" not in gallery.text(tmp_path / "gallery")
    assert "## Audit" in gallery.text(tmp_path / "gallery")


def test_a_study_that_cannot_be_run_is_one_sentence(capfd: pytest.CaptureFixture[str]) -> None:
    assert gallery.main(["nowhere.yaml"]) == 1
    assert capfd.readouterr().err.splitlines() == [
        "scalestudy run: nowhere.yaml: no such study file",
        "nowhere.yaml: not measured; the study is left out of the gallery",
    ]


def test_two_studies_are_compared_as_documents_and_as_a_gate(tmp_path: Path) -> None:
    first, second = (
        write_study(tmp_path / "results" / name, CONTENT, times) for name, times in (("old", OLD), ("new", NEW))
    )
    site = tmp_path / "site"
    assert gallery.compare(first, second, site / "gallery/comparison")
    text = gallery.text(site / "gallery")
    linked = targets(text, site)
    assert {path.name for path in linked} >= {"comparison.txt", "comparison.csv", "mlp_comparison.svg"}
    assert all(path.is_file() for path in linked)
    summary = json.loads((site / "gallery/comparison/comparison.json").read_text(encoding="utf-8"))["summary"]
    assert summary
    assert all(f"<p>{sentence}</p>" in text for sentence in summary)
    assert re.search(r'<img [^>]*alt="[^"]{40,}"', text)
    gate = text[text.index("$ scalestudy compare results/old results/new --fail-if") :]
    assert re.search(r"^\$ echo \$\?\n[013]$", gate, flags=re.MULTILINE)
    assert str(tmp_path) not in text


def test_studies_that_cannot_be_compared_are_left_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "gallery/comparison"
    for name in ("old", "new"):
        (tmp_path / "results" / name).mkdir(parents=True)
    assert not gallery.compare(tmp_path / "results/old", tmp_path / "results/new", folder)
    assert "the comparison is left out of the gallery" in capsys.readouterr().err
    assert not folder.exists()


def test_the_studies_exist_need_two_cores_and_download_nothing() -> None:
    names = []
    for files in gallery.STUDIES:
        study = load_study(*(ROOT / file for file in files))
        names.append(study.name)
        assert max(spec.world_size for spec in make_plan(study).runs.values()) == 2
        assert "url" not in study.model_dump_json(exclude_none=True)
    assert names == [gallery.name_of(files) for files in gallery.STUDIES]
    assert set(gallery.COMPARED) <= set(names)
