"""Results that release 0.1 wrote: nothing is measured again, and what cannot be read is refused by name."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pandas as pd
import pytest
from conftest import Checkout, make_checkout
from scalestudy.record.tables import read_observation
from test_dry_runs import planned
from test_reruns import PACKAGE, PROTOCOL_4, append, training

ARCHIVE = Path(__file__).parents[1] / "data" / "study_0.1.tar.xz"
RESULTS = Path("results/earlier")
COMPARED_WITHIN_REPEATS = [f"{name}_{limit}" for name in ("speedup", "efficiency") for limit in ("low", "high")]
"""What has other limits than in 0.1, where runs were independent samples."""
EQUAL_ACCURACIES = [f"accuracy_difference_{limit}" for limit in ("low", "high")]
"""Of runs that all have the same difference. 0.1 took it for certain; today it has the width of a count."""


@pytest.fixture
def upgraded(tmp_path: Path) -> Checkout:
    """A checkout of today with a study that release 0.1 finished, and what Snakemake noted of its runs."""
    checkout = make_checkout(tmp_path / "upgraded")
    subprocess.run(["tar", "-xf", str(ARCHIVE), "-C", str(checkout.root)], check=True)
    shutil.move(checkout.root / "config.yaml", checkout.root / "config/config.yaml")
    return checkout


def records(checkout: Checkout) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in sorted(checkout.root.glob(f"{RESULTS}/runs/*/run.json"))}


def test_a_study_of_0_1_keeps_its_runs_and_its_values(upgraded: Checkout) -> None:
    before, summary = records(upgraded), pd.read_csv(upgraded.root / RESULTS / "comprehensive_summary.csv")
    assert len(before) == 6
    jobs = planned(upgraded.run("snakemake", "-n").stdout)
    assert not [rule for rule in jobs if rule.startswith("train")]
    assert jobs["aggregate_runs"] == 1
    upgraded.run("snakemake", str(RESULTS / "performance_report.txt"))
    assert records(upgraded) == before
    of_today = pd.read_csv(upgraded.root / RESULTS / "comprehensive_summary.csv")
    numbers = summary.select_dtypes("number").columns.intersection(of_today.select_dtypes("number").columns)
    values = numbers.difference([*COMPARED_WITHIN_REPEATS, *EQUAL_ACCURACIES])
    assert {"step_time_s", "speedup", "exposed_span_s"} <= set(values)
    pd.testing.assert_frame_equal(of_today[values], summary[values])
    assert not (upgraded.root / RESULTS / "superseded").exists()
    assert not [rule for rule in planned(upgraded.run("snakemake", "-n").stdout) if rule.startswith("train")]
    printed = upgraded.run("scalestudy", "plan").stdout
    assert "measured already: 6 runs\n  Measured 6 by protocol 1; the current protocol is 3." in printed


@pytest.mark.slow
def test_runs_are_kept_where_snakemake_remembers_nothing(upgraded: Checkout) -> None:
    before = records(upgraded)
    shutil.rmtree(upgraded.root / ".snakemake")
    for path in upgraded.root.glob(f"{RESULTS}/runs/*/run.sha256"):
        path.unlink()
    assert training(planned(upgraded.run("snakemake", "-n").stdout)) == 4
    (upgraded.root / RESULTS / "runs.csv").unlink()
    upgraded.run("snakemake", str(RESULTS / "runs.csv"))
    assert records(upgraded) == before
    assert not [rule for rule in planned(upgraded.run("snakemake", "-n").stdout) if rule.startswith("train")]


@pytest.mark.slow
def test_rows_of_protocols_that_are_not_comparable_have_no_ratio(upgraded: Checkout) -> None:
    """The baseline is measured again by a fourth protocol; its two ranks are still of the first."""
    append(upgraded, PACKAGE / "record/protocol.py", PROTOCOL_4)
    for run in upgraded.root.glob(f"{RESULTS}/runs/mlp-single-*"):
        shutil.move(run, upgraded.root / RESULTS / "superseded" / run.name)
    documents = [str(RESULTS / name) for name in ("performance_report.txt", "report.html", "report.tex")]
    upgraded.run("snakemake", *documents)
    text = " ".join((upgraded.root / documents[0]).read_text(encoding="utf-8").split())
    assert "mlp, ddp strong scaling, 2 ranks: CONFOUNDED" in text
    assert "Step times were measured with protocol 1 here and with protocol 4 for the baseline" in text
    assert re.search(r"Measured 3 by protocol 1, [23] by protocol 4; the current protocol is 4", text)
    assert "scalestudy retry RESULTS --protocol" in text
    for document in documents[1:]:
        assert "the current protocol is 4" in (upgraded.root / document).read_text(encoding="utf-8")
    again = ("scalestudy", "retry", str(RESULTS), "--protocol")
    assert "3 of 6 runs set aside" in upgraded.run(*again).stdout
    assert "none of 3 runs would be measured differently by protocol 4" in upgraded.run(*again).stdout


def test_tables_of_0_1_are_refused_by_name(upgraded: Checkout) -> None:
    shutil.copytree(upgraded.root / RESULTS, upgraded.root / "results/other")
    for command in (("summary",), ("compare", str(RESULTS), "results/other", "--out", "compared")):
        result = upgraded.run("scalestudy", *command, check=False)
        assert result.returncode == 2
        assert re.search(rf"{RESULTS}/[a-z_]+\.(csv|json): .*scalestudy stage ", result.stdout), result.stdout
        assert "Traceback" not in result.stdout


DAMAGES = {
    "a record cut short": ("run.json", lambda text: text[: len(text) // 2], "not a complete run.json"),
    "a record of a newer release": (
        "run.json",
        lambda text: json.dumps(json.loads(text) | {"schema_version": 9}),
        "schema_version 9; this version reads up to 5. Read it with the release that wrote it",
    ),
    "a record of a newer protocol": (
        "run.json",
        lambda text: json.dumps(json.loads(text) | {"schema_version": 5, "protocol": 7}),
        "protocol 7; this version reads up to 3. Read it with the release that wrote it",
    ),
    "a table cut short": ("epochs.csv", lambda text: text[:-9], "epochs.csv: differs from what was recorded"),
}


QUICK = ("a record of a newer protocol", "a table cut short")


@pytest.mark.parametrize(
    "damage", [pytest.param(damage, marks=[] if damage in QUICK else pytest.mark.slow) for damage in DAMAGES]
)
def test_a_damaged_run_is_refused_by_name_and_kept(upgraded: Checkout, damage: str) -> None:
    name, change, said = DAMAGES[damage]
    path = next(upgraded.root.glob(f"{RESULTS}/runs/mlp-ddp-*/{name}"))
    path.write_text(change(path.read_text(encoding="utf-8")), encoding="utf-8")
    before = records(upgraded)
    aggregated = ("stage", "aggregate", "--results", str(RESULTS))
    result = upgraded.run("scalestudy", *aggregated, check=False)
    assert result.returncode == 2
    assert said in result.stdout
    assert path.parent.name in result.stdout
    assert "Traceback" not in result.stdout
    if name == "run.json":
        for command in (("plan",), ("retry", str(RESULTS)), ("train", "--run", path.parent.name)):
            result = upgraded.run("scalestudy", *command, check=False)
            assert result.returncode == 2
            assert said in result.stdout
            assert "Traceback" not in result.stdout
    assert records(upgraded) == before


@pytest.mark.slow
def test_a_study_that_was_cut_off_is_finished(upgraded: Checkout) -> None:
    """One run without its record, an interrupted run, no tables: only the missing runs are measured."""
    results = upgraded.root / RESULTS
    run, other = sorted(results.glob("runs/mlp-single-*"))[:2]
    (run / "run.json").unlink()
    (run / "run.sha256").unlink()
    shutil.move(other, results / "runs/.partial" / other.name)
    (results / "plan.json").write_text("{")
    for path in results.glob("*.csv"):
        path.unlink()
    kept = records(upgraded)
    upgraded.run("snakemake", str(RESULTS / "performance_report.txt"))
    now = records(upgraded)
    assert len(now) == 6
    assert {path: now[path] for path in kept} == kept
    for path in (run, other):
        assert read_observation(path).record.schema_version == 5
