"""A rank that shards models and compares their initial values with the same models built unsharded.

`sharded_start.py KINDS`: KINDS is JSON, {name: variant and workload of a spec}; prints JSON, {name: facts}. RANK,
WORLD_SIZE, MASTER_ADDR and MASTER_PORT identify this rank.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

import torch
import torch.distributed as dist
from launches import spec_of
from scalestudy.train.gauges import peak_resident_gib
from scalestudy.train.place.placement import Placement
from scalestudy.train.strategies.base import Strategy
from scalestudy.train.strategies.fsdp import Fsdp
from scalestudy.train.workloads.blocks import checkpoint_activations
from torch import Tensor
from torch.distributed.tensor import DTensor


def whole(values: Tensor) -> Tensor:
    return values.full_tensor() if isinstance(values, DTensor) else values


def compare(variant: dict[str, Any], workload: dict[str, Any], place: Placement) -> dict[str, Any]:
    spec = spec_of({"strategy": "fsdp", **variant}, workload, scale=f"1x{place.world_size}")
    strategy = Fsdp(spec, place, stall_limit_s=60)
    before = peak_resident_gib()
    plain = strategy.build(spec, place)
    without_values = all(parameter.is_meta for parameter in plain.parameters())
    if spec.activation_checkpointing:
        checkpoint_activations(plain)
    model = strategy.wrap(plain)
    taken = 1024 * (peak_resident_gib() - before)
    expected = Strategy.build(strategy, spec, place)  # what DDP wraps
    pairs = [
        *zip(expected.parameters(), model.parameters(), strict=True),
        *zip(expected.buffers(), model.buffers(), strict=True),
    ]
    return {
        "without_values": without_values,
        "sharded": all(isinstance(parameter, DTensor) for parameter in model.parameters()),
        "equal": all(torch.equal(one, whole(other)) for one, other in pairs),
        "tensors": len(pairs),
        "taken_mib": taken,
        "whole_mib": sum(p.numel() * p.element_size() for p in expected.parameters()) / 2**20,
    }


def main() -> None:
    rank, world_size = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    place = Placement(
        rank=rank,
        world_size=world_size,
        node="here",
        local_rank=rank,
        local_world_size=world_size,
        cores=(0,),
        threads=1,
        device=torch.device("cpu"),
        backend="gloo",
        choice="",
    )
    dist.init_process_group("gloo")
    dist.init_process_group = lambda *_, **__: None  # each strategy would initialise it again
    kinds = json.loads(sys.argv[1])
    print(json.dumps({name: compare(variant, load, place) for name, (variant, load) in kinds.items()}))
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
