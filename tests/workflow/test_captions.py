"""Captions of Snakemake's report: every name in them exists, since a missing one leaves a gap without an error."""

from __future__ import annotations

import html
import re
from pathlib import Path
from types import SimpleNamespace

import pytest
from docutils.core import publish_parts
from jinja2 import Environment, StrictUndefined
from scalestudy.registry.figures import FIGURES

REPORT = Path(__file__).parents[2] / "report"
TEXTS = sorted([*REPORT.glob("captions/*.rst"), REPORT / "workflow.rst"])


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.stem)
def test_a_caption_names_the_study_alone(path: Path) -> None:
    """One job draws all figures: it has no workload of its own."""
    template = Environment(undefined=StrictUndefined).from_string(path.read_text(encoding="utf-8"))
    output = ["a/place/tables/memory.tex" if path.stem == "tables" else "a/place/report.html"]
    text = template.render(snakemake=SimpleNamespace(config={"study": "tiny"}, output=output))
    if "the study in" in text:
        assert "the study in ``a/place``" in text, "of a module too, whose config is a part of Snakemake's"
    assert text.strip().endswith(".")
    assert not re.search(r"\b(of|in)\s+(over|against|by|as|:|,)", text), text


def test_a_description_is_text_in_snakemakes_report(tmp_path: Path) -> None:
    """Of reStructuredText a directive can read a file, and a role can write HTML."""
    (tmp_path / "secret").write_text("the-secret")
    said = [
        f"\n\n.. include:: {tmp_path / 'secret'}\n",
        "\n\n.. raw:: html\n\n   <script>alert(1)</script>\n",
        "*a* **b** `c <javascript:alert(1)>`_ |d| e_ javascript:alert(1) http://example.org/ \\x :raw:`x`",
    ]
    for description in said:
        template = Environment(undefined=StrictUndefined).from_string(
            (REPORT / "workflow.rst").read_text(encoding="utf-8")
        )
        config = {"study": "tiny", "description": description}
        text = template.render(snakemake=SimpleNamespace(config=config))
        body = publish_parts(text, writer="html")["body"]  # as Snakemake 9.27 makes it
        assert "the-secret" not in body
        assert not re.search(r"<(a|script|em|tt|cite|div class=.system)\b", body), body
        assert body.count("<strong>") == 1
        shown = html.unescape(re.sub(r"<[^>]*>", "", body))
        assert " ".join(description.split()) in " ".join(shown.split())


def test_each_caption_is_of_a_rule_or_of_a_figure() -> None:
    rules = "".join(path.read_text(encoding="utf-8") for path in (REPORT.parent / "rules").glob("*.smk"))
    for path in TEXTS[:-1]:
        assert f"captions/{path.name}" in rules or path.stem in FIGURES, path.name
    assert set(FIGURES) <= {path.stem for path in TEXTS}
