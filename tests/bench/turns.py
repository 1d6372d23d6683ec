"""What does a speedup within a run bring? Launches in whose processes the baseline takes turns, each beside a
launch of the baseline in processes of its own.

    python -m bench.turns [--repeats 14] [--minutes 12]

Two studies on two ranks, as in bench.starts. A repeat has a run of the baseline and one of two ranks, in an
order that the next repeat reverses. Both speedups are of the same runs of two ranks: over the baseline of the
repeat, and within the run. The spread is the standard deviation of their logarithms over repeats; its ratio
has limits by Fisher's F, as of independent samples. Launches for the same interval go with its square.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scalestudy.analyse.run.alternation import alternation_of
from scalestudy.analyse.run.steps import measured
from scalestudy.analyse.statistics.blocks import ratio_in_blocks
from scalestudy.launch.run import measure_run
from scalestudy.record.tables import read_observation
from scalestudy.study.config.load import parse_study
from scalestudy.study.plan import make_plan
from scalestudy.study.spec import RunSpec
from scipy.special import fdtri

from bench.harness import MALLOC
from bench.starts import WORKLOADS

CONFIDENCE = 0.95
ROUNDS = 6


def specs_of(workload: dict[str, Any], repeat: int) -> list[RunSpec]:
    """The baseline and the two ranks of a repeat, in an order that the next one reverses."""
    common = {"optimizer": {"type": "sgd", "learning_rate": 0.01}, "epochs": 0, "scaling": ["strong"]}
    study = parse_study(
        {
            "study": "turns",
            "repeats": repeat,
            "scales": ["1x2"],
            "variants": {"single": {"strategy": "single"}, "ddp": {"strategy": "ddp"}},
            "workloads": {"one": workload | common},
            "host": {"device": "cpu", "environment": MALLOC, "start": "fork"},
            "measure": {"probe_rounds": 0, "min_steps": 200, "max_steps": 200, "alternating_rounds": ROUNDS},
            "report": {"overhead_reference": False},
        },
        source="bench",
    )
    specs = [spec for spec in make_plan(study).runs.values() if spec.repeat == repeat]
    return sorted(specs, key=lambda spec: spec.world_size, reverse=repeat % 2 == 0)


def launch(spec: RunSpec, results: Path) -> dict[str, float]:
    """Columns of a run. Its record is not kept."""
    record, _ = measure_run(spec, results)
    assert record.outcome == "ok", record.reason
    directory = results / "runs" / record.run_id
    observation = read_observation(directory)
    row = measured(observation, confidence=CONFIDENCE) | alternation_of(observation)
    shutil.rmtree(directory)
    columns = ("step_time_s", "throughput_samples_per_s", "speedup_in_launch")
    return {name: row[name] for name in columns} | {"probe_s": record.totals.probe_wall_time_s or 0.0}


def speedups(workload: dict[str, Any], repeats: int, end: float, folder: Path) -> pd.DataFrame:
    """A row per repeat: both speedups, and what the turns took."""
    rows = []
    for repeat in range(1, repeats + 1):
        found = {spec.world_size: launch(spec, folder) for spec in specs_of(workload, repeat)}
        over = found[2]["throughput_samples_per_s"] / found[1]["throughput_samples_per_s"]
        turns = {"turns_s": found[2]["probe_s"], "in_launch": found[2]["speedup_in_launch"]}
        rows.append({"repeat": repeat, "in_repeat": over} | turns)
        if time.monotonic() > end:
            break
    return pd.DataFrame(rows).set_index("repeat")


def summary(name: str, rows: pd.DataFrame) -> str:
    """A study's line of the table."""
    count = len(rows)
    logs = np.log(rows[["in_repeat", "in_launch"]])
    spread, means = logs.std(), np.exp(logs.mean())
    over = float(spread["in_launch"] / spread["in_repeat"])
    limits = [over * fdtri(count - 1, count - 1, q) ** 0.5 for q in ((1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2)]
    both = ratio_in_blocks(rows["in_launch"], rows["in_repeat"], planned=count, confidence=CONFIDENCE)
    cells = [
        name,
        str(count),
        f"{means['in_repeat']:.3f}",
        f"{means['in_launch']:.3f}",
        f"{both.value:.3f} [{both.low:.3f}, {both.high:.3f}]",
        f"{spread['in_repeat']:.1%}, {spread['in_launch']:.1%}",
        f"{over:.2f} [{limits[0]:.2f}, {limits[1]:.2f}]",
        f"{over**2:.2f}",
        f"{rows['turns_s'].median():.1f}",
    ]
    return f"| {' | '.join(cells)} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=14)
    parser.add_argument("--minutes", type=float, default=30, help="end the repeats of a study after so long")
    arguments = parser.parse_args()
    print(
        "| study | repeats | speedup within repeats | within launches | their ratio | spread of each"
        " | ratio of spreads | launches for the same interval | turns (s a launch) |"
    )
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    for name, workload in WORKLOADS.items():
        with tempfile.TemporaryDirectory(prefix="scalestudy-turns-") as folder:
            end = time.monotonic() + 60 * arguments.minutes
            print(summary(name, speedups(workload, arguments.repeats, end, Path(folder))), flush=True)


if __name__ == "__main__":
    main()
