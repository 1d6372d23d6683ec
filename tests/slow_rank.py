"""One rank of a launch whose last rank sleeps in every backward pass: a fault that step times cannot tell.

Started by torchrun in the place of `scalestudy.train`, with the same arguments: the fault of `scalestudy demo`,
with a sleep that is long beside what a busy host adds to it.
"""

from __future__ import annotations

from scalestudy.demo import rank as faulty
from scalestudy.train.__main__ import run

SLEEP_S = 0.2

if __name__ == "__main__":
    faulty.SLEEP_S = SLEEP_S
    faulty.slow_rank()
    run()
