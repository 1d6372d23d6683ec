"""Validation has the arithmetic and the memory of training, and peak memory is that of the blocks of training."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from launches import spec_of, trainer_of
from scalestudy.record.observation import Memory
from scalestudy.train.gauges import CLEAR_REFS, RESET_PEAK, Gauges
from torch import Tensor, nn

MIB = 2**20


@pytest.mark.parametrize(("precision", "dtype"), [("bf16", torch.bfloat16), ("fp32", torch.float32)])
def test_validation_passes_as_many_samples_in_the_same_arithmetic(
    tmp_path: Path, precision: str, dtype: torch.dtype
) -> None:
    variant = {"strategy": "single", "precision": precision, "accumulation_steps": 4}
    trainer = trainer_of(spec_of(variant), tmp_path)
    seen: dict[bool, list[tuple[int, torch.dtype]]] = {True: [], False: []}

    def look(module: nn.Module, _inputs: tuple[Tensor, ...], outputs: Tensor) -> None:
        seen[module.training].append((len(outputs), outputs.dtype))

    trainer.plain.register_forward_hook(look)
    trainer.train()
    assert {kind for _, kind in seen[True]} == {kind for _, kind in seen[False]} == {dtype}
    assert max(samples for samples, _ in seen[False]) == max(samples for samples, _ in seen[True]) == 16


def can_reset_its_peak() -> bool:
    try:
        CLEAR_REFS.write_text(RESET_PEAK, encoding="ascii")
    except OSError:
        return False
    return True


@pytest.mark.skipif(not can_reset_its_peak(), reason="this kernel does not let a process reset its peak memory")
def test_peaks_are_of_the_blocks_and_of_nothing_around_them(tmp_path: Path) -> None:
    gauges = Gauges(trainer_of(spec_of({"strategy": "single"}), tmp_path).place)

    def take(mib: int) -> None:
        bytearray(b"1") * (mib * MIB)

    def peak_mib(memory: Memory) -> float:
        return memory.peak_resident_gib * 1024

    take(600)
    before = peak_mib(gauges.memory())
    gauges.begin_block()
    take(200)
    gauges.read()
    of_block = peak_mib(gauges.memory())
    assert before - of_block > 300
    take(600)  # a validation
    assert peak_mib(gauges.memory()) == of_block
    gauges.begin_block()
    take(400)
    assert peak_mib(gauges.memory()) - of_block > 150, "a block that did not end counts"
