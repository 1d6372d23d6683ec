"""FSDP as our strategy sets it up, in a group of one rank: what the root keeps, types of outputs, means of gloo.

The gloo of torch 2.6 to 2.8 sums where a mean is requested.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.distributed as dist
from launches import spec_of
from scalestudy.errors import UserError
from scalestudy.train.place.placement import Placement, place_rank
from scalestudy.train.strategies import fsdp
from scalestudy.train.workloads.blocks import blocks_of
from torch.distributed.fsdp import FSDPModule
from torch.distributed.tensor import DTensor

METHOD = "set_force_sum_reduction_for_comms"


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Placement]:
    """Of one rank in a group of gloo."""
    spec = spec_of({"strategy": "fsdp"}, host={"pin": False})
    dist.init_process_group("gloo", store=dist.FileStore(str(tmp_path / "store"), 1), rank=0, world_size=1)
    yield place_rank(spec.host)
    dist.destroy_process_group()


DECODER: dict[str, Any] = {
    "model": {"type": "language-model", "d_model": 16, "heads": 2, "num_layers": 2},
    "data": {"type": "synthetic-tokens", "sequence_length": 12, "vocabulary": 50, "samples": 64},
}


def sharded(place: Placement, workload: dict[str, Any] | None = None, **variant: Any) -> Any:
    """The model of a spec in units of FSDP."""
    spec = spec_of({"strategy": "fsdp", **variant}, workload)
    strategy = fsdp.Fsdp.__new__(fsdp.Fsdp)  # the group is there
    strategy._spec, strategy._place = spec, place
    return strategy.wrap(strategy.build(spec, place))


@pytest.mark.parametrize(
    ("options", "kept_outside", "kept_within"),
    [
        ({}, True, False),
        ({"sharding": "hybrid", "shard_ranks": 1}, True, False),
        ({"sharding": "gradients"}, True, True),
        ({"wrap": "model"}, False, False),
    ],
)
def test_what_is_kept_between_forward_and_backward_pass(
    place: Placement, options: dict[str, Any], kept_outside: bool, kept_within: bool
) -> None:
    """A parameter that was freed is sharded again."""
    model = sharded(place, DECODER, fsdp=options)
    blocks = tuple(name for name, module in model.named_modules() if module in blocks_of(model))
    within = {name for name, _ in model.named_parameters() if name.startswith(blocks)}
    outside = fsdp.outside_blocks(model)
    model(torch.zeros(2, 12, dtype=torch.long))
    kept = {name: not isinstance(parameter, DTensor) for name, parameter in model.named_parameters()}
    sizes = {name: parameter.numel() for name, parameter in model.named_parameters()}
    assert {kept[name] for name in within} == {kept_within}
    assert {kept[name] for name in kept.keys() - within} == {kept_outside}
    assert outside == sum(sizes[name] for name in kept.keys() - within) > 0


@pytest.mark.parametrize("wrap", ["block", "model"])
def test_outputs_in_bf16_are_fp32_as_those_of_autocast(place: Placement, wrap: str) -> None:
    model = sharded(place, DECODER, precision="bf16", fsdp={"wrap": wrap})
    types: list[torch.dtype] = []
    for block in blocks_of(model):
        block.register_forward_hook(lambda _module, _inputs, output: types.append(output.dtype))
    assert model(torch.zeros(2, 12, dtype=torch.long)).dtype == torch.float32
    assert types == [torch.bfloat16] * 2, "only the root's are cast"


def test_a_group_that_takes_means_is_left_as_it_is(place: Placement, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[bool] = []
    monkeypatch.setattr(FSDPModule, METHOD, lambda _, enable: asked.append(enable))
    assert fsdp.takes_means(place)
    sharded(place)
    assert asked == []


def test_a_sum_in_the_place_of_a_mean_is_noticed_and_fsdp_divides(
    place: Placement, monkeypatch: pytest.MonkeyPatch
) -> None:
    def summed(out: torch.Tensor, whole: torch.Tensor, op: object) -> None:
        assert op == dist.ReduceOp.AVG
        out.copy_(2 * whole[:1])

    asked: list[bool] = []
    monkeypatch.setattr(fsdp, "reduce_scatter", summed)
    monkeypatch.setattr(FSDPModule, METHOD, lambda _, enable: asked.append(enable))
    assert not fsdp.takes_means(place)
    model = sharded(place)
    assert asked == [True] * sum(isinstance(module, FSDPModule) for module in model.modules())
    assert len(asked) > 1
    monkeypatch.delattr(FSDPModule, METHOD)
    with pytest.raises(UserError, match=r"uses the sum of the gradients .* Use ddp, a GPU, or a newer torch"):
        sharded(place)
