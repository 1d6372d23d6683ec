"""`scalestudy find-batch`: the batch that is enough and the largest that fits, for models and for scripts."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml
from conftest import mlp_workload, small_content
from scalestudy.cli.main import main

SCRIPT = """
import argparse
import torch
from torch.utils.data import DataLoader, TensorDataset

parser = argparse.ArgumentParser()
parser.add_argument("--batch-size", type=int)
batch = parser.parse_args().batch_size
if batch > 100:
    raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB")
data = TensorDataset(torch.randn(4096, 16), torch.randint(0, 10, (4096,)))
model = torch.nn.Linear(16, 10)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(1000):
    for images, labels in DataLoader(data, batch_size=batch, drop_last=True):
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(images), labels).backward()
        optimizer.step()
"""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a script and two studies: of the script and of a built-in model."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.py").write_text(SCRIPT)
    script = {"command": "train.py --batch-size {batch_per_rank}", "batch_size": 64, "scaling": ["weak"]}
    fixed = script | {"command": "train.py --batch-size 32", "batch_size": 32}
    steps = {"warmup_steps": 2, "max_warmup_steps": 2, "min_steps": 20, "max_steps": 20}
    of_script = small_content(study="own", workloads={"train": script, "fixed": fixed}, measure=steps)
    (tmp_path / "own.yaml").write_text(yaml.safe_dump(of_script))
    built_in = small_content(workloads={"mlp": mlp_workload()}, measure=steps)
    (tmp_path / "small.yaml").write_text(yaml.safe_dump(built_in))
    return tmp_path


def test_the_largest_batch_of_a_script_is_found_and_written(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["find-batch", "--study", "own.yaml", "--workload", "train", "--variant", "single", "--first", "64"]
    assert main([*words, "--write", "batch.yaml"]) == 0
    said = capsys.readouterr().out
    found = json.loads((place / "results/own/batch_search/train-single-1x1.json").read_text())
    outcomes = {trial["batch_per_rank"]: trial["outcome"] for trial in found["trials"]}
    assert outcomes == {batch: "ok" if batch <= 100 else "oom" for batch in outcomes}
    assert outcomes.keys() >= {64, 128, 96}
    assert found["largest"] == max(batch for batch in outcomes if batch <= 100)
    assert "ended: the memory limit is between 96 and 104 samples per rank" in said
    changed = yaml.safe_load((place / "batch.yaml").read_text())
    assert changed == {"workloads": {"train": {"batch_size": found["best"]}}}
    assert main(["plan", "--study", "own.yaml", "batch.yaml"]) == 0


@pytest.mark.slow
def test_the_search_of_a_built_in_model_ends_at_the_largest_batch_that_is_allowed(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["find-batch", "--study", "small.yaml", "--workload", "mlp", "--variant", "ddp"]
    assert main([*words, "--first", "64", "--most", "32"]) == 2
    assert "--first 64: more than the 32 samples per rank that --most allows" in capsys.readouterr().err
    assert main([*words, "--first", "8", "--most", "16"]) == 0
    found = json.loads((place / "results/small/batch_search/mlp-ddp-1x2.json").read_text())
    assert [trial["batch_per_rank"] for trial in found["trials"]][:2] == [8, 16]
    assert max(trial["batch_per_rank"] for trial in found["trials"]) == 16


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["--workload", "fixed"], "its command has neither {batch_per_rank} nor {global_batch}"),
        (["--workload", "train", "--scale", "0x2"], "0x2: a scale is NODESxDEVICES"),
        (["--workload", "train", "--first", "0"], "0 is not in the range x>=1"),
    ],
)
def test_what_cannot_be_searched_is_refused(
    place: Path, given: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["find-batch", "--study", "own.yaml", "--variant", "single", *given]) == 2
    assert said in capsys.readouterr().err
    assert not (place / "results").exists()
