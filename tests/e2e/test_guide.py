"""docs/your-own.md, followed word for word: its commands in an empty folder, its study, its lines of Python."""

from __future__ import annotations

import os
import re
import shutil
import sys
from pathlib import Path
from textwrap import dedent

import pytest
from conftest import ROOT
from shells import in_shell as run

GUIDE = (ROOT / "docs/your-own.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```$", GUIDE, flags=re.DOTALL | re.MULTILINE)
COMMANDS = [text for language, text in BLOCKS if not language]
PYTHON = [text for language, text in BLOCKS if language == "python"]

BEFORE = {
    "adapters.huggingface": """
        from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments
        import torch
        sizes = {"vocab_size": 8, "hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 1}
        model = BertForSequenceClassification(BertConfig(**sizes, intermediate_size=8))
        training_args = TrainingArguments("out", num_train_epochs=1, use_cpu=True, report_to="none")
        train_set = eval_set = [{"input_ids": torch.tensor([1, 2]), "labels": index % 2} for index in range(8)]
        def compute_metrics(prediction):
            return {"accuracy": 0.5}
    """,
    "adapters.lightning": "import lightning as L\nfrom lightning.pytorch.demos import boring_classes",
    "adapters.accelerate": "from accelerate import Accelerator\naccuracy, loss = 0.5, 1.0",
    "scalestudy.Recorder": "loader, accuracy = [[1, 2], [3, 4]], 0.5",
}
"""Lines that a block of Python needs before it."""
AFTER = {
    "adapters.huggingface": "trainer.train()",
    "adapters.lightning": "trainer.fit(boring_classes.BoringModel())",
}


def empty_folder(tmp_path: Path) -> Path:
    """With the script that the guide names."""
    (script,) = re.findall(r"or \[(examples/\S+)\]\(\.\./\1\) as `train\.py`", GUIDE)
    shutil.copy(ROOT / script, tmp_path / "train.py")
    return tmp_path


@pytest.mark.slow
def test_the_commands_on_one_machine(tmp_path: Path) -> None:
    folder = empty_folder(tmp_path)
    first, cluster, again = COMMANDS
    said = run(first, folder)
    assert "on one process: 32 samples per step" in said
    assert "on 2 ranks: 32 samples per step on each" in said
    assert re.search(r"^study train: \d+ runs \(\d+ ok\)$", said, flags=re.MULTILINE)
    for name in ("report.html", "performance_report.txt", "tables/summary_table.tex", "figures"):
        assert (folder / "results/train" / name).exists()
    (study,) = (text for language, text in BLOCKS if language == "yaml")
    cores = len(os.sched_getaffinity(0)) // 2
    written = (folder / "train.yaml").read_text(encoding="utf-8")
    assert written == study.replace("cores_per_rank: 1", f"cores_per_rank: {cores}")
    assert "left: no runs; everything is measured" in run(again, folder)
    assert "--profile slurm" in cluster


def test_the_command_for_a_cluster(tmp_path: Path) -> None:
    """The command for a cluster, up to the jobs that it would submit."""
    folder = empty_folder(tmp_path)
    (cluster,) = (text for text in COMMANDS if "--profile" in text)
    said = run(cluster.replace("--profile slurm", "--profile slurm --dry-run"), folder)
    assert (folder / "train.yaml").exists()
    assert re.search(r"train_distributed\s+\d+", said)


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[] if "accelerate" in name else pytest.mark.slow) for name in BEFORE]
)
def test_the_lines_of_python(name: str, tmp_path: Path) -> None:
    """In a process of its own, outside a study."""
    (block,) = (text for text in PYTHON if name in text)
    text = "\n".join([dedent(BEFORE[name]), block, AFTER.get(name, "")])
    (tmp_path / "lines.py").write_text(text, encoding="utf-8")
    run(f"{sys.executable} lines.py", tmp_path)


def test_every_block_is_followed() -> None:
    languages = [language for language, _ in BLOCKS]
    assert len(COMMANDS) == 3
    assert len(PYTHON) == len(BEFORE)
    assert sorted(set(languages)) == ["", "python", "text", "yaml"]


@pytest.mark.slow  # test_arguments.py has the refusal
def test_the_refusal_is_what_is_printed(tmp_path: Path) -> None:
    """The example of an unknown argument, except for the location of the script."""
    (block,) = (text for language, text in BLOCKS if language == "text")
    shutil.copy(ROOT / "examples/huggingface/train.py", tmp_path / "train.py")
    (tmp_path / "own.yaml").write_text(
        "study: own\nscales: [1x2]\nvariants:\n  single: {strategy: single}\n"
        "  more: {strategy: ddp, arguments: --evaluation_strategy epoch}\nworkloads:\n"
        "  w: {command: 'train.py --output_dir {out}', batch_size: 8, scaling: [weak]}\n"
    )
    said = run("scalestudy run --study own.yaml", tmp_path, status=2)
    expected = re.escape(" ".join(block.split())).replace(r"train\.py:46", r"\S*train\.py:\d+")
    assert re.search(expected, " ".join(said.split()))
