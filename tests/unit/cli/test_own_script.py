"""From command lines that people have in their shell history to a study of the script in them."""

from __future__ import annotations

import os
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from nvml import Board, FakeNvml
from pydantic import ValidationError
from scalestudy.cli.own.script import cores_or_unset, name_of, quoted, study_text, without_launcher, write_study
from scalestudy.cli.own.study import Wishes, make_study_of, scaling_of
from scalestudy.errors import UserError
from scalestudy.launch.foreign.look import Seen
from scalestudy.record.host.nvml import nvml_session, visible_gpus
from scalestudy.study.config.commands import CommandWorkload
from scalestudy.study.config.load import parse_study
from scalestudy.tune import devices

LONG = "#!/bin/sh\n'''exec' {python} \"$0\" \"$@\"\n' '''"
"""How pip starts an installed command if the path of its Python is long."""
LINES = {
    "train.py --lr 0.1": ("train.py --lr 0.1", "", ""),
    "python train.py": ("train.py", "python", ""),
    "python3.11 -u -m pkg.train --x 1": ("-m pkg.train --x 1", "python3.11 -u", ""),
    "/usr/bin/python -m pkg.train": ("-m pkg.train", "/usr/bin/python", ""),
    "torchrun --nproc-per-node 2 train.py --n 3": ("train.py --n 3", "torchrun --nproc-per-node 2", "1x2"),
    "torchrun --standalone --nnodes=1 --nproc_per_node=4 train.py": (
        "train.py",
        "torchrun --standalone --nnodes=1 --nproc_per_node=4",
        "1x4",
    ),
    "torchrun --nnodes 2 --nproc-per-node 8 --rdzv-backend c10d --rdzv-endpoint host:29500 -m pkg.train a": (
        "-m pkg.train a",
        "torchrun --nnodes 2 --nproc-per-node 8 --rdzv-backend c10d --rdzv-endpoint host:29500 -m",
        "2x8",
    ),
    "python -m torch.distributed.run --nproc-per-node gpu train.py": (
        "train.py",
        "python -m torch.distributed.run --nproc-per-node gpu",
        "",
    ),
    "accelerate launch --multi_gpu --num_processes 8 --num_machines 2 --mixed_precision bf16 t.py -c 1": (
        "t.py -c 1",
        "accelerate launch --multi_gpu --num_processes 8 --num_machines 2 --mixed_precision bf16",
        "2x4",
    ),
    "deepspeed --num_gpus 4 train.py --deepspeed ds.json": (
        "train.py --deepspeed ds.json",
        "deepspeed --num_gpus 4",
        "1x4",
    ),
}


@pytest.mark.parametrize("line", LINES)
def test_a_launcher_is_understood_and_left_out(line: str) -> None:
    command, launcher, scale = LINES[line]
    asked = without_launcher(shlex.split(line))
    assert (" ".join(asked.command), asked.launcher, asked.scale) == (command, launcher, scale)


def test_variables_before_the_command_are_those_of_the_script(tmp_path: Path) -> None:
    asked = without_launcher(
        shlex.split("OMP_NUM_THREADS=4 NAME='a \"b\": {c}' torchrun --nproc-per-node 2 train.py")
    )
    assert asked.command == ("train.py",)
    assert asked.scale == "1x2"
    study = parse_study(yaml.safe_load(text_of(environment=asked.environment)), source="here")
    assert study.workloads["train"].environment == {"OMP_NUM_THREADS": "4", "NAME": 'a "b": {c}'}


@pytest.mark.parametrize(
    "line", ["python -I train.py", "python3 -u -S train.py", "env A=1 python -E -m pkg.train"]
)
def test_an_option_by_which_python_would_not_let_us_look_on_is_named(line: str) -> None:
    with pytest.raises(UserError, match="ignores with this option; leave it out"):
        without_launcher(shlex.split(line))


@pytest.mark.parametrize("line", ["srun -n 4 python train.py", "mpirun -np 2 python train.py", "uv run train.py"])
def test_a_program_in_front_of_the_script_is_to_be_left_out(line: str) -> None:
    with pytest.raises(UserError, match="leave it and its options out"):
        without_launcher(shlex.split(line))


NO_SCRIPT = {
    "./train": "not a Python script.*scalestudy audit",
    "julia a.jl": "not a Python script.*scalestudy audit",
    "python -c 'print(1)'": "not a Python script.*scalestudy audit",
    "bash run.sh": "a shell script. Give the training command that it has",
    "./run.sh --gpus 2": "a shell script. Give the training command that it has",
    "python train.ipynb": "jupyter nbconvert --to script train.ipynb",
    "python": "python: the script is missing; put its file after it",
    "torchrun --nproc-per-node 2": "torchrun --nproc-per-node 2: the script is missing",
    "nohup python train.py --lr 1": "Leave out all words before train.py",
    "numactl --cpunodebind=0 python -u pkg/train.py": "Leave out all words before pkg/train.py",
    "ipython train.py": "leave it and its options out",
}


@pytest.mark.parametrize("line", NO_SCRIPT)
def test_what_is_no_python_script_is_refused_with_what_is_possible(line: str) -> None:
    with pytest.raises(UserError, match=NO_SCRIPT[line]):
        without_launcher(shlex.split(line))


@pytest.mark.parametrize("head", ["#!{python}", "#! {python}", "#!/usr/bin/env python3", LONG])
@pytest.mark.parametrize("launcher", ["", "torchrun --nproc-per-node 2 "])
def test_an_installed_command_is_the_path_of_its_file(
    launcher: str, head: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "train-model"
    path.write_text(head.format(python=sys.executable) + "\nimport torch\n", encoding="utf-8")
    path.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    asked = without_launcher(shlex.split(f"{launcher}train-model --config model.py"))
    assert asked.command == (str(path), "--config", "model.py")
    CommandWorkload.model_validate({"command": asked.command, "batch_size": 8, "scaling": ["weak"]})


def test_a_program_that_is_not_python_is_no_script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "train-model"
    path.write_text("#!/bin/bash\necho python\n", encoding="utf-8")
    path.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    with pytest.raises(UserError, match="not a Python script"):
        without_launcher(["train-model"])
    with pytest.raises(ValidationError, match="is not a Python script"):
        CommandWorkload.model_validate({"command": [str(path)], "batch_size": 8, "scaling": ["weak"]})


@pytest.mark.parametrize("flag", ["--use_env", "--use-new-flag"])
def test_the_script_is_not_the_value_of_an_option(flag: str) -> None:
    asked = without_launcher(
        shlex.split(f"python -m torch.distributed.launch --nproc_per_node=2 {flag} train.py --lr 1")
    )
    assert (asked.command, asked.scale) == (("train.py", "--lr", "1"), "1x2")


@pytest.mark.parametrize(
    "words",
    [
        ("train.py", "--batch-size", "{batch_per_rank}"),
        ("a folder/träin.py", "--name", "it's", '--json={"a": 1}'),
        ("-m", "pkg.train", "model.lr=0.1", "+x=[1,2]", "# no comment", "a: b"),
    ],
)
def test_words_survive_the_study_file(words: tuple[str, ...]) -> None:
    assert tuple(shlex.split(yaml.safe_load(f"command: {quoted(words)}")["command"])) == words


def text_of(**changes: Any) -> str:
    given: dict[str, Any] = {
        "name": "train",
        "command": ("train.py", "--batch-size", "{batch_per_rank}"),
        "batch_size": 32,
        "batches_per_step": 1,
        "scaling": ("weak",),
        "scales": ("1x2", "1x4"),
        "strategy": "ddp",
        "base_launcher": "python",
        "repeats": None,
        "device": "auto",
        "cores_per_rank": 1,
        "run_to_end": False,
        "epochs": 0,
    }
    return study_text(**given | changes)


def test_a_study_has_twelve_lines_at_most_and_is_one() -> None:
    assert len(text_of().splitlines()) <= 12
    full = text_of(repeats=3, batches_per_step=2, epochs=3, run_to_end=True, base_launcher="torchrun")
    study = parse_study(yaml.safe_load(full), source="test")
    assert study.variants["single"].launcher == "torchrun"
    assert study.most_repeats == 3


@pytest.mark.parametrize(
    ("device", "boards", "elsewhere", "cores"),
    [
        ("cpu", 1, True, 1),
        ("cuda", 0, False, None),
        ("auto", 1, False, None),
        ("auto", 0, False, 1),
        ("auto", 0, True, None),
    ],
)
def test_cores_are_left_to_the_node_where_it_has_gpus(
    device: str, boards: int, elsewhere: bool, cores: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All cores of this host over the ranks are those of other GPUs too."""
    nvml = FakeNvml(*(Board(f"GPU-{number}") for number in range(boards)))
    monkeypatch.setattr(devices, "nvml_session", lambda: nvml_session(nvml))
    monkeypatch.setattr(devices, "visible_gpus", lambda environment: visible_gpus(environment, nvml))
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    found = cores_or_unset(64, device=device, elsewhere=elsewhere)
    assert found == cores
    study = parse_study(yaml.safe_load(text_of(device=device, cores_per_rank=found)), source="test")
    assert study.host.cores_per_rank == cores


def test_another_study_is_not_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "train.yaml"
    write_study(path, text_of())
    write_study(path, text_of())
    with pytest.raises(UserError, match=r"batch_size is 32 there and 64 here.*--name"):
        write_study(path, text_of(batch_size=64))
    with pytest.raises(UserError, match=r"already exists with different content.*--name"):
        write_study(path, text_of().replace("study: train", "study:  train"))
    assert path.read_text() == text_of()


def test_another_study_is_found_before_the_script_is_tried(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("train.yaml").write_text(text_of(scales=("1x2", "1x4"), base_launcher="torchrun"))
    Path("train.py").write_text("raise SystemExit('it was tried')\n")
    wishes = {"batch_size": 32, "scaling": (), "name": None, "repeats": None, "cores_per_rank": 1, "epochs": 0}
    asked = Wishes(
        scales=("1x2",), device="cpu", run_to_end=False, allow_shared=False, **wishes, allow_equal_batches=False
    )  # type: ignore[arg-type]
    words = ("train.py", "--batch-size", "{batch_per_rank}")
    with pytest.raises(
        UserError, match=r'train.yaml: already.*: scales is \["1x2", "1x4"\] there and \["1x2"\] here'
    ):
        make_study_of(words, asked, elsewhere=False)


def test_an_option_adds_its_line_to_a_study_that_is_there(tmp_path: Path) -> None:
    path = tmp_path / "train.yaml"
    write_study(path, text_of())
    write_study(path, text_of(allow_shared=True))
    assert path.read_text() == text_of(allow_shared=True)
    assert parse_study(yaml.safe_load(path.read_text()), source="test").workloads["train"].allow_shared
    write_study(path, text_of())
    assert path.read_text() == text_of(allow_shared=True), "it is kept where the option is left out"
    both = text_of(allow_shared=True, allow_equal_batches=True)
    write_study(path, both)
    assert path.read_text() == both
    assert parse_study(yaml.safe_load(both), source="test").workloads["train"].allow_equal_batches
    path.write_text(text_of(allow_shared=True))
    write_study(path, text_of(allow_equal_batches=True))
    assert path.read_text() == both, "another permission does not remove the first"
    with pytest.raises(UserError, match="already exists"):
        write_study(path, text_of(allow_shared=True, batch_size=64))


@pytest.mark.parametrize(
    ("command", "name"),
    [(("src/Train_GPT.py",), "train-gpt"), (("-m", "pkg.train.main"), "main"), (("ü.py",), "training")],
)
def test_a_study_has_the_name_of_its_script(command: tuple[str, ...], name: str) -> None:
    assert name_of(command) == name


def seen(ranks: int, samples: int) -> Seen:
    return Seen(ranks, samples, batches=1, strategies=("ddp",), step_time_s=0.01, problem="", log="")


@pytest.mark.parametrize(("alone", "several", "scaling"), [(32, 32, "weak"), (32, 16, "strong")])
def test_scaling_is_read_from_the_batches_that_were_seen(alone: int, several: int, scaling: str) -> None:
    assert scaling_of(seen(1, alone), seen(2, several)) == scaling


def test_batches_that_are_neither_are_refused_with_both_numbers() -> None:
    with pytest.raises(UserError, match=r"32 samples per step alone and on 24 on each of 2 ranks"):
        scaling_of(seen(1, 32), seen(2, 24))


def test_one_process_alone_is_not_a_study_of_a_script() -> None:
    asked = Wishes(
        name="",
        batch_size=8,
        scales=("1x1",),
        scaling=(),
        repeats=None,
        device="auto",
        cores_per_rank=None,
        epochs=0,
        run_to_end=False,
        allow_shared=False,
        allow_equal_batches=False,
    )
    with pytest.raises(UserError, match=r"--scales 1x1: .* name one, such as --scales 1x2"):
        make_study_of(["train.py"], asked, elsewhere=True)
