"""Record blocks of a baseline and two ranks beside a load that comes and goes (tests/data/blocks_under_load.csv).

    python -m bench.recorded_blocks [--blocks 60] --out FILE

A block is a run of each, next to each other; each second block is in reverse. Both are forked, from a new
parent every five blocks. The load is one process, busy and idle for random times of some seconds.
"""

from __future__ import annotations

import argparse
import multiprocessing
import random
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pandas as pd
from scalestudy.analyse.run.steps import measured
from scalestudy.launch.run import measure_run
from scalestudy.record.tables import read_observation
from scalestudy.study.config.load import parse_study
from scalestudy.study.plan import make_plan
from scalestudy.study.spec import RunSpec

from bench.harness import MALLOC

CONFIDENCE = 0.95
BLOCKS_OF_A_PARENT = 5
BUSY_S, IDLE_S = 6.0, 6.0
"""Mean lengths of the times in which the load is busy, and idle."""


def load(seed: int) -> None:
    """Take a core now and then."""
    random_ = random.Random(seed)
    while True:
        end = time.monotonic() + random_.expovariate(1 / BUSY_S)
        while time.monotonic() < end:
            sum(range(10000))
        time.sleep(random_.expovariate(1 / IDLE_S))


@contextmanager
def beside_load() -> Iterator[None]:
    """With `load` in a process of its own."""
    other = multiprocessing.get_context("spawn").Process(target=load, args=(2026,), daemon=True)
    other.start()
    try:
        yield
    finally:
        other.terminate()


def pair(block: int) -> list[RunSpec]:
    """The baseline and two ranks of the default study's convnet, by step times only."""
    workload: dict[str, Any] = {
        "model": {"type": "convnet", "channels": 32, "num_layers": 3},
        "data": {"type": "digits"},
        "optimizer": {"type": "sgd", "learning_rate": 0.05},
        "batch_size": 256,
        "epochs": 0,
        "scaling": ["strong"],
    }
    study = parse_study(
        {
            "study": "blocks",
            "repeats": (block - 1) // BLOCKS_OF_A_PARENT + 1,
            "scales": ["1x2"],
            "variants": {"single": {"strategy": "single"}, "ddp": {"strategy": "ddp"}},
            "workloads": {"convnet": workload},
            "host": {"device": "cpu", "environment": MALLOC, "start": "fork"},
            "measure": {"probe_rounds": 0, "min_steps": 50, "max_steps": 50},
            "report": {"overhead_reference": False},
        },
        source="bench",
    )
    specs = [spec for spec in make_plan(study).runs.values() if spec.repeat == study.repeats]
    specs.sort(key=lambda spec: spec.world_size, reverse=block % 2 == 0)
    return specs


def record(blocks: int) -> pd.DataFrame:
    """A row per run: block, ranks, its place in the block, step time."""
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for block in range(1, blocks + 1):
            for place, spec in enumerate(pair(block), start=1):
                record, _ = measure_run(spec, Path(folder))
                assert record.outcome == "ok", record.reason
                directory = Path(folder) / "runs" / record.run_id
                row = measured(read_observation(directory), confidence=CONFIDENCE)
                shutil.rmtree(directory)
                step_time_s = round(row["step_time_s"], 7)
                rows.append({"block": block, "ranks": spec.world_size, "place": place, "step_time_s": step_time_s})
    return pd.DataFrame(rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--blocks", type=int, default=60)
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args()
    with beside_load():
        record(arguments.blocks).to_csv(arguments.out, index=False)


if __name__ == "__main__":
    main()
