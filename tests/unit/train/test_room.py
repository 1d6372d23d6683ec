"""Memory for probes that need more than the training: what they need, what is left, and which rank lacks it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import psutil
import pytest
from launches import spec_of, trainer_of
from scalestudy.train.place.memory_limit import memory_left_gib
from scalestudy.train.probes.room import lack_of_room, whole_gradients_gib

PARAMETERS = 2**28


@pytest.mark.parametrize(
    ("variant", "gib"),
    [
        ({}, 1.0),
        ({"precision": "bf16"}, 1.0),
        ({"precision": "bf16", "fsdp": {"reduce_dtype": "bf16"}}, 0.5),
        ({"accumulation_steps": 2}, 0.0),
        ({"accumulation_steps": 2, "accumulation_sync": True}, 1.0),
    ],
)
def test_gradients_of_the_whole_model_are_held_in_the_type_they_are_reduced_in(
    variant: dict[str, Any], gib: float
) -> None:
    """Between micro-batches without synchronisation the training keeps them too."""
    assert whole_gradients_gib(spec_of({"strategy": "fsdp", **variant}), PARAMETERS) == gib


def test_a_rank_that_lacks_memory_is_named_with_what_it_has(tmp_path: Path) -> None:
    trainer = trainer_of(spec_of({"strategy": "single"}), tmp_path)
    assert lack_of_room(trainer, 0.0) == ""
    lacking = lack_of_room(trainer, 1e6)
    assert lacking.startswith("rank 0 needs 10000")
    left_gib = float(lacking.split()[-3])
    assert left_gib == pytest.approx(psutil.virtual_memory().available / 2**30, rel=0.2)


def test_ranks_of_one_host_share_what_it_has(tmp_path: Path) -> None:
    place = trainer_of(spec_of({"strategy": "single"}), tmp_path).place
    assert memory_left_gib(None, place, sharing=4) == pytest.approx(memory_left_gib(None, place) / 4, rel=0.1)


def test_a_limit_that_somebody_else_set_counts_too() -> None:
    """`ulimit -d`, as sites set it on their login nodes."""
    code = (
        "import resource, torch; from types import SimpleNamespace as N;"
        "from scalestudy.train.place.memory_limit import mapped_bytes, memory_left_gib;"
        "resource.setrlimit(resource.RLIMIT_DATA, (mapped_bytes() + 2**29,) * 2);"
        "print(memory_left_gib(None, N(device=torch.device('cpu'))))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert float(done.stdout) == pytest.approx(0.5, abs=0.05)
