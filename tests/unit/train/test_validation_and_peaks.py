"""Validation is as exact and as large as training is; peaks of memory are those of steps."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from launches import spec_of, trainer_of
from scalestudy.train.gauges import GIB, Gauges
from scalestudy.train.place.placement import Placement


@pytest.mark.parametrize(("precision", "dtype"), [("fp32", torch.float32), ("bf16", torch.bfloat16)])
def test_validation_has_the_arithmetic_and_the_batch_of_a_training_step(
    tmp_path: Path, precision: str, dtype: torch.dtype
) -> None:
    variant = {"strategy": "single", "precision": precision, "accumulation_steps": 2}
    trainer = trainer_of(spec_of(variant, {"batch_size": 32}), tmp_path)
    passed: list[torch.Tensor] = []
    trainer.plain.register_forward_hook(lambda module, inputs, output: passed.append(output))
    loss, accuracy = trainer.validate()
    assert 0 <= accuracy <= 1
    assert loss > 0
    assert {output.dtype for output in passed} == {dtype}
    assert max(len(output) for output in passed) == 16
    assert sum(len(output) for output in passed) == len(trainer.split.validation_targets)


class Allocator:
    """Memory of a GPU, in bytes: what is allocated and its peak since it was last reset."""

    def __init__(self) -> None:
        self.allocated = self.peak = 0

    def use(self, most: int, left: int) -> None:
        self.peak, self.allocated = max(self.peak, most), left

    def reset(self) -> None:
        self.peak = self.allocated


def test_the_peak_on_a_gpu_is_that_of_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Building takes 9 GiB, a block 5 and 6, validation in between 8."""
    memory = Allocator()
    monkeypatch.setattr(torch.cuda, "max_memory_allocated", lambda: memory.peak)
    monkeypatch.setattr(torch.cuda, "memory_allocated", lambda: memory.allocated)
    monkeypatch.setattr(torch.cuda, "reset_peak_memory_stats", memory.reset)
    monkeypatch.setattr(torch.cuda, "memory_reserved", lambda: 7 * GIB)
    monkeypatch.setattr(torch.cuda, "max_memory_reserved", lambda: 10 * GIB)
    monkeypatch.setattr(torch.cuda, "memory_stats", lambda: {"num_alloc_retries": 0})
    place = Placement(
        rank=0,
        world_size=1,
        node="here",
        local_rank=0,
        local_world_size=1,
        cores=(0,),
        threads=1,
        device=torch.device("cuda", 0),
        backend="nccl",
        choice="",
    )
    gauges = Gauges(place)
    memory.use(9 * GIB, 2 * GIB)
    assert gauges.memory().peak_allocated_gib == 9, "no step was made: what there is"
    gauges.begin_block()
    memory.use(5 * GIB, 2 * GIB)
    assert gauges.read()["peak_allocated_gib"] == 5
    memory.use(8 * GIB, 2 * GIB)
    gauges.begin_block()
    memory.use(6 * GIB, 2 * GIB)
    assert gauges.read()["peak_allocated_gib"] == 6
    memory.use(8 * GIB, 2 * GIB)
    gauges.end_training()
    memory.use(12 * GIB, 2 * GIB)
    assert gauges.memory().peak_allocated_gib == 6
    assert gauges.memory().peak_reserved_gib == 7
