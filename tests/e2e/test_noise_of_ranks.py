"""The gradient noise scale from the gradients of two ranks, against the gradient of every training sample."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import gradient_truth
import pytest
from gradient_truth import estimate_of, noise_left_in, true_scale_after
from launches import spec_of
from scalestudy.launch.command import rank_environment
from scalestudy.study.spec import RunSpec, TrainSpec

PROBES = {"probe_rounds": 2, "probe_steps": 3, "warmup_steps": 2, "batch_trial_share": 0}
"""Without the trials of larger batches, which train the network again after all probes."""
CONVNET: dict[str, Any] = {
    "model": {"type": "convnet", "channels": 12, "num_layers": 2},
    "optimizer": {"type": "adam", "learning_rate": 0.01},
}
LANGUAGE_MODEL: dict[str, Any] = {
    "model": {"type": "language-model", "d_model": 32, "heads": 2, "num_layers": 2, "dropout": 0.0},
    "data": {"type": "synthetic-tokens", "samples": 256, "sequence_length": 12, "vocabulary": 40},
    "optimizer": {"type": "sgd", "learning_rate": 0.5},
    "batch_size": 16,
}
OPTIONS: dict[str, Any] = {
    "strategy": "ddp",
    "accumulation_steps": 2,
    "accumulation_sync": True,
    "activation_checkpointing": True,
    "ddp": {"bucket_cap_mb": 0.02, "gradient_as_bucket_view": True, "static_graph": True},
}
DDP: dict[str, Any] = {"strategy": "ddp"}
CHECKPOINTS = {"early": 1, "middle": 5, "late": 20}


def trained(folder: Path, specs: dict[str, RunSpec]) -> dict[str, Path]:
    """The directories of trainings with their probes, on two ranks."""
    directories = {name: folder / name for name in specs}
    for name, spec in specs.items():
        directories[name].mkdir(parents=True)
        (directories[name] / "spec.json").write_text(spec.to_json())
    first = next(iter(specs.values()))
    torchrun = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(first.world_size)]
    command = [sys.executable, *torchrun, gradient_truth.__file__, *map(str, directories.values())]
    ended = subprocess.run(
        command, env=os.environ | rank_environment(first), capture_output=True, text=True, timeout=300, check=False
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return directories


def close(directory: Path, spec: RunSpec) -> bool:
    """Whether the interval covers; fails where the estimate is off by 30 % or more."""
    assert isinstance(spec, TrainSpec)
    true, found = true_scale_after(directory, spec), estimate_of(noise_left_in(directory))
    print(f"{directory.name}: true {true:.1f}, estimate {found.value:.1f} [{found.low:.1f}, {found.high:.1f}]")
    assert found.value == pytest.approx(true, rel=0.3)
    return found.low <= true <= found.high


@pytest.mark.slow
def test_two_ranks_find_the_noise_scale_and_train_as_without_the_probe(tmp_path: Path) -> None:
    """The probes before it train the replicas apart. The noise scale is of the parameters before them."""
    probed = spec_of(DDP, {"epochs": 3}, measure=PROBES)
    specs = {"with": probed, "without": spec_of(DDP, {"epochs": 3}, measure=PROBES | {"probe_rounds": 0})}
    directories = trained(tmp_path, specs)
    assert close(directories["with"], probed)
    assert not list(tmp_path.rglob("end-of-training.pt"))
    losses = [(directory / "losses.csv").read_text() for directory in directories.values()]
    assert losses[0] == losses[1]
    assert len(losses[0].splitlines()) == 3 * 22 + 1
    noise = noise_left_in(directories["with"])
    assert (noise.samples, noise.gradients, len(noise.squares)) == (32, 2 * 16, 32)


@pytest.mark.slow
def test_early_middle_and_late_networks(tmp_path: Path) -> None:
    specs = {
        f"{name}, {when}": spec_of(variant, workload | {"epochs": epochs}, measure=PROBES)
        for name, (variant, workload) in {
            "mlp": (DDP, {}),
            "convnet": (DDP, CONVNET),
            "language model with options": (OPTIONS, LANGUAGE_MODEL),
        }.items()
        for when, epochs in CHECKPOINTS.items()
    }
    directories = trained(tmp_path, specs)
    covered = [close(directories[name], spec) for name, spec in specs.items()]
    assert sum(covered) >= len(covered) - 1  # of 9 intervals at 95 %
