"""A killed call leaves no half-written run and no process. Finished runs are kept and not measured again."""

from __future__ import annotations

import os
import signal

import pytest
from conftest import Checkout, tiny_study, wait_for
from scalestudy.record.observation import read_record


@pytest.mark.parametrize("signum", [pytest.param(signal.SIGINT, marks=pytest.mark.slow), signal.SIGKILL])
def test_an_ended_launch_leaves_no_run_and_no_process(checkout: Checkout, signum: signal.Signals) -> None:
    study = tiny_study()
    study["workloads"]["first"]["epochs"] = 5000
    checkout.configure(study)
    name = next(name for name, spec in checkout.plan().runs.items() if spec.world_size == 2)
    partial = checkout.root / "results/tiny/runs/.partial" / name
    process = checkout.start("scalestudy", "stage", "train", "--run", name)
    wait_for((partial / "progress.json").exists)
    assert checkout.trainers()
    process.send_signal(signum)
    code = process.wait(timeout=60)
    assert code == (-signum if signum == signal.SIGKILL else 128 + signum)
    wait_for(lambda: not checkout.trainers())
    assert not (checkout.root / "results/tiny/runs" / name).exists()
    if signum != signal.SIGKILL:
        assert not partial.exists()


@pytest.mark.slow
def test_what_a_killed_launch_left_is_cleared_by_the_next(checkout: Checkout) -> None:
    checkout.configure(tiny_study())
    name = next(iter(checkout.plan().runs))
    partial = checkout.root / "results/tiny/runs/.partial" / name
    partial.mkdir(parents=True)
    (partial / "steps-0.parquet").write_bytes(b"half a file")
    checkout.run("scalestudy", "stage", "train", "--run", name)
    assert read_record(checkout.root / "results/tiny/runs" / name).outcome == "ok"
    assert not partial.exists()


@pytest.mark.slow
@pytest.mark.fault(
    fault="SIGKILL to snakemake and all its processes",
    moment="block",
    outcome="not recorded",
    kept="every finished run",
    next_call="measures the missing runs",
)
def test_a_killed_workflow_loses_and_repeats_no_finished_run(checkout: Checkout) -> None:
    """Killed inside its third run, then run to its end."""
    study = tiny_study() | {"repeats": 2}
    del study["workloads"]["second"]
    checkout.configure(study)
    runs = checkout.root / "results/tiny/runs"
    measured: dict[str, tuple[float, bytes]] = {}
    process = checkout.start("snakemake")
    wait_for(lambda: len(list(runs.glob("*/run.json"))) >= 2 and checkout.trainers(), seconds=120)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    wait_for(lambda: not checkout.trainers())
    for path in runs.glob("*/run.json"):
        measured[path.parent.name] = (path.stat().st_mtime, path.read_bytes())
    assert 2 <= len(measured) < 4
    checkout.run("snakemake", "results/tiny/comprehensive_summary.csv")
    for name, state in measured.items():
        path = runs / name / "run.json"
        assert (path.stat().st_mtime, path.read_bytes()) == state, f"{name} was measured twice"
    assert len(list(runs.glob("*/run.json"))) == 4
    assert not list(checkout.root.glob("results/tiny/superseded/*"))
