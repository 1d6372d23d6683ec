"""A rank of a run whose last rank sleeps in every backward pass: a fault that step times alone cannot identify.

torchrun starts it instead of `scalestudy.train`, with the same arguments. The fault is that of `scalestudy demo`,
with a sleep that is long compared with the delays of a busy host.
"""

from __future__ import annotations

from scalestudy.demo import rank as faulty
from scalestudy.train.__main__ import run

SLEEP_S = 0.2

if __name__ == "__main__":
    faulty.SLEEP_S = SLEEP_S
    faulty.slow_rank()
    run()
