"""Counts what a script says it did, when COUNT_TO names a file: one JSON line per process, written as it ends."""

import atexit
import json
import os
import time
from pathlib import Path

import torch.distributed as dist

_tally = {"rank": None, "steps": 0, "samples": None, "seconds": 0.0}
_begin = None


def count(samples=None, steps=1):
    """One iteration of training, or only samples of it with steps=0 (a micro-batch)."""
    global _begin
    if _tally["rank"] is None:
        _begin = time.monotonic()
        on = dist.is_available() and dist.is_initialized()
        _tally["rank"] = dist.get_rank() if on else int(os.environ.get("RANK", 0))
    _tally["steps"] += steps
    _tally["seconds"] = round(time.monotonic() - _begin, 3)  # since the first call
    if samples is not None:
        _tally["samples"] = (_tally["samples"] or 0) + samples


def write():
    """Write the line now; a script calls it itself where it ends in a way that runs no exit handlers."""
    if _tally["rank"] is None or not os.environ.get("COUNT_TO"):
        return
    line = json.dumps(_tally) + "\n"
    _tally["rank"] = None
    with Path(os.environ["COUNT_TO"]).open("a") as file:
        file.write(line)


atexit.register(write)
