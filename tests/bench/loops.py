"""Our loop beside five others and the hand-written one: what does a step cost in each?

    python -m bench.loops --rounds 20 --out loops.json

Needs `.venv-bench` (constraints/bench.txt). Every loop trains the same network on the same batches from the same
parameters, which is checked; each peer's file says what was switched off in it.
"""

from __future__ import annotations

import sys

from bench.harness import run_command
from bench.peers import LOOPS

if __name__ == "__main__":
    sys.exit(run_command(LOOPS, description=__doc__.splitlines()[0]))
