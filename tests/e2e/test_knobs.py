"""Many knobs at once on real runs: they work together, and each leaves its mark where it should."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from launches import spec_of, step_losses, succeeded
from scalestudy.analyse.run.steps import steady_steps
from scalestudy.record.observation import PROBE_PHASES, TRAINING_PHASES
from scalestudy.record.parts import DATA_FILES
from scalestudy.record.tables import Observation

PARAMETERS = (64 * 32 + 32) + (32 * 32 + 32) + (32 * 10 + 10)
FLOPS = 4 * 64 * 32 + 6 * (32 * 32 + 32 * 10)
STEPS, REST = 22, 30  # of an epoch: 1438 training images in batches of 64

CASES: dict[str, dict[str, Any]] = {
    "single read ahead": {
        "strategy": "single",
        "precision": "bf16",
        "checkpoint_every_steps": 5,
        "checkpoints_kept": 2,
        "log_every_steps": 4,
        "input": {
            "loader": "dataloader",
            "workers": 1,
            "persistent_workers": True,
            "prefetch_factor": 3,
            "pin_memory": True,
        },
    },
    "single fp16": {
        "strategy": "single",
        "precision": "fp16",
        "activation_checkpointing": True,
        "accumulation_steps": 2,
        "checkpoint_every_steps": 6,
        "checkpoint_async": True,
        "input": {"drop_last": False},
    },
    "ddp compiled": {
        "strategy": "ddp",
        "compile": True,
        "precision": "bf16",
        "accumulation_steps": 2,
        "log_every_steps": 3,
        "checkpoint_every_steps": 4,
        "checkpoints_kept": 2,
        "checkpoint_async": True,
        "ddp": {"bucket_cap_mb": 1, "broadcast_buffers": False, "find_unused_parameters": True},
        "environment": {"TORCH_LOGS": "graph_code", "OMP_WAIT_POLICY": "passive"},
    },
    "ddp powersgd": {
        "strategy": "ddp",
        "precision": "fp16",
        "log_every_steps": 5,
        "checkpoint_every_steps": 5,
        "checkpoints_kept": 2,
        "ddp": {"communication_hook": "powersgd", "powersgd_rank": 2, "gradient_as_bucket_view": True},
        "input": {"drop_last": False, "reshuffle": False},
    },
    "fsdp bf16": {
        "strategy": "fsdp",
        "precision": "bf16",
        "accumulation_steps": 2,
        "log_every_steps": 3,
        "checkpoint_every_steps": 4,
        "checkpoints_kept": 2,
        "checkpoint_async": True,
        "fsdp": {"reduce_dtype": "bf16"},
        "input": {"loader": "dataloader", "workers": 1, "drop_last": False},
    },
    "fsdp compiled": {
        "strategy": "fsdp",
        "compile": True,
        "checkpoint_every_steps": 5,
        "fsdp": {"sharding": "hybrid", "shard_ranks": 2, "wrap": "model"},
        "environment": {"TORCH_LOGS": "graph_code"},
    },
}
# What a rank sends in a step; shares of (ranks - 1) / ranks = 1/2.
SENT = {
    "single read ahead": 0,
    "single fp16": 0,
    "ddp compiled": 2 * PARAMETERS * 4 / 2,
    "ddp powersgd": None,
    "fsdp bf16": PARAMETERS * (2 * 2 * 2 + 2) / 2,  # two gathers for each of two micro-batches, in two bytes
    "fsdp compiled": PARAMETERS * (2 * 4 + 4) / 2,
}
# Phases of the probes: DDP's logger and its arrivals tell nothing where a hook synchronises.
PROBED = {"ddp compiled": set(PROBE_PHASES), "ddp powersgd": {"probe-sync", "probe-no-sync"}}
# Samples of a rank in the last, short step of an epoch: what divides among ranks and micro-batches.
TAIL = {"single fp16": 30, "ddp powersgd": 15, "fsdp bf16": 14}


@dataclass(frozen=True)
class Launched:
    """An observation, and the files in its directory."""

    observation: Observation
    directory: Path

    @property
    def log(self) -> str:
        return (self.directory / "log.txt").read_text()

    @property
    def training(self) -> pd.DataFrame:
        """Steps of rank 0, without probes."""
        steps = self.observation.steps
        return steps[(steps["rank"] == 0) & steps["phase"].isin(TRAINING_PHASES)]


Trained = Callable[[str], Launched]


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Trained:
    """A case by its name; each is launched once, when it is requested."""
    made: dict[str, Launched] = {}
    results = tmp_path_factory.mktemp("knobs")

    def launch(case: str) -> Launched:
        if CASES[case].get("compile") and shutil.which("g++") is None:
            pytest.skip("torch.compile on a CPU needs a C++ compiler; there is no g++ here")
        if case not in made:
            spec = spec_of(
                CASES[case],
                measure={"probe_rounds": 1 if case in PROBED else 0, "probe_steps": 4},
                host={"environment": {"OMP_WAIT_POLICY": "active", "GLOO_TEST": "of the host"}},
            )
            observation = succeeded(spec, results)
            made[case] = Launched(observation, results / "runs" / observation.record.run_id)
        return made[case]

    return launch


# Each is a run of its own; one of them is always tested.
ALWAYS = "ddp powersgd"
NAMES = [name if name == ALWAYS else pytest.param(name, marks=pytest.mark.slow) for name in CASES]


def with_knob(name: str) -> list[Any]:
    return [given for given, variant in zip(NAMES, CASES.values(), strict=True) if variant.get(name)]


@pytest.mark.slow
@pytest.mark.parametrize("case", NAMES)
def test_knobs_go_together(trained: Trained, case: str) -> None:
    """The run ends well, the model learns, and nothing but the observation is left."""
    launched = trained(case)
    losses = step_losses(launched.observation.steps)
    assert np.isfinite(losses).all()
    assert losses.iloc[-4:].mean() < 0.95 * losses.iloc[:4].mean()
    totals = launched.observation.record.totals
    assert totals.parameters == PARAMETERS
    assert totals.flops_per_sample == FLOPS
    assert totals.bytes_sent_per_step == SENT[case]
    assert {path.name for path in launched.directory.iterdir()} == {*DATA_FILES, "run.json", "run.sha256"}
    phases = set(launched.observation.steps["phase"]) - set(TRAINING_PHASES)
    assert phases == PROBED.get(case, set())


@pytest.mark.parametrize("case", NAMES)
def test_a_short_batch_is_trained_on_and_not_measured(trained: Trained, case: str) -> None:
    observation, training = trained(case).observation, trained(case).training
    ranks = observation.record.spec.world_size
    tails = training[training["phase"] == "tail"]
    trained_on = STEPS * 64 + ranks * TAIL.get(case, 0)
    assert observation.epochs["samples"].tolist() == [trained_on, trained_on]
    whole = training[training["phase"] != "tail"]
    assert len(whole) == 2 * STEPS
    assert set(whole["samples"]) == {64 // ranks}
    if case in TAIL:
        assert tails["step"].tolist() == [STEPS, 2 * STEPS + 1], "after the whole batches of each epoch"
        assert tails["samples"].tolist() == [TAIL[case]] * 2
        steady = set(steady_steps(observation).of_step("step"))
        assert steady and not steady & set(tails["step"])
        assert tails["block"].tolist() == [whole[whole["epoch"] == e]["block"].max() + 1 for e in (1, 2)]
    else:
        assert tails.empty


@pytest.mark.parametrize("case", with_knob("compile"))
def test_what_is_to_be_compiled_is_compiled(trained: Trained, case: str) -> None:
    """torch itself reports what it compiles. A model that it leaves out would run too."""
    assert "TRACED GRAPH" in trained(case).log


@pytest.mark.parametrize("case", NAMES)
def test_losses_are_logged_as_often_as_asked_for(trained: Trained, case: str) -> None:
    """By one rank, and with the loss that is in the record if there is one rank."""
    launched = trained(case)
    every = CASES[case].get("log_every_steps")
    said = [line.split() for line in launched.log.splitlines() if re.match(r"step \d+: loss ", line)]
    steps = len(launched.training)
    assert [int(words[1].rstrip(":")) for words in said] == (list(range(every, steps + 1, every)) if every else [])
    losses = launched.training["loss"].tolist()
    assert all(float(words[3]) == pytest.approx(losses[int(words[1][:-1]) - 1], abs=1e-4) for words in said)
    spent = launched.training["logging_time_s"]
    assert (spent > 0).all() if every else (spent == 0).all()


@pytest.mark.parametrize("case", NAMES)
def test_checkpoints_take_their_time_where_they_are_written(trained: Trained, case: str) -> None:
    training = trained(case).training
    saved = (training["step"] + 1) % CASES[case]["checkpoint_every_steps"] == 0
    spent = training["checkpoint_time_s"]
    assert spent[saved].min() > 10 * spent[~saved].median()


@pytest.mark.parametrize("case", NAMES)
def test_the_environment_of_a_variant_comes_after_that_of_the_host(trained: Trained, case: str) -> None:
    """As rank 0 saw it, not as it was to be."""
    seen = trained(case).observation.record.environment["variables"]
    wanted = {"OMP_WAIT_POLICY": "active", "GLOO_TEST": "of the host"} | CASES[case].get("environment", {})
    assert {name: seen.get(name) for name in ("OMP_WAIT_POLICY", "GLOO_TEST", "TORCH_LOGS")} == {
        "TORCH_LOGS": None,
        **wanted,
    }
