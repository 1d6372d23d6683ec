"""What our loop costs beside a hand-written one, when both train the same model in the same wrapper?

    python -m bench.loop_cost --rounds 12 --launches 4 --out loop_cost.json

Models that are set up apart differ by where they lie in memory: `bench.loops` compares frameworks, which cannot be
helped; this compares loops. Recorder, clock, gauges and progress file are on, as in a study.
"""

from __future__ import annotations

import sys

from bench.harness import run_command
from bench.task import CLASSES, SIZES

CONTENDERS = {
    "hand-written": "bench.peers.shared:hand_written",
    "hand-written again": "bench.peers.shared:hand_written",
    "scalestudy": "bench.peers.shared:ours",
}

if __name__ == "__main__":
    sys.exit(run_command(dict.fromkeys(SIZES | CLASSES, CONTENDERS), description=__doc__.splitlines()[0]))
