"""Real runs until decided: runs that are not needed are recorded as such, and nothing is run twice."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from conftest import Checkout, until_decided
from scalestudy.record.observation import RunRecord, read_record
from test_dry_runs import planned

RESULTS = Path("results/decided")


def study_of(**measure: Any) -> dict[str, Any]:
    return until_decided("decided", **measure)


def records(checkout: Checkout) -> dict[str, RunRecord]:
    return {path.name: read_record(path) for path in sorted(checkout.root.glob(f"{RESULTS}/runs/*-r*"))}


@pytest.fixture
def settled(checkout: Checkout) -> Checkout:
    """A study whose verdicts are decided at its first look."""
    checkout.configure(study_of(half_width=0.99))
    checkout.run("snakemake", str(RESULTS / "performance_report.txt"))
    return checkout


def test_what_is_settled_is_not_launched_again(settled: Checkout) -> None:
    found = records(settled)
    assert Counter((record.spec.repeat, record.outcome) for record in found.values()) == {
        (1, "ok"): 2,
        (2, "ok"): 2,
        (3, "ok"): 2,
        (4, "unneeded"): 2,
    }
    reasons = {record.reason for record in found.values() if record.outcome == "unneeded"}
    assert reasons == {"no comparison needs more runs after 3 repeats"}
    summary = pd.read_csv(settled.root / RESULTS / "comprehensive_summary.csv").set_index("variant")
    assert summary.loc["ddp", "stopped_because"] in ("decided", "speedup_known")
    assert summary.loc["single", "stopped_because"] == "serves"
    text = (settled.root / RESULTS / "performance_report.txt").read_text()
    assert "checked after 3 and 4 runs" in " ".join(text.split())

    # A lost decision is repeated from the same records, with the same result.
    decision = settled.root / RESULTS / "decisions/after_3.json"
    before = decision.read_text()
    assert json.loads(before)["comparisons"][0]["settled"] in ("decided", "precise")
    decision.unlink()
    settled.run("snakemake", str(decision.relative_to(settled.root)))
    assert decision.read_text() == before
    assert records(settled) == found
    assert not [rule for rule in planned(settled.run("snakemake", "-n").stdout) if rule.startswith("train")]


@pytest.mark.slow
def test_a_budget_ends_between_repeats(checkout: Checkout) -> None:
    checkout.configure(study_of(budget_device_hours=0.001))
    printed = checkout.run("scalestudy", "plan").stdout
    assert "expected runs: " in printed
    checkout.run("snakemake", str(RESULTS / "comprehensive_summary.csv"))
    found = records(checkout)
    assert Counter(record.outcome for record in found.values()) == {"ok": 2, "unneeded": 6}
    assert {record.reason for record in found.values() if record.spec.repeat == 2} == {
        "the budget of 0.001 device-hours is exhausted after 1 repeat"
    }
    (log,) = (path.read_text() for path in checkout.root.glob("**/decide_on_launches/after_1.log"))
    assert "the budget of 0.001 device-hours allows 1 repeat" in log
