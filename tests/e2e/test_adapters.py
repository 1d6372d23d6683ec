"""The callbacks of frameworks on two ranks: a study's epochs are what the script printed.

Outside a study they change nothing. The scripts are those of examples/.
"""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT
from own_scripts import command_spec, launched_script
from scalestudy.record.tables import Observation

EXAMPLES = ROOT / "examples"
HUGGINGFACE = (
    "train.py --output_dir {out} --per_device_train_batch_size {batch_per_rank} --num_train_epochs 2"
    " --learning_rate 5e-4 --eval_strategy epoch --save_strategy no --logging_steps 10 --report_to none --use_cpu"
)
COMMANDS = {
    "huggingface": HUGGINGFACE,
    "lightning": "train.py --batch-size {batch_per_rank} --epochs 2 --out {out}",
    "accelerate": "train.py --batch-size {batch_per_rank} --epochs 2 --cpu",
}
BATCH = {"huggingface": 16, "lightning": 24, "accelerate": 24}
SAMPLES = {"huggingface": 1920, "lightning": 1440, "accelerate": 1440}
ACCURACY = re.compile(r"accuracy (\d\.\d+)")


@dataclass(frozen=True)
class Launched:
    found: Observation
    log: str

    @property
    def printed(self) -> list[float]:
        return [float(value) for value in ACCURACY.findall(self.log)]

    @property
    def accuracies(self) -> list[float]:
        return list(self.found.epochs["validation_accuracy"])


def launched(example: str, tmp_path: Path, *changes: tuple[str, str], command: str = "") -> Launched:
    """A run of an example on two ranks. changes: words of its script, and their replacements."""
    text = (EXAMPLES / example / "train.py").read_text(encoding="utf-8")
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    folder = tmp_path / "script"
    folder.mkdir()
    (folder / "train.py").write_text(text, encoding="utf-8")
    spec = command_spec(
        command or COMMANDS[example], 2, folder=folder, batch_size=BATCH[example], epochs=2, run_to_end=True
    )
    found = launched_script(spec, tmp_path / "results")
    log = (tmp_path / "results/runs" / found.record.run_id / "log.txt").read_text(encoding="utf-8")
    return Launched(found, log)


@pytest.mark.parametrize(
    "example",
    [pytest.param(example, marks=[] if example == "huggingface" else [pytest.mark.slow]) for example in COMMANDS],
)
def test_epochs_of_a_study_have_the_accuracy_that_the_script_printed(example: str, tmp_path: Path) -> None:
    run = launched(example, tmp_path)
    assert run.found.record.outcome == "ok", run.found.record.reason
    assert len(run.printed) == 2, "rank 0 alone prints, after each epoch"
    assert run.accuracies == pytest.approx(run.printed, abs=6e-5)
    epochs = run.found.epochs
    assert list(epochs["samples"]) == [SAMPLES[example]] * 2
    assert epochs["train_loss"].notna().all()
    assert (epochs["validation_loss"].notna() == (example != "accelerate")).all(), "of which it logs none"
    assert epochs["train_loss"].iloc[1] < epochs["train_loss"].iloc[0]


@pytest.mark.slow
def test_the_parts_that_a_framework_tells_are_in_the_steps(tmp_path: Path) -> None:
    """The Trainer logs each tenth step; Lightning copies each batch to the device."""
    places = [tmp_path / example for example in ("huggingface", "lightning")]
    for place in places:
        place.mkdir()
    trainer, lightning = (launched(place.name, place).found.steps for place in places)
    logging = trainer[trainer["rank"] == 0].set_index("step")["logging_time_s"]
    assert logging.notna().all()
    assert list(logging[logging > 0].index) == list(range(10, 120, 10)), (
        "what follows a step belongs to the next one"
    )
    assert lightning["logging_time_s"].isna().all()
    assert (lightning["h2d_time_s"] > 0).all()
    parts = lightning[[name for name in lightning if name.endswith("_time_s") and name != "step_time_s"]]
    whole = parts.drop(columns=[name for name in parts if name.startswith("backward_")]).sum(axis=1)
    assert (whole + lightning["backward_time_s"] <= lightning["step_time_s"] * 1.001).all()


@pytest.mark.slow
def test_lightning_under_its_older_name(tmp_path: Path) -> None:
    run = launched("lightning", tmp_path, ("import lightning as L", "import pytorch_lightning as L"))
    assert run.found.record.outcome == "ok", run.found.record.reason
    assert run.accuracies == pytest.approx(run.printed, abs=6e-5)


@pytest.mark.slow
def test_a_metric_that_lightning_does_not_synchronise_is_the_mean_over_ranks(tmp_path: Path) -> None:
    run = launched(
        "lightning",
        tmp_path,
        (", sync_dist=True", ""),
        ("self.trainer.is_global_zero and not", "not"),
        (
            'print(f"epoch {self.current_epoch + 1}: accuracy {accuracy:.4f}", flush=True)',
            'import os; os.write(1, f"accuracy {accuracy:.4f}{os.linesep}".encode())',
        ),
    )
    assert run.found.record.outcome == "ok", run.found.record.reason
    first, second = run.printed[:2], run.printed[2:]
    assert first[0] != first[1], "each rank has its own"
    assert run.accuracies == pytest.approx([sum(first) / 2, sum(second) / 2], abs=6e-5)


@pytest.mark.slow
def test_validations_within_an_epoch_of_lightning_are_epochs_of_the_study(tmp_path: Path) -> None:
    run = launched("lightning", tmp_path, ("devices=", "val_check_interval=0.5, devices="))
    assert run.found.record.outcome == "ok", run.found.record.reason
    assert len(run.printed) == 4
    assert run.accuracies == pytest.approx(run.printed, abs=6e-5)
    assert list(run.found.epochs["samples"]) == [15 * 48, 15 * 48] * 2


@pytest.mark.slow
def test_the_trainer_evaluates_once_more_after_training_and_on_several_data_sets(tmp_path: Path) -> None:
    """Neither adds an epoch: only the named metric counts, and only during training."""
    run = launched(
        "huggingface",
        tmp_path,
        ("eval_dataset=Sequences(480, seed=2)", "eval_dataset={n: Sequences(160, seed=ord(n)) for n in 'ab'}"),
        ('accuracy="accuracy"', 'accuracy="b_accuracy", loss="b_loss"'),
        ("    trainer.train()\n", "    trainer.evaluate()\n    trainer.train()\n    trainer.evaluate()\n"),
        ('if "eval_accuracy" in entry and', 'if "eval_b_accuracy" in entry and 0 < '),
        ("trainer.is_world_process_zero():", "entry['step'] and trainer.is_world_process_zero():"),
        ("entry['eval_accuracy']", "entry['eval_b_accuracy']"),
    )  # fmt: skip
    assert run.found.record.outcome == "ok", run.found.record.reason
    assert len(run.accuracies) == 2
    assert run.accuracies == pytest.approx(run.printed[:2], abs=6e-5)


WRONG = {
    "huggingface": ('accuracy="accuracy"', 'accuracy="top1"', "'eval_top1' is not among the metrics; "),
    "lightning": ('accuracy="val_acc"', 'accuracy="top1"', "'top1' is not among the metrics; the metrics are: "),
    "accelerate": ("ScalestudyTracker()", 'ScalestudyTracker("top1")', "the metrics are: accuracy, train_loss"),
}  # fmt: skip


@pytest.mark.slow  # tests/unit/adapters/test_metrics.py has the refusal
@pytest.mark.parametrize("example", WRONG)
def test_a_metric_that_is_not_there_ends_the_run_and_those_that_are_there_are_named(
    example: str, tmp_path: Path
) -> None:
    old, new, said = WRONG[example]
    run = launched(example, tmp_path, (old, new))
    assert run.found.record.outcome == "failed"
    assert said in run.found.record.reason


@pytest.mark.slow
@pytest.mark.parametrize("example", WRONG)
def test_outside_a_study_a_script_does_what_it_does_without_the_callback(example: str, tmp_path: Path) -> None:
    """Also with the name of a metric that does not exist."""
    text = (EXAMPLES / example / "train.py").read_text(encoding="utf-8")
    old, new, _ = WRONG[example]
    without = re.sub(r"\[Scalestudy\w+\(.*?\)\]", "[]", text)
    assert without != text
    outputs: list[Any] = []
    for name, content in (("with", text.replace(old, new)), ("without", without)):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "train.py").write_text(content, encoding="utf-8")
        words = COMMANDS[example].format(out="out", batch_per_rank=48).split()
        done = subprocess.run([sys.executable, *words], cwd=folder, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        outputs.append(ACCURACY.findall(done.stdout))
    assert len(outputs[0]) == 2
    assert outputs[0] == outputs[1]
