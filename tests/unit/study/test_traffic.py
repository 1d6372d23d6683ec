"""Bytes that a rank sends in a step, against formulas written out by hand."""

from __future__ import annotations

from typing import Any

import pytest
from launches import spec_of
from scalestudy.study.traffic import bytes_sent

HYBRID = {"sharding": "hybrid", "shard_ranks": 2}
ACCUMULATED = {"accumulation_steps": 4}
SENT = [
    ({"strategy": "single"}, "1x4", 0),
    # An all-reduce: 2 (W - 1) / W of four bytes a parameter.
    ({"strategy": "ddp"}, "1x4", 2 * 3 / 4 * 4),
    ({"strategy": "ddp"}, "1x2", 2 * 1 / 2 * 4),
    ({"strategy": "ddp"}, "1x1", 0),
    ({"strategy": "ddp", "precision": "bf16"}, "1x4", 2 * 3 / 4 * 4),
    ({"strategy": "ddp", **ACCUMULATED}, "1x4", 2 * 3 / 4 * 4),
    ({"strategy": "ddp", **ACCUMULATED, "accumulation_sync": True}, "1x4", 4 * 2 * 3 / 4 * 4),
    ({"strategy": "ddp", "ddp": {"communication_hook": "fp16"}}, "1x4", 2 * 3 / 4 * 2),
    ({"strategy": "ddp", "ddp": {"communication_hook": "powersgd"}}, "1x4", None),
    # Gathered twice and reduced once, each (W - 1) / W of four bytes a parameter.
    ({"strategy": "fsdp"}, "1x4", 3 / 4 * (4 + 4 + 4)),
    ({"strategy": "fsdp"}, "1x1", 0),
    ({"strategy": "fsdp", "fsdp": {"sharding": "gradients"}}, "1x4", 3 / 4 * (4 + 4)),
    ({"strategy": "fsdp", "precision": "bf16"}, "1x4", 3 / 4 * (2 + 2 + 4)),
    ({"strategy": "fsdp", "precision": "bf16", "fsdp": {"reduce_dtype": "bf16"}}, "1x4", 3 / 4 * (2 + 2 + 2)),
    ({"strategy": "fsdp", "fsdp": {"reduce_dtype": "bf16"}}, "1x4", 3 / 4 * (4 + 4 + 4)),
    ({"strategy": "fsdp", **ACCUMULATED}, "1x4", 3 / 4 * (4 * 8 + 4)),
    ({"strategy": "fsdp", **ACCUMULATED, "accumulation_sync": True}, "1x4", 3 / 4 * 4 * 12),
    # Within pairs as above; then the shards, half of the parameters, are summed over two pairs.
    ({"strategy": "fsdp", "fsdp": HYBRID}, "1x4", 1 / 2 * 12 + 2 * 1 / 2 * 4 / 2),
    ({"strategy": "fsdp", "fsdp": HYBRID}, "1x2", 1 / 2 * 12),
    ({"strategy": "fsdp", "fsdp": HYBRID | {"shard_ranks": None}}, "1x4", 3 / 4 * 12),
    ({"strategy": "fsdp", "fsdp": HYBRID | {"shard_ranks": 1}}, "1x4", 2 * 3 / 4 * 4),
]


@pytest.mark.parametrize(("variant", "scale", "per_parameter"), SENT, ids=str)
def test_bytes_that_a_rank_sends(variant: dict[str, Any], scale: str, per_parameter: float | None) -> None:
    expected = None if per_parameter is None else pytest.approx(1000 * per_parameter)
    assert bytes_sent(spec_of(variant, scale=scale), 1000) == expected


@pytest.mark.parametrize(
    ("variant", "per_parameter"),
    [
        # A quarter of the parameters is outside the blocks: gathered once a micro-batch, the others twice.
        ({}, 3 / 4 * (4 * 1.75 + 4)),
        ({"accumulation_steps": 4}, 3 / 4 * (4 * 4 * 1.75 + 4)),
        ({"precision": "bf16"}, 3 / 4 * (2 * 1.75 + 4)),
        ({"fsdp": {"sharding": "gradients"}}, 3 / 4 * (4 + 4)),
        ({"fsdp": {"wrap": "model"}}, 3 / 4 * (4 * 2 + 4)),
    ],
)
def test_what_is_outside_the_blocks_is_gathered_once(variant: dict[str, Any], per_parameter: float) -> None:
    spec = spec_of({"strategy": "fsdp"} | variant, scale="1x4")
    assert bytes_sent(spec, 1000, outside_blocks=250) == pytest.approx(1000 * per_parameter)


def test_bytes_of_another_strategy_are_not_known() -> None:
    spec = spec_of({"strategy": "ddp"}, scale="1x4").model_copy(update={"strategy": "other"})
    assert bytes_sent(spec, 1000) is None
