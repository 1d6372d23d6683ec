"""A rank that waits at a chosen moment until it is released, so that a fault hits it there.

It is started instead of `scalestudy.train`, with the same arguments. MOMENT sets where the last rank waits. There
it writes its process id to `at` in FOLDER, and continues once `go` exists.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from scalestudy.demo.failing import is_last
from scalestudy.record.rank_recorder import RankRecorder
from scalestudy.train import rank
from scalestudy.train.__main__ import run
from scalestudy.train.loop import Trainer
from scalestudy.train.place import watchdog

MOMENT, FOLDER = "TEST_MOMENT", "TEST_FOLDER"
MOMENTS: dict[str, tuple[Any, str, int]] = {
    "start of a rank": (rank, "place_rank", 1),
    "rendezvous": (rank, "make_strategy", 1),
    "warm-up": (Trainer, "train_block", 1),
    "block": (Trainer, "train_block", 4),
    "probe": (rank, "run_probes", 1),
    "writing": (RankRecorder, "write", 1),
}
"""Where the last rank waits: before the n-th call of a function of an object."""


def wait() -> None:
    folder = Path(os.environ[FOLDER])
    (folder / "at.new").write_text(str(os.getpid()))
    (folder / "at.new").rename(folder / "at")
    while not (folder / "go").exists():
        time.sleep(0.02)


def waiting_before(function: Callable[..., Any], call: int) -> Callable[..., Any]:
    calls: list[int] = []

    def waiting(*arguments: Any, **named: Any) -> Any:
        calls.append(1)
        if len(calls) == call:
            wait()
        return function(*arguments, **named)

    return waiting


if __name__ == "__main__":
    watchdog.ANSWER_S = 1.0
    place, name, call = MOMENTS[os.environ[MOMENT]]
    if is_last():
        setattr(place, name, waiting_before(getattr(place, name), call))
    run()
