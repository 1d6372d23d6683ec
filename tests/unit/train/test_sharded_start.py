"""FSDP begins with the parameters that DDP begins with, and no rank holds the whole model on the way."""

from __future__ import annotations

import importlib.util
import json
import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from scalestudy.train.strategies.deferred import initialise_shards
from scalestudy.train.workloads import BUILDERS
from torch import nn

TESTS = Path(__file__).parents[2]
IMAGES = {"type": "synthetic-images", "channels": 3, "size": 6, "classes": 5, "samples": 64}
TOKENS = {"type": "synthetic-tokens", "sequence_length": 12, "vocabulary": 50, "samples": 64}
SHAPE = {"d_model": 16, "heads": 2, "num_layers": 2, "feedforward_dim": 40}
GPT2 = {
    "type": "hugging-face",
    "architecture": "gpt2",
    "task": "next-token",
    "settings": {"n_embd": 16, "n_layer": 2, "n_head": 2},
}
LARGE = {"type": "mlp", "widths": [2048] * 9}
DECODER = {"model": {"type": "language-model", **SHAPE}, "data": TOKENS}

# The large one comes before others that take as much, since the peak of a process only grows. The first one loads
# the modules of torch that all of them need.
KINDS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "mlp": ({}, {}),
    "large": ({}, {"model": LARGE, "data": {"type": "synthetic-vectors", "features": 8, "samples": 64}}),
    "convnet": (
        {},
        {"model": {"type": "convnet", "channels": 7, "num_layers": 2, "norm": "batch"}, "data": IMAGES},
    ),
    "text-classifier": (
        {},
        {"model": {"type": "text-classifier", **SHAPE}, "data": {**TOKENS, "classes": 3}},
    ),
    "language-model": ({}, DECODER),
    "language-model recomputed": ({"activation_checkpointing": True}, DECODER),
    "one unit": ({"fsdp": {"wrap": "model"}}, DECODER),
    "replicas": ({"fsdp": {"sharding": "hybrid", "shard_ranks": 1}}, DECODER),
    "hugging-face": ({}, {"model": GPT2, "data": TOKENS}),
}
if importlib.util.find_spec("transformers") is None:
    del KINDS["hugging-face"]
Facts = dict[str, dict[str, Any]]


def started(world_size: int) -> list[subprocess.Popen[str]]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    common = os.environ | {
        "WORLD_SIZE": str(world_size),
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": str(port),
        "PYTHONPATH": str(TESTS),
        "OMP_NUM_THREADS": "1",
        "MALLOC_MMAP_THRESHOLD_": str(2**20),  # the kernel gets freed tensors back, which are not in a peak
    }
    command = [sys.executable, str(TESTS / "sharded_start.py"), json.dumps(KINDS)]
    return [
        subprocess.Popen(
            command,
            env=common | {"RANK": str(rank)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for rank in range(world_size)
    ]


@pytest.fixture(scope="module")
def facts(request: pytest.FixtureRequest) -> list[Facts]:
    """What each rank found."""
    ranks = started(request.param)
    found: list[Facts] = []
    for rank in ranks:
        printed, errors = rank.communicate(timeout=240)
        assert rank.returncode == 0, errors
        found.append(json.loads(printed.splitlines()[-1]))
    return found


@pytest.mark.parametrize("facts", [pytest.param(1, marks=pytest.mark.slow), 2], indirect=True)
@pytest.mark.parametrize("kind", KINDS)
def test_fsdp_begins_where_ddp_begins(facts: list[Facts], kind: str) -> None:
    for of_rank in facts:
        found = of_rank[kind]
        assert found["equal"]
        assert found["sharded"]
        assert found["tensors"] >= 6
        assert found["without_values"] == (kind != "hugging-face")


@pytest.mark.parametrize("facts", [2], indirect=True)
def test_no_rank_holds_the_whole_model(facts: list[Facts]) -> None:
    for of_rank in facts:
        large = of_rank["large"]
        assert large["whole_mib"] > 120
        assert large["taken_mib"] < 0.9 * large["whole_mib"]  # half of it, and one layer at a time


def test_every_kind_of_model_is_tried() -> None:
    assert {*KINDS, "hugging-face"} >= set(BUILDERS)


def test_a_model_that_cannot_be_initialised_in_parts_is_refused() -> None:
    class Scaled(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.scale = nn.Parameter(torch.ones(3))

    with torch.device("meta"):
        shapes = nn.Sequential(nn.Linear(2, 3), Scaled())
    with pytest.raises(RuntimeError, match=r"no initial values for 1\.scale"):
        initialise_shards(nn.Sequential(nn.Linear(2, 3), Scaled()), shapes)
