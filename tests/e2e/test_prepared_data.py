"""Data from a server to a trained model: fetched once, prepared once, mapped by every run, and never again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from conftest import Checkout, make_checkout, planned
from distributions import Server, pack, sha256, write_imdb
from scalestudy.record.observation import read_record

pytestmark = pytest.mark.slow
SUMMARY = "results/reviews/comprehensive_summary.csv"


@pytest.fixture(scope="module")
def asked() -> list[str]:
    """Paths that were requested from the server."""
    return []


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory, asked: list[str]) -> Checkout:
    """A study of film reviews, run to its summary by snakemake."""
    folder = tmp_path_factory.mktemp("prepared")
    archive = pack(write_imdb(folder), folder / "aclImdb_v1.tar.gz").read_bytes()
    made = make_checkout(folder / "checkout")
    with pytest.MonkeyPatch.context() as patch, Server(archive) as server:
        patch.setenv("NO_PROXY", "127.0.0.1")
        made.configure(study(f"http://{server.address}/aclImdb_v1.tar.gz", sha256(archive)))
        made.run("snakemake", SUMMARY)
        asked += [path for path, _ in server.asked]
    return made


def study(url: str, checksum: str, *, again: bool = False) -> dict[str, Any]:
    """again: with a second workload on the same data."""
    workload = {
        "model": {"type": "text-classifier", "d_model": 8, "heads": 2, "num_layers": 1},
        "data": {"type": "imdb", "url": url, "sha256": checksum, "sequence_length": 8, "vocabulary": 20},
        "optimizer": {"type": "adamw", "learning_rate": 0.01},
        "batch_size": 2,
        "epochs": 10,
    }
    return {
        "study": "reviews",
        "repeats": 1,
        "scales": ["1x2"],
        "variants": {"single": {"strategy": "single"}, "ddp": {"strategy": "ddp"}},
        "workloads": {"reviews": workload} | ({"again": workload | {"epochs": 2}} if again else {}),
        "host": {"device": "cpu"},
        "measure": {"warmup_steps": 2, "probe_rounds": 0},
        "report": {"overhead_reference": False},
    }


def test_the_archive_is_fetched_and_prepared_once(finished: Checkout, asked: list[str]) -> None:
    assert asked == ["/aclImdb_v1.tar.gz"]
    (store,) = (finished.root / "resources/data").glob("imdb-*")
    assert json.loads((store / "manifest.json").read_text())["samples"] == {"train": 5, "validation": 3}


def test_every_run_trained_on_it_and_says_so(finished: Checkout) -> None:
    (store,) = (finished.root / "resources/data").glob("imdb-*")
    manifest = json.loads((store / "manifest.json").read_text())
    records = [read_record(path.parent) for path in finished.root.glob("results/reviews/runs/*/run.json")]
    assert len(records) == 2
    for record in records:
        assert record.outcome == "ok", record.log_tail
        assert record.environment["data_sha256"] == manifest["arrays"]["train-inputs"]["sha256"]
        assert record.totals.steps == record.spec.epochs * (5 // 2)


def test_nothing_is_done_again_when_the_archive_is_gone(finished: Checkout) -> None:
    """The server is down by now, so a second download would fail."""
    (downloads,) = (finished.root / "resources/data").glob("downloads")
    for file in downloads.iterdir():
        file.unlink()
    assert "Nothing to be done" in finished.run("snakemake", SUMMARY).stdout


def test_another_workload_trains_on_what_was_prepared(finished: Checkout, tmp_path: Path) -> None:
    shared = finished.copy_to(tmp_path / "shared")
    data = finished.plan().study.workloads["reviews"].data
    shared.configure(study(data.url, data.sha256, again=True))
    jobs = planned(shared.run("snakemake", "-n", SUMMARY).stdout)
    assert jobs["train_baseline"] == jobs["train_distributed"] == 1
    assert "prepare_data" not in jobs


def test_a_run_without_its_data_fails_in_words(finished: Checkout, tmp_path: Path) -> None:
    result = finished.run(
        "scalestudy",
        *("stage", "train", "--study", "config/config.yaml"),
        "--run",
        next(path.name for path in finished.root.glob("results/reviews/runs/reviews-single*")),
        "--data",
        str(tmp_path / "nowhere"),
        "--results",
        str(tmp_path / "out"),
        check=False,
    )
    assert "failed" in result.stdout
    assert "scalestudy stage prepare" in result.stdout
