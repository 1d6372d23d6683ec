"""`python -m scalestudy.train --spec FILE --out DIR`: one rank, started plainly or by torchrun."""

import argparse
import math
import os
import sys
from pathlib import Path
from typing import NoReturn

from scalestudy.record.probes_failed import probes_failed
from scalestudy.study.spec import TrainSpec, parse_spec
from scalestudy.train.rank import run_rank


def main() -> int:
    """Train as one rank. Returns 0 if it completed as planned, 1 otherwise (the reason is in its report).

    It also returns 1 if the probes failed on any rank: the launcher then stops the other ranks, which may wait.
    """
    parser = argparse.ArgumentParser(prog="python -m scalestudy.train", description=__doc__)
    parser.add_argument("--spec", type=Path, required=True, help="JSON file with the run's spec")
    parser.add_argument("--out", type=Path, required=True, help="the run's partial directory")
    parser.add_argument("--data", type=Path, help="directory with prepared data")
    parser.add_argument("--stall-limit-s", type=float, default=math.inf, help="most seconds without progress")
    arguments = parser.parse_args()
    spec = parse_spec(arguments.spec.read_text(encoding="utf-8"))
    assert isinstance(spec, TrainSpec), "a command is not trained here"
    outcome = run_rank(spec, arguments.out, data=arguments.data, stall_limit_s=arguments.stall_limit_s)
    return 0 if outcome == "ok" and not probes_failed(arguments.out) else 1


def run() -> NoReturn:
    """Train as one rank, then exit without cleaning up.

    An interpreter that frees process groups may block forever, and all results are written by then.
    """
    code = main()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    run()
