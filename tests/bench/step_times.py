"""Do two revisions of the measuring code measure the same? Both are run in turn, round after round.

    python -m bench.step_times OLD NEW --rounds 20 --out ratio.json

Each revision plans and measures the same small study with its own code, in an order that changes from round to
round. The ratio is NEW over OLD of mean step times: of one process and of two ranks, by their geometric mean.
Its 90 % interval is Student's on logarithms, over rounds. `tests/measuring.py --ratio` takes the file as evidence.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import geometric_mean
from typing import Any

import pandas as pd
import yaml
from scalestudy.analyse.statistics.intervals import mean_on_logs
from scalestudy.record.files import write_json

from bench.harness import MALLOC

ROOT = Path(__file__).resolve().parents[2]
CONFIDENCE = 0.9
WARMUP_STEPS = 50
STUDY: dict[str, Any] = {
    "study": "step-times",
    "repeats": 1,
    "scales": ["1x2"],
    "variants": {"single": {"strategy": "single"}, "ddp": {"strategy": "ddp"}},
    "workloads": {
        "mlp": {
            "model": {"type": "mlp", "hidden_dim": 256, "num_layers": 3},
            "data": {"type": "synthetic-vectors", "samples": 65536, "features": 64, "on_device": False},
            "optimizer": {"type": "sgd", "learning_rate": 0.01},
            "batch_size": 96,
            "epochs": 0,
            "scaling": ["weak"],
        }
    },
    "host": {"device": "cpu", "environment": MALLOC},
    "measure": {"probe_rounds": 0, "min_steps": 1000, "max_steps": 1000},
}


def check_out(revision: str, folder: Path) -> Path:
    """The files of a revision, in a folder of its own."""
    folder.mkdir(parents=True)
    archive = subprocess.run(["git", "-C", str(ROOT), "archive", revision], check=True, capture_output=True)
    subprocess.run(["tar", "-x", "-C", str(folder)], input=archive.stdout, check=True)
    (folder / "study.yaml").write_text(yaml.safe_dump(STUDY), encoding="utf-8")
    write_plan(folder)
    return folder


PLAN = """
from pathlib import Path
from scalestudy.study.{config}load import load_study
from scalestudy.study.plan import make_plan
Path("plan.json").write_text(make_plan(load_study("study.yaml")).model_dump_json(), encoding="utf-8")
"""


def write_plan(folder: Path) -> None:
    """The plan that a revision computes for the study; it lists the runs."""
    code = PLAN.format(config="config." if (folder / "workflow/scalestudy/study/config").is_dir() else "")
    environment = os.environ | {"PYTHONPATH": str(folder / "workflow")}
    subprocess.run([sys.executable, "-c", code], cwd=folder, env=environment, check=True)


def scalestudy(folder: Path, *arguments: str) -> None:
    """Run a command with the code of a revision."""
    code = "import sys; from scalestudy.cli.main import main; sys.exit(main())"
    environment = os.environ | {"PYTHONPATH": str(folder / "workflow")}
    subprocess.run(
        [sys.executable, "-c", code, *arguments],
        cwd=folder,
        env=environment,
        check=True,
        stdout=subprocess.DEVNULL,
    )


def step_time_s(folder: Path, round_: int) -> float:
    """The mean step of one process and of two ranks, measured once by a revision: their geometric mean."""
    found = []
    results = folder / "results" / str(round_)
    for run_id in json.loads((folder / "plan.json").read_text(encoding="utf-8"))["runs"]:
        scalestudy(folder, "train", "--study", "study.yaml", "--run", run_id, "--results", str(results))
        steps = pd.read_parquet(results / "runs" / run_id / "steps.parquet")
        timed = steps[steps["step"] >= WARMUP_STEPS].groupby("step")["step_time_s"].max()
        found.append(float(timed.mean()))
    return geometric_mean(found)


def main() -> int:
    """Measure, print every round, and write the interval of the ratio."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old", help="the revision before the change")
    parser.add_argument("new", help="the revision with it")
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args()
    revisions = [arguments.old, arguments.new]
    order, ratios = random.Random(1), []
    with tempfile.TemporaryDirectory() as temporary:
        folders = {name: check_out(name, Path(temporary) / str(i)) for i, name in enumerate(revisions)}
        for round_ in range(arguments.rounds):
            times = {name: step_time_s(folders[name], round_) for name in order.sample(revisions, 2)}
            ratios.append(times[arguments.new] / times[arguments.old])
            print(f"round {round_ + 1}: {ratios[-1]:.4f}", flush=True)
    ratio = mean_on_logs(ratios, confidence=CONFIDENCE)
    said = {"revisions": revisions, "rounds": arguments.rounds, "confidence": CONFIDENCE}
    said |= {"ratio": ratio.value, "ratio_low": ratio.low, "ratio_high": ratio.high}
    write_json(arguments.out, said)
    print(f"ratio {ratio.value:.4f}, 90 % interval {ratio.low:.4f} to {ratio.high:.4f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
