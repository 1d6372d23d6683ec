"""`scalestudy new`: every option of the config as a flag, and what it writes is a study."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import pytest
import yaml
from scalestudy.cli.main import main
from scalestudy.cli.verb.new import Flag, _flags
from scalestudy.study.config.datasets import Data
from scalestudy.study.config.entry import Entry
from scalestudy.study.config.load import load_study
from scalestudy.study.config.models import Model
from scalestudy.study.config.optimizers import Optimizer
from scalestudy.study.config.variants import Knobs


def test_flags_become_a_study_that_can_be_planned(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "mine.yaml"
    flags = "--model mlp --hidden-dim 1024 --num-layers 4 --data synthetic-vectors --features 64 --on-device false"
    flags += " --optimizer adamw --learning-rate 0.01 --batch-size 256 --strategy ddp --scales 1x2 1x4"
    flags += " --precision bf16 --ddp-bucket-cap-mb 50 --accumulation-steps 2 --input-reshuffle false"
    assert main(["new", *flags.split(), "--out", str(file)]) == 0
    study = load_study(file)
    workload = study.workloads["mlp"]
    assert (workload.model.hidden_dim, workload.model.num_layers) == (1024, 4)
    assert (workload.data.features, workload.data.on_device) == (64, False)
    assert (workload.optimizer.type, workload.optimizer.learning_rate) == ("adamw", 0.01)
    ddp, single = study.variants["ddp"], study.variants["single"]
    assert (ddp.ddp.bucket_cap_mb, ddp.precision, ddp.accumulation_steps) == (50, "bf16", 2)
    # The baseline has the settings of the variant, but not those of its strategy.
    assert (single.strategy, single.precision, single.accumulation_steps) == ("single", "bf16", 2)
    assert not ddp.input.reshuffle
    assert f"scalestudy run --study {file}" in capsys.readouterr().out


def test_it_prints_what_was_asked_for_and_nothing_else(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["new", "--widths", "[4096, 4096]", "--data", "digits", "--name", "wide"]) == 0
    study = yaml.safe_load(capsys.readouterr().out)
    assert study["workloads"]["mlp"]["model"] == {"type": "mlp", "widths": [4096, 4096]}
    assert set(study) == {"study", "scales", "variants", "workloads", "host", "measure"}
    assert study["measure"] == {"floor": True}


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        ("--strategy {x}", "--strategy {'x': None}: not the name of a strategy, such as ddp"),
        ("--hidden-dim " + "9" * 400, "has more than 30 digits, the limit for numbers"),
        ("--d-model 64", "workloads.mlp.model.d_model: unknown key; valid keys are"),
        ("--strategy fsdp --ddp-bucket-cap-mb 5", "ddp.bucket_cap_mb: strategy fsdp takes no options of ddp"),
        ("--batch-size 33 --scales 1x2", "33 does not divide among the 2 ranks"),
        ("--model text-classifier", "text-classifier takes texts; digits gives images"),
    ],
)
def test_what_cannot_work_is_refused(flags: str, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["new", *flags.split()]) == 2
    assert said in capsys.readouterr().err


def test_a_file_that_is_there_is_not_overwritten(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "there.yaml"
    file.write_text("precious")
    assert main(["new", "--out", str(file)]) == 2
    assert file.read_text() == "precious"
    assert "already exists" in capsys.readouterr().err


def test_there_is_a_flag_for_every_key_of_the_model() -> None:
    """Flags come from the JSON schema; their names and the keys that they set come from the model."""
    flags = [flag for flag in _flags() if isinstance(flag, Flag)]
    assert len({flag.name for flag in flags}) == len({flag.opts[0] for flag in flags}) == len(flags)
    known = {(flag.part, *flag.keys) for flag in flags}
    for part, union in (("model", Model), ("data", Data), ("optimizer", Optimizer)):
        for kind in get_args(get_args(union)[0]):
            assert {(part, key) for key in kind.model_fields if key != "type"} <= known
    for name, field in Knobs.model_fields.items():
        inner = field.default.__class__.model_fields if isinstance(field.default, Entry) else {}
        assert {("variant", name, key) for key in inner} or {("variant", name)} <= known
        assert not {("variant", name, key) for key in inner} - known
    undescribed = [flag.opts[0] for flag in flags if not flag.help]
    assert undescribed == []


def test_the_help_names_choices_and_every_type_that_has_an_option(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["new", "--help"]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "--strategy single|ddp|fsdp|other `single`: the plain model in one process" in told
    assert "--classes VALUE 10: `cifar-10" in told, "other data have any number of classes"
    assert "`ddp`: DistributedDataParallel." in told
    assert "Dropout in every layer (text-classifier, language-model)" in told
    assert "Step size at the baseline's global batch --" in told, "of all optimizers"
