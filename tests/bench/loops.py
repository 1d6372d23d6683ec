"""Time of a step in our loop, in five others and in the hand-written one.

    python -m bench.loops --rounds 20 --out loops.json

Needs `.venv-bench`. Every loop trains the same network on the same batches from the same
parameters, which is checked; each peer's file says what was switched off in it. The peers train MLPs of two sizes.
The other classes of workloads, and micro-batches, are for ours and the hand-written loop alone.
"""

from __future__ import annotations

import sys

from bench.harness import run_command
from bench.peers import LOOPS, OURS
from bench.task import CLASSES, SIZES

COMPARISONS = dict.fromkeys(SIZES, LOOPS) | dict.fromkeys(CLASSES, OURS)

if __name__ == "__main__":
    sys.exit(run_command(COMPARISONS, description=__doc__.splitlines()[0]))
