"""Arguments that a script or its framework does not take are found before anything is submitted."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest
import yaml
from conftest import BIN, ROOT
from scalestudy.cli.own.arguments import check_arguments
from scalestudy.errors import UserError
from scalestudy.launch.foreign.start import PYTHON
from scalestudy.study.config.load import parse_study
from scalestudy.study.plan import make_plan

EXAMPLES = ROOT / "examples"
HUGGINGFACE = "train.py --output_dir {out}"
OLD_NAME = "TrainingArguments('o', evaluation_strategy='no')"
PLAIN = """
import argparse, pathlib, torch
parser = argparse.ArgumentParser()
parser.add_argument("--batch-size", type=int)
parser.add_argument("--lr", type=float)
args = parser.parse_args()
pathlib.Path("began").touch()
"""


def study_of(command: str, folder: Path, arguments: str = "", **changes: Any) -> dict[str, Any]:
    """With a variant that adds words to the command, where there are any."""
    more = {"more": {"strategy": "ddp", "arguments": arguments}} if arguments else {}
    return {
        "study": "own",
        "scales": ["1x2"],
        "variants": {"single": {"strategy": "single"}, "ddp": {"strategy": "ddp"}, **more},
        "workloads": {
            "w": {"command": command, "directory": str(folder), "batch_size": 8, "scaling": ["weak"], **changes}
        },
    }


def checked(text: str, command: str, tmp_path: Path, arguments: str = "", **changes: Any) -> list[str]:
    """Return what the check of the arguments prints for a script with this text."""
    (tmp_path / "train.py").write_text(dedent(text), encoding="utf-8")
    plan = make_plan(parse_study(study_of(command, tmp_path, arguments, **changes), source="test"))
    return list(check_arguments(plan, tmp_path / "results"))


def example(name: str, *change: str) -> str:
    text = (EXAMPLES / name / "train.py").read_text(encoding="utf-8")
    if change:
        assert change[0] in text
        text = text.replace(*change)
    return text


REFUSED = {
    "an option of the script's own parser": (
        PLAIN,
        "train.py --batchsize 8",
        "",
        r"^workloads\.w\.command: its parser: unrecognized arguments: --batchsize 8\. It takes --batch-size$",
    ),
    "an option that a variant adds": (
        PLAIN,
        "train.py --batch-size 8",
        "--learning-rate 1",
        r"^variants\.more\.arguments: its parser: unrecognized arguments: --learning-rate 1",
    ),
    "a value": (
        PLAIN,
        "train.py --batch-size 8.5",
        "",
        r"^workloads\.w\.command: its parser: argument --batch-size: invalid int value: '8.5'$",
    ),
    "TrainingArguments, from the command line": (
        example("huggingface"),
        HUGGINGFACE,
        "--evaluation_strategy epoch",
        r"^variants\.more\.arguments: transformers 5\S+: .*HfArgumentParser: \['--evaluation_strategy', 'epoch'\]"
        r" \(.*train\.py:\d+\)\. It takes --eval-strategy",
    ),
    "TrainingArguments, from code": (
        example("huggingface", "trainer = Trainer(", f"{OLD_NAME}\n    trainer = Trainer("),
        HUGGINGFACE,
        "",
        r"^workloads\.w\.command: transformers 5\S+: .* unexpected keyword argument 'evaluation_strategy'"
        r" \(.*train\.py:\d+\)\. It takes eval_strategy",
    ),
    "Trainer of transformers": (
        example("huggingface", "trainer = Trainer(", "trainer = Trainer(tokenizer=None,"),
        HUGGINGFACE,
        "",
        r"^workloads\.w\.command: transformers 5\S+: Trainer.__init__\(\) got an unexpected keyword argument",
    ),
    "Trainer of Lightning": (
        example("lightning", "max_epochs=args.epochs", "maximum_epochs=args.epochs"),
        "train.py",
        "",
        r"^workloads\.w\.command: lightning 2\S+: Trainer.* 'maximum_epochs' \(.*train\.py:\d+\)\. .*max_epochs",
    ),
    "Accelerator": (
        example("accelerate", "cpu=args.cpu,", "cpu=args.cpu, fp16=True,"),
        "train.py --cpu",
        "",
        r"^workloads\.w\.command: accelerate 1\S+: Accelerator.__init__\(\) got .* argument 'fp16'",
    ),
}  # fmt: skip


SLOW = (
    "TrainingArguments, from the command line",
    "TrainingArguments, from code",
    "Trainer of transformers",
    "Trainer of Lightning",
)
"""Cases that take long because they import the library once more."""


@pytest.mark.parametrize(
    "case", [pytest.param(case, marks=[pytest.mark.slow] if case in SLOW else []) for case in REFUSED]
)
def test_an_argument_that_is_not_taken_is_refused(case: str, tmp_path: Path) -> None:
    text, command, arguments, said = REFUSED[case]
    with pytest.raises(UserError, match=said):
        checked(text, command, tmp_path, arguments)
    assert not (tmp_path / "began").exists() or arguments


TAKEN = {
    "huggingface": (HUGGINGFACE, r"up to its first optimizer; transformers 5"),
    "lightning": ("train.py --out {out}", r"up to its first optimizer; .*lightning 2"),
    "accelerate": ("train.py --cpu", r"up to its first optimizer; accelerate 1"),
    "ddp": ("train.py", r"up to the end of its parser$"),
}


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[] if name == "huggingface" else pytest.mark.slow) for name in TAKEN],
)
def test_what_was_checked_is_said_and_nothing_is_trained(name: str, tmp_path: Path) -> None:
    command, said = TAKEN[name]
    text = example(name) + "\nraise SystemExit('it came to its end')\n"
    lines = checked(text, command, tmp_path)
    assert len(lines) == 2
    assert re.search(f"were accepted, {said}", lines[0])
    assert lines[1].startswith("1 command line tried in ")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["train.py"], "it wrote nothing"


def test_a_script_without_a_parser_ends_before_its_first_step(tmp_path: Path) -> None:
    text = """
        import pathlib, torch
        weights = torch.ones(3, requires_grad=True)
        (gradient,) = torch.autograd.grad(weights.sum(), [weights])
        pathlib.Path("trained").touch()
    """
    (line, _) = checked(text, "train.py", tmp_path)
    assert line.endswith("were accepted, up to its first backward pass")
    assert not (tmp_path / "trained").exists()


def test_ranks_that_a_script_starts_itself_do_not_train_either(tmp_path: Path) -> None:
    text = """
        import pathlib, torch
        def train(rank):
            torch.distributed.init_process_group("gloo", init_method="tcp://127.0.0.1:1", rank=rank, world_size=2)
            pathlib.Path("trained").touch()
        if __name__ == "__main__":
            torch.multiprocessing.spawn(train, nprocs=2)
    """
    (line, _) = checked(text, "train.py", tmp_path)
    assert line.endswith("were accepted, up to its end")
    assert not (tmp_path / "trained").exists()


def test_a_refusal_that_the_script_knows_about_is_none(tmp_path: Path) -> None:
    """As scripts that go with several releases of a framework have it."""
    text = example("huggingface", "trainer = Trainer(", dedent("""
            try:
                TrainingArguments("o", evaluation_strategy="no")
            except TypeError:
                TrainingArguments("o", eval_strategy="no")
            trainer = Trainer(""").replace("\n", "\n    "))  # fmt: skip
    (line, _) = checked(text, HUGGINGFACE, tmp_path)
    assert "were accepted" in line


def test_a_script_that_needs_the_variables_of_torchrun_gets_them(tmp_path: Path) -> None:
    text = "import os\nrank = int(os.environ['RANK'])\n" + PLAIN
    with pytest.raises(UserError, match="--batchsize"):
        checked(text, "train.py --batchsize 8", tmp_path)


def test_a_script_that_cannot_be_begun_here_is_no_mistake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "were not checked here: RuntimeError: no GPU" in checked(
        "raise RuntimeError('no GPU')", "train.py", tmp_path
    )[0]  # fmt: skip
    monkeypatch.setenv(PYTHON, "/nowhere/python")
    assert "were not checked here: /nowhere/python: No such file" in checked(PLAIN, "train.py", tmp_path)[0]
    bare = tmp_path / "bare"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", bare], check=True)
    monkeypatch.setenv(PYTHON, str(bare / "bin/python"))
    assert "were not checked here: ModuleNotFoundError: No module named 'torch'" in checked(
        PLAIN, "train.py", tmp_path
    )[0]  # fmt: skip


def test_a_study_is_refused_before_it_is_submitted(tmp_path: Path) -> None:
    """With a profile, as on a login node; a study of our own training is begun without such a look."""
    (tmp_path / "train.py").write_text(PLAIN, encoding="utf-8")
    (tmp_path / "own.yaml").write_text(yaml.safe_dump(study_of("train.py", Path(), "--lrr 1")), encoding="utf-8")
    line = [str(BIN / "scalestudy"), "run", "--study", "own.yaml", "--profile", "slurm"]
    done = subprocess.run(line, cwd=tmp_path, capture_output=True, text=True, env=os.environ)
    assert done.returncode != 0
    assert "variants.more.arguments: its parser: unrecognized arguments: --lrr 1. It takes --lr" in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "results").exists()
