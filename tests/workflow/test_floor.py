"""Baselines that are really run twice: the runs, and the difference in every document."""

from __future__ import annotations

import html
import json
import re
from math import isnan
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from conftest import Checkout, planned, until_decided
from scalestudy.analyse.point.spoiled import FEWEST, NOT_MARKED
from scalestudy.publish.typeset import missing_tex
from scalestudy.record.observation import read_record

RESULTS = Path("results/floor")


def study_of(**measure: Any) -> dict[str, Any]:
    return until_decided("floor", **({"half_width": 0.99} | measure))


@pytest.mark.slow
def test_twins_are_added_to_a_finished_study_and_nothing_is_measured_again(checkout: Checkout) -> None:
    checkout.configure(study_of())
    checkout.run("snakemake", str(RESULTS / "performance_report.txt"))
    runs = checkout.root / RESULTS / "runs"
    before = {path.name: read_record(path) for path in runs.glob("first-*")}
    text = " ".join((checkout.root / RESULTS / "performance_report.txt").read_text().split())
    assert "no baseline was run twice per repeat. To measure it, set measure.floor: true." in text

    checkout.configure(study_of(floor=True))
    assert "single-again" in checkout.run("scalestudy", "plan").stdout
    checkout.run("snakemake")
    for name, record in before.items():
        # A run that was not needed may be decided on again; it is not launched.
        again = read_record(runs / name)
        assert again == record or (again.outcome, again.reason) == ("unneeded", record.reason)
    new = {path.name: read_record(path) for path in runs.glob("first-*") if path.name not in before}
    assert sorted(one.spec.repeat for one in new.values()) == [1, 2, 3, 4]
    bases = {one.spec.repeat: one for one in before.values() if one.spec.variant == "single"}
    for one in new.values():
        base = bases[one.spec.repeat]
        assert one.spec == base.spec.model_copy(update={"variant": "single-again"})
        # On a busy host the fourth repeat may be needed: the twin is launched if its baseline is.
        assert one.outcome == base.outcome
    assert not [rule for rule in planned(checkout.run("snakemake", "-n").stdout) if rule.startswith("train")]

    documents_agree(checkout.root / RESULTS)


def documents_agree(results: Path) -> None:
    floors = pd.read_csv(results / "floors.csv")
    (row,) = floors.to_dict("records")
    assert (row["workload"], row["variant"]) == ("first", "single")
    runs = pd.read_csv(results / "runs.csv", keep_default_na=False).query("outcome == 'ok' and variant != 'ddp'")
    runs["step_time_s"] = runs["step_time_s"].astype(float)
    # A repeat with a run that other load disturbed is left out as long as two others are left.
    for measured in (runs[runs["spoiled"].isin(NOT_MARKED)], runs):
        by_variant = measured.pivot(index="repeat", columns="variant", values="step_time_s")
        by_variant = by_variant.reindex(columns=["single", "single-again"])  # all may be disturbed
        ratios = (by_variant["single-again"] / by_variant["single"]).dropna()
        if len(ratios) >= FEWEST:
            break
    assert (row["repeats_compared"], row["most_repeats"]) == (len(ratios), 4)
    assert len(ratios) >= FEWEST
    assert row["step_time_difference"] == pytest.approx(ratios.prod() ** (1 / len(ratios)) - 1)
    assert row["smallest_difference"] > 0
    assert isnan(row["smallest_difference_low"]) == (len(ratios) <= 3), "three repeats say nothing of its limits"

    numbers = json.loads((results / "numbers.json").read_text())["numbers"]
    smallest = numbers["first.single.floor.smallest_difference_percent"]
    assert smallest["value"] == pytest.approx(100 * row["smallest_difference"])
    shown = smallest["shown"]
    said = f"a difference of {shown['value']} % is detected in 4 of 5 studies"
    text = (results / "performance_report.txt").read_text()
    assert max(map(len, text.splitlines())) <= 80
    page = html.unescape(re.sub(r"<[^>]+>", "", (results / "report.html").read_text()))
    tex = (results / "report.tex").read_text().replace("\\%", "%").replace("\\penalty0{}", "")
    for document in (text, page, tex):
        assert said in " ".join(document.split())
    assert f"{{{shown['value']}}}" in (results / "numbers.tex").read_text()
    variants = set(pd.read_csv(results / "comprehensive_summary.csv")["variant"])
    assert variants == {"single", "ddp"}
    for figure in (results / "figures").glob("*.csv"):
        assert "single-again" not in figure.read_text()
    assert (results / "report.pdf").exists() == (not missing_tex())
