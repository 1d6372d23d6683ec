"""Overhead of measuring: our own loop with clock, recorder and gauges, compared with the same steps without them.

    python -m bench.recorder_cost --rounds 30 --out recorder.json

Without them the ranks still meet before a block, and the losses are still read at its end. What goes is what is
done for the sake of the record: the marks, the rows, the gauges, the progress file, the ranks' agreement on times.
"""

from __future__ import annotations

import itertools
import sys

import numpy as np
from scalestudy.record.observation import STEP_PARTS

from bench.harness import run_command
from bench.peers.ours import blocks, make_trainer
from bench.task import SIZES, Contender, Task


class Nothing:
    """Times that were not taken: nothing for every part of every step."""

    def reshape(self, steps: int, _marks: int) -> np.ndarray:
        return np.zeros((steps, len(STEP_PARTS)))


class NullClock:
    """A clock without hands."""

    host_runs_ahead = False
    now = staticmethod(int)

    def settle(self) -> None:
        pass

    def between(self, marks: list[int]) -> Nothing:
        return Nothing()


def prepare_off(task: Task) -> Contender:
    """The steps of our loop, in its blocks, and nothing kept of them."""
    trainer = make_trainer(task, clock=NullClock())
    epochs = itertools.count(1)

    def run(steps: int) -> None:
        trainer.stepper.model.train()
        for block in blocks(trainer, next(epochs), steps):
            trainer.stepper.run_block(block)

    return Contender(run, trainer.plain, trainer.stepper.update.optimizer)


# The second "off" is the control: it shows what the harness cannot distinguish.
CONTENDERS = {
    "recorder off": "bench.recorder_cost:prepare_off",
    "recorder off again": "bench.recorder_cost:prepare_off",
    "recorder on": "bench.peers.ours:prepare",
}

if __name__ == "__main__":
    sys.exit(run_command(dict.fromkeys(SIZES, CONTENDERS), description=__doc__.splitlines()[0]))
