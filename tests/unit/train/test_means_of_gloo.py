"""FSDP over a gloo that sums where a mean is asked for, as that of torch 2.6 to 2.8 does."""

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
from torch.distributed.fsdp import FSDPModule

METHOD = "set_force_sum_reduction_for_comms"


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Placement]:
    """Of one rank in a group of gloo."""
    spec = spec_of({"strategy": "fsdp"}, host={"pin": False})
    dist.init_process_group("gloo", store=dist.FileStore(str(tmp_path / "store"), 1), rank=0, world_size=1)
    yield place_rank(spec.host)
    dist.destroy_process_group()


def sharded(place: Placement) -> Any:
    spec = spec_of({"strategy": "fsdp"})
    strategy = fsdp.Fsdp.__new__(fsdp.Fsdp)
    strategy._spec, strategy._place = spec, place
    return fsdp.shard(strategy.build(spec, place), spec, place)


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
    with pytest.raises(UserError, match=r"takes the sum of gradients .* Use ddp, a GPU, or a newer torch"):
        sharded(place)
