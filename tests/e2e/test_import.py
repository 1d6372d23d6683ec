"""`scalestudy import` as a user calls it, in a process that cannot import torch: from logs to every document."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT

WITHOUT_TORCH = """
import sys

class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("torch", "snakemake"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Refuse())
from scalestudy.cli.main import main
sys.exit(main(sys.argv[1:]))
"""


def call(*words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"PYTHONPATH": str(ROOT / "workflow")}
    return subprocess.run(
        [sys.executable, "-c", WITHOUT_TORCH, *words],
        cwd=cwd,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


def megatron(path: Path, *, devices: int, time_ms: float) -> Path:
    rows = [
        f" [2025-01-31 12:{step // 60:02d}:{step % 60:02d}] iteration {step:8d}/    1000 | consumed samples:"
        f" {64 * step:12d} | elapsed time per iteration (ms): {time_ms + step % 7:.1f} | learning rate: 1.5E-04 |"
        " global batch size:    64 | lm loss: 3.25E+00 | loss scale: 1.0 | grad norm: 1.0 | number of skipped"
        " iterations:   0 |"
        for step in range(1, 101)
    ]
    world = f"using world size: {devices}, data-parallel size: {devices}, context-parallel size: 1"
    path.write_text("\n".join([world, *rows]) + "\n")
    return path


@pytest.fixture(scope="module")
def imported(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """(the folder of the call, what it printed): three scales without one device, the largest with a hostile
    name."""
    folder = tmp_path_factory.mktemp("import")
    for devices, time_ms in ((2, 400.0), (4, 210.0)):
        megatron(folder / f"n{devices}.log", devices=devices, time_ms=time_ms)
    megatron(folder / "<img src=x onerror=alert(1)>.log", devices=8, time_ms=120.0)
    done = call("import", *sorted(path.name for path in folder.glob("*.log")), "--study", "gpt", cwd=folder)
    assert done.returncode == 0, done.stderr
    return folder, done.stdout


def test_every_document_is_made_without_torch(imported: tuple[Path, str]) -> None:
    folder, out = imported
    results = folder / "results/gpt"
    names = (
        "performance_report.txt",
        "report.html",
        "report.tex",
        "proposal.tex",
        "numbers.json",
        "findings.json",
    )
    assert all((results / name).stat().st_size for name in names)
    assert "n4.log: Megatron-LM console log\n  4 devices, 64 samples per step\n" in out
    assert "further runs would decide the verdicts" in out


def test_the_documents_claim_no_more_than_the_logs_show(imported: tuple[Path, str]) -> None:
    text = " ".join((imported[0] / "results/gpt/performance_report.txt").read_text().split())
    assert "Nothing was run by scalestudy." in text
    assert (
        "times as fast as one would be if 2 GPUs were 2 times as fast (one run, so there is no interval)" in text
    )
    assert "imported: no parts of a step, no single ranks and no load of the host are known" in text
    assert "the speedup is relative to 2 ranks, which count as 2" in text
    assert "random order" not in text, "nobody ran these in random order"
    assert "WHERE A STEP'S TIME GOES" not in text
    assert "nan" not in text
    numbers = json.loads((imported[0] / "results/gpt/numbers.json").read_text())["numbers"]
    assert numbers["gpt.distributed.strong.n8.speedup"]["value"] == pytest.approx(2 * 403 / 123, rel=0.01)


def test_names_of_files_are_text_and_no_html(imported: tuple[Path, str]) -> None:
    page = (imported[0] / "results/gpt/report.html").read_text()
    assert "onerror=alert(1)>" not in page


@pytest.mark.slow
def test_the_stages_can_be_called_again(imported: tuple[Path, str]) -> None:
    results = imported[0] / "results/gpt"
    before = (results / "performance_report.txt").read_text()
    for stage in ("aggregate", "diagnose", "numbers", "text"):
        done = call("stage", stage, "--results", str(results), cwd=imported[0])
        assert done.returncode == 0, done.stderr
    assert (results / "performance_report.txt").read_text() == before


def test_an_imported_study_is_not_run(imported: tuple[Path, str]) -> None:
    done = call("plan", "--results", "results/gpt", cwd=imported[0])
    assert done.returncode == 2
    assert "was imported from logs" in done.stderr


def test_an_error_names_the_file_and_writes_nothing(tmp_path: Path) -> None:
    megatron(tmp_path / "a.log", devices=2, time_ms=100)
    (tmp_path / "b.log").write_text("nothing here\n" * 10)
    done = call("import", "a.log", "b.log", "--study", "gpt", cwd=tmp_path)
    assert done.returncode == 2
    assert "b.log: no known format" in done.stderr
    assert not (tmp_path / "results").exists()


def test_what_is_missing_is_asked_for_all_files_at_once(tmp_path: Path) -> None:
    row = "Epoch: [0][{:4}/5005]\tTime  0.412 ( 0.671)\tData  0.021 ( 0.250)\tLoss 6.9e+00 (7.0e+00)\n"
    rows = "".join(row.format(step) for step in range(10, 90, 10))
    for name in ("n1.log", "n4.log"):
        (tmp_path / name).write_text(rows)
    done = call("import", "n1.log", "n4.log", "--study", "slow", cwd=tmp_path)
    assert done.returncode == 2
    for name in ("n1.log", "n4.log"):
        assert f"{name}: the number of devices is not in it; add --gpus {name}=N" in done.stderr


@pytest.mark.slow
def test_files_of_one_name_are_named_by_their_folders(tmp_path: Path) -> None:
    """The options that the message proposes are enough."""
    row = "step {} | loss 2.5 | step time {:.3f} s\n"
    for devices in (1, 4):
        (tmp_path / f"{devices}gpu").mkdir()
        rows = "".join(row.format(step, 0.5 + devices / 100 + step % 3 / 1000) for step in range(1, 30))
        (tmp_path / f"{devices}gpu" / "train.log").write_text(rows)
    words = ["import", "1gpu/train.log", "4gpu/train.log", "--study", "own", "--batch-per-gpu", "8"]
    refused = call(*words, cwd=tmp_path)
    assert refused.returncode == 2
    (last,) = [line for line in refused.stderr.splitlines() if line.startswith("by their names: ")]
    done = call(*words, *last.removeprefix("by their names: ").split(), "--no-documents", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "2 runs, 2 points" in done.stdout


@pytest.mark.slow
def test_one_run_has_every_document(tmp_path: Path) -> None:
    """It has no speedup, and nothing to compare its baseline with."""
    table = "| Nodes | samples/s/GPU | global batch | strategy |\n|---|---|---|---|\n| 1 | 33.5 | 32 | fsdp |\n"
    (tmp_path / "one.md").write_text(table)
    done = call("import", "one.md", "--study", "one", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "1 run, 1 point: results/one" in done.stdout
    assert "No speedup: import runs on at least two numbers of devices." in done.stdout
    text = " ".join((tmp_path / "results/one/performance_report.txt").read_text().split())
    assert "Baseline: the runs on one device (fsdp)." in text
    assert "1 run: 1 ok." in text
    assert (tmp_path / "results/one/figures/one_throughput.svg").stat().st_size
