"""A baseline that strong and weak scaling share is one row of the page and of the text report."""

from __future__ import annotations

import html
import re
from typing import Any

import pandas as pd
import pytest
from builders import facts_of, page_of, results_of, study_of
from scalestudy.publish.results import Results
from scalestudy.publish.templates import DIRECTORY, render
from scalestudy.study.config.load import parse_study
from scalestudy.study.plan import Plan, make_plan

TIMES = {
    ("mlp", 1, 32): [0.0010, 0.0011],
    ("mlp", 1, 16): [0.0006, 0.0006],
    ("mlp", 2, 16): [0.0040, 0.0042],
    ("mlp", 2, 32): [0.0041, 0.0041],
}


def measured(content: dict[str, Any]) -> tuple[Plan, Results, pd.DataFrame]:
    plan = make_plan(parse_study(content, source="x"))
    runs = study_of(plan, TIMES)
    return plan, results_of(plan, runs), runs


def rows_of(text: str) -> list[str]:
    """First cell of each row of the measurements, without its small text."""
    found = re.findall(r'<tr class="point"><th scope="row">(.*?)\n?<small>', text, flags=re.S)
    return [html.unescape(re.sub(r"<[^>]*>", "", cell)).strip() for cell in found]


def test_one_row_of_the_shared_baseline(content: dict[str, Any]) -> None:
    plan, results, _ = measured(content)
    assert results.summary["is_base"].sum() == 2, "the summary has it for each kind of scaling"
    page = page_of(plan, results)
    mine = [row for row in rows_of(page) if "forecast" not in row]
    assert mine[:3] == ["single, strong and weak (baseline), 1 rank", "ddp, strong, 2 ranks", "ddp, weak, 2 ranks"]
    assert page.count("single, strong and weak (baseline), 1 rank") == 1
    parts = page.split('<h2 id="parts">')[1].split("<h2")[0]
    assert parts.count("mlp, single, 1 rank, batch 32 per rank") == 1


def test_one_entry_in_the_text_report(content: dict[str, Any]) -> None:
    plan, results, runs = measured(content)
    text = render(DIRECTORY / "performance_report.txt", **facts_of(plan, results.summary, runs))
    assert text.count("single, strong and weak (baseline), 1 rank") == 1
    assert text.count("mlp, single, 1 rank, batch 32 per rank") == 1


@pytest.mark.parametrize("kind", ["mlp.single.strong.n1", "mlp.single.weak.n1"])
def test_a_link_to_either_baseline_leads_to_its_runs(content: dict[str, Any], kind: str) -> None:
    plan, results, _ = measured(content)
    page = page_of(plan, results)
    assert page.count(f'<details class="launches" id="{kind}">') == 1


def test_different_baselines_have_a_row_each(content: dict[str, Any]) -> None:
    variants = {
        "single": {"strategy": "single"},
        "slow": {"strategy": "single", "activation_checkpointing": True},
        "ddp": {"strategy": "ddp", "base": "single"},
        "ddp-slow": {"strategy": "ddp", "activation_checkpointing": True, "base": "slow"},
    }
    plan, results, _ = measured(content | {"variants": variants})
    rows = rows_of(page_of(plan, results))
    assert [row for row in rows if "baseline" in row] == [
        "single, strong and weak (baseline), 1 rank",
        "slow, strong and weak (baseline), 1 rank",
    ]
