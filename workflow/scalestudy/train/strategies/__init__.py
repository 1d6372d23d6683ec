"""How a model is run on the ranks: one process, DistributedDataParallel or FSDP2."""

import math

from scalestudy.study.spec import TrainSpec
from scalestudy.train.place.placement import Placement
from scalestudy.train.strategies.base import Strategy
from scalestudy.train.strategies.ddp import Ddp


def make_strategy(spec: TrainSpec, place: Placement, *, stall_limit_s: float = math.inf) -> Strategy:
    """Return the strategy of a spec. stall_limit_s: seconds without progress after which a rank gives up."""
    if spec.strategy == "fsdp":
        from scalestudy.train.strategies.fsdp import (
            Fsdp,  # imports parts of torch for half a second, which other strategies do not need
        )

        return Fsdp(spec, place, stall_limit_s=stall_limit_s)
    if spec.strategy == "single":
        return Strategy(spec, place)
    return Ddp(spec, place, stall_limit_s=stall_limit_s)
