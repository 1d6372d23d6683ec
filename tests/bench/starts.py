"""Do forked runs measure what cold ones do, and how long does each take? Pairs of both, in random order.

    python -m bench.starts [--pairs 70] [--minutes 12]

Two studies, each on two ranks: short steps, in which communication counts, and longer ones of a convnet. The ratio
of step times is forked over cold, with its 90 % interval over pairs: Student's on logarithms. That of the standard
deviations between runs has Fisher's. Every five pairs have a parent of their own, as a repeat has.
"""

from __future__ import annotations

import argparse
import random
import shutil
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scalestudy.analyse.run.steps import measured
from scalestudy.analyse.statistics.blocks import ratio_in_blocks
from scalestudy.launch.run import measure_run
from scalestudy.record.tables import read_observation
from scalestudy.study.config.load import parse_study
from scalestudy.study.plan import make_plan
from scalestudy.study.spec import RunSpec
from scipy.special import fdtri

from bench.harness import MALLOC

CONFIDENCE = 0.9
PAIRS_OF_A_PARENT = 5
STARTS = ("cold", "fork")
WORKLOADS: dict[str, dict[str, Any]] = {
    "mlp, digits": {
        "model": {"type": "mlp", "hidden_dim": 256, "num_layers": 3},
        "data": {"type": "digits"},
        "batch_size": 64,
    },
    "convnet, images": {
        "model": {"type": "convnet", "channels": 16, "num_layers": 2},
        "data": {"type": "synthetic-images", "samples": 4096, "size": 8, "classes": 10},
        "batch_size": 64,
    },
}


def spec_of(workload: dict[str, Any], start: str, pair: int) -> RunSpec:
    """Two ranks of a workload."""
    common = {"optimizer": {"type": "sgd", "learning_rate": 0.01}, "epochs": 0, "scaling": ["weak"]}
    study = parse_study(
        {
            "study": "starts",
            "repeats": pair // PAIRS_OF_A_PARENT + 1,
            "scales": ["1x2"],
            "variants": {"single": {"strategy": "single"}, "ddp": {"strategy": "ddp"}},
            "workloads": {"one": workload | common},
            "host": {"device": "cpu", "environment": MALLOC, "start": start},
            "measure": {"probe_rounds": 0, "min_steps": 200, "max_steps": 200},
        },
        source="bench",
    )
    return next(
        spec for spec in make_plan(study).runs.values() if spec.world_size == 2 and spec.repeat == study.repeats
    )


def launch(workload: dict[str, Any], start: str, pair: int, results: Path) -> dict[str, float]:
    """Step time and wall time of a run, the latter with and without the training. Its record is not kept."""
    record, _ = measure_run(spec_of(workload, start, pair), results)
    assert record.outcome == "ok", record.reason
    directory = results / "runs" / record.run_id
    row = measured(read_observation(directory), confidence=CONFIDENCE)
    shutil.rmtree(directory)
    wall_s, train_s = record.totals.wall_time_s, record.totals.train_time_s
    return {"step_time_s": row["step_time_s"], "wall_time_s": wall_s, "beyond_training_s": wall_s - train_s}


def compare(workload: dict[str, Any], pairs: int, end: float, folder: Path) -> pd.DataFrame:
    """A row per run, for at most this number of pairs."""
    order, rows = random.Random(1), []
    for pair in range(pairs):
        for start in order.sample(STARTS, 2):
            rows.append({"pair": pair, "start": start, **launch(workload, start, pair, folder)})
        if time.monotonic() > end:
            break
    return pd.DataFrame(rows)


def summary(name: str, rows: pd.DataFrame) -> list[str]:
    """A study's line of each of the two tables."""
    times = rows.pivot_table(index="pair", columns="start", values="step_time_s")
    pairs = len(times)
    ratio = ratio_in_blocks(times["fork"], times["cold"], planned=pairs, confidence=CONFIDENCE)
    spread = np.log(times).std()
    over = float(spread["fork"] / spread["cold"])
    limits = [over * fdtri(pairs - 1, pairs - 1, q) ** 0.5 for q in ((1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2)]
    wall = rows.groupby("start")[["wall_time_s", "beyond_training_s"]].median()
    cells = [
        name,
        str(pairs),
        f"{times['cold'].mean() * 1e3:.2f}",
        f"{ratio.value:.3f} [{ratio.low:.3f}, {ratio.high:.3f}]",
        f"{spread['cold']:.1%}, {spread['fork']:.1%}",
        f"{over:.2f} [{limits[0]:.2f}, {limits[1]:.2f}]",
        *(f"{wall.loc[start, column]:.1f}" for start in STARTS for column in wall),
    ]
    return [f"| {' | '.join(cells)} |"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=70)
    parser.add_argument("--minutes", type=float, default=60, help="end the pairs of a study after so long")
    arguments = parser.parse_args()
    print(
        "| study | pairs | cold step (ms) | step time, fork over cold | spread of cold and forked launches"
        " | its ratio | cold launch (s) | beyond training (s) | forked launch (s) | beyond training (s) |"
    )
    print("| --- " * 10 + "|")
    for name, workload in WORKLOADS.items():
        with tempfile.TemporaryDirectory() as folder:
            end = time.monotonic() + 60 * arguments.minutes
            rows = compare(workload, arguments.pairs, end, Path(folder))
        print("\n".join(summary(name, rows)), flush=True)


if __name__ == "__main__":
    main()
