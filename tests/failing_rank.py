"""A rank with a fault of demo/failing.py, over gloo or over a backend that is as strict as NCCL.

Started in the place of `scalestudy.train`, with the same arguments. FAILS says what the last rank does, BACKEND
over which backend all of them talk.
"""

from __future__ import annotations

import os
import time
from dataclasses import replace
from typing import Any

import strict_backend
from scalestudy.demo.failing import FAILS, fail_as_asked
from scalestudy.train import rank
from scalestudy.train.__main__ import run
from scalestudy.train.place.placement import Placement
from scalestudy.train.strategies.base import Grouped

BACKEND = "TEST_BACKEND"


def never_end_the_group() -> None:
    """As NCCL's, where another rank is in a kernel or gone."""

    def close(_: Grouped) -> None:
        time.sleep(3600)

    Grouped.close = close


def talk_over(backend: str) -> None:
    place_rank = rank.place_rank

    def place(*arguments: Any) -> Placement:
        return replace(place_rank(*arguments), backend=backend)

    rank.place_rank = place


if __name__ == "__main__":
    strict_backend.register()
    talk_over(os.environ[BACKEND])
    if os.environ[FAILS] == "lingering":
        os.environ[FAILS] = "nothing"
        never_end_the_group()
    fail_as_asked()
    with strict_backend.HANDED_OUT:
        run()
