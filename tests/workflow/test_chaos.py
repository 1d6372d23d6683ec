"""Random faults: whatever is killed at whatever moment, the same command ends in the same documents."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import pytest
import replaying_rank
from chaos import Chaos
from conftest import Checkout, make_checkout, mlp_workload
from scalestudy.record.observation import read_record
from scalestudy.study.spec import WORKER

pytestmark = pytest.mark.slow

SEEDS = range(int(os.environ.get("CHAOS_SEEDS", "3")))
FAULTS = int(os.environ.get("CHAOS_FAULTS", "10"))


def study(**changes: Any) -> dict[str, Any]:
    """Twelve runs: a baseline and two variants, four times."""
    return {
        "study": "tiny",
        "seed": 3,
        "repeats": 4,
        "time_limit_min": 2,
        "scales": ["1x2"],
        "variants": {
            "single": {"strategy": "single"},
            "ddp": {"strategy": "ddp"},
            "accumulated": {"strategy": "ddp", "accumulation_steps": 2},
        },
        "workloads": {"mlp": mlp_workload(scaling=["strong"])},
        "host": {"device": "cpu"},
        "measure": {"floor": False, "probe_rounds": 2},
        "report": {"overhead_reference": False},
    } | changes


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], Checkout]:
    """(a study whose ranks replay recorded steps, a checkout in which it ran without a fault)."""
    folder = tmp_path_factory.mktemp("chaos")
    trained = make_checkout(folder / "trained")
    trained.configure(study())
    trained.run("snakemake", "results/tiny/runs.csv")
    replaying_rank.prepare(trained.root / "results/tiny/runs", folder / "replayed")
    path = os.pathsep.join([str(Path(replaying_rank.__file__).parent), str(trained.root / "workflow")])
    environment = {WORKER: "replaying_rank", replaying_rank.REPLAYED: str(folder / "replayed"), "PYTHONPATH": path}
    replayed = study(host={"device": "cpu", "environment": environment})
    checkout = make_checkout(folder / "undisturbed")
    checkout.configure(replayed)
    checkout.run("scalestudy", "run")
    return replayed, checkout


@pytest.mark.parametrize("seed", SEEDS)
def test_random_faults_end_in_the_documents_of_an_undisturbed_study(
    seed: int, undisturbed: tuple[dict[str, Any], Checkout], tmp_path: Path
) -> None:
    """The runs equal those of the undisturbed study except for times and the host's state. Each document equals
    the one that is written from the same runs into an empty folder, so documents differ only as the runs do."""
    content, calm = undisturbed
    chaos = disturbed(content, seed, tmp_path)
    assert measured(chaos.checkout) == measured(calm), chaos.faults
    assert documents(chaos.checkout) == documents(made_again(chaos.checkout, tmp_path / "again")), chaos.faults


@pytest.mark.parametrize("seed", SEEDS[:2])
def test_random_faults_lose_and_repeat_no_training(seed: int, tmp_path: Path) -> None:
    chaos = disturbed(study(), 100 + seed, tmp_path)
    assert set(measured(chaos.checkout)) == set(chaos.checkout.plan().runs)


def disturbed(content: dict[str, Any], seed: int, folder: Path) -> Chaos:
    """A study that met its faults and was then called again. Nothing is lost, changed or left over."""
    checkout = make_checkout(folder / "checkout")
    checkout.configure(content)
    temporary = folder / "tmp"
    temporary.mkdir()
    chaos = Chaos(checkout, seed, temporary=temporary)
    while len(chaos.faults) < FAULTS and not chaos.wrong and chaos.strike():
        pass
    chaos.finish()
    print(f"seed {seed}: {len(chaos.faults)} faults in {chaos.calls} calls: {chaos.faults}")
    assert not chaos.wrong, (chaos.wrong, chaos.faults)
    assert not chaos.left_over(), chaos.faults
    return chaos


def measured(checkout: Checkout) -> dict[str, dict[str, Any]]:
    """The record of each run, without when it was measured, how long its processes took, and the host's state."""
    records = {}
    for path in checkout.root.glob("results/tiny/runs/*/run.json"):
        record = read_record(path.parent).model_dump(mode="json")
        for key in ("started_at", "environment", "checksum"):
            del record[key]
        del record["totals"]["wall_time_s"], record["files"]["log.txt"]
        records[path.parent.name] = record
    return records


def documents(checkout: Checkout) -> dict[str, bytes]:
    """Content of each file of the results but runs, logs and PDFs."""
    folder = checkout.root / "results/tiny"
    names = {str(path.relative_to(folder)): path for path in sorted(folder.rglob("*")) if path.is_file()}
    left_out = ("runs/", "logs/", "superseded/")
    return {
        name: path.read_bytes()
        for name, path in names.items()
        if not name.startswith(left_out) and path.suffix != ".pdf"
    }


def made_again(checkout: Checkout, target: Path) -> Checkout:
    """A fresh checkout with the same runs, whose documents were never there."""
    fresh = make_checkout(target)
    shutil.copy2(checkout.root / "config/config.yaml", fresh.root / "config/config.yaml")
    shutil.copytree(checkout.root / "results/tiny/runs", fresh.root / "results/tiny/runs")
    fresh.run("scalestudy", "run")
    return fresh
