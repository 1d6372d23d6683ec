"""How a model is run on the ranks: one process, DistributedDataParallel or FSDP2."""

from scalestudy.study.spec import TrainSpec
from scalestudy.train.place.placement import Placement
from scalestudy.train.strategies.base import Strategy
from scalestudy.train.strategies.ddp import Ddp


def make_strategy(spec: TrainSpec, place: Placement) -> Strategy:
    """The strategy of a spec."""
    if spec.strategy == "fsdp":
        from scalestudy.train.strategies.fsdp import (
            Fsdp,  # loads half a second of torch that the others do without
        )

        return Fsdp(spec, place)
    return Strategy(spec, place) if spec.strategy == "single" else Ddp(spec, place)
