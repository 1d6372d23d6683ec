"""Do the methods of measuring communication agree? Two gloo ranks, three sizes of network, several runs each.

    python -m bench.communication [--launches 5]

differential = exposed span + interference + remainder; they agree where the interval of the remainder over
runs holds zero, and where the exposed span by DDP's logger and by bucket stamps do not differ.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

import pandas as pd
import yaml
from scalestudy.analyse.communication.probes import communication_row
from scalestudy.analyse.run.reduce import reduce_run
from scalestudy.cli.main import main as scalestudy
from scalestudy.record.tables import read_observation
from scalestudy.study.config.load import load_study
from scalestudy.study.plan import make_plan

SIZES = {"small": (256, 3), "medium": (512, 4), "large": (1024, 4)}  # hidden_dim, num_layers
SHOWN = ("differential", "exposed_span", "interference", "remainder", "exposed_hook", "hook_cost", "wait_time")


def study(launches: int) -> dict[str, Any]:
    workloads = {
        name: {
            "model": {"type": "mlp", "hidden_dim": width, "num_layers": depth},
            "data": {"type": "digits"},
            "optimizer": {"type": "sgd", "learning_rate": 0.01},
            "batch_size": 128,
            "epochs": 0,
        }
        for name, (width, depth) in SIZES.items()
    }
    return {
        "study": "communication",
        "repeats": launches,
        "scales": ["1x2"],
        "variants": {"single": {"strategy": "single"}, "ddp": {"strategy": "ddp"}},
        "workloads": workloads,
        "host": {
            "device": "cpu",
            "environment": {"MALLOC_MMAP_THRESHOLD_": "1073741824", "MALLOC_TRIM_THRESHOLD_": "1073741824"},
        },
        "measure": {"max_steps": 60, "probe_rounds": 8},
    }


def run(launches: int) -> list[dict[str, Any]]:
    """A row a size: bytes of gradients, and each quantity with its interval over runs, in ms."""
    with tempfile.TemporaryDirectory(prefix="bench-communication-") as folder:
        file = Path(folder) / "study.yaml"
        file.write_text(yaml.safe_dump(study(launches)), encoding="utf-8")
        plan = make_plan(load_study(file))
        distributed = [run_id for run_id, spec in plan.runs.items() if spec.world_size > 1]
        for run_id in distributed:
            if scalestudy(["stage", "train", "--study", str(file), "--run", run_id, "--results", folder]) != 0:
                raise SystemExit(f"{run_id} was not measured")
        found = [
            reduce_run(plan.study, read_observation(Path(folder) / "runs" / run_id)).row for run_id in distributed
        ]
    frame = pd.DataFrame(found)
    rows = []
    for name in SIZES:
        mine = frame[(frame["workload"] == name) & (frame["outcome"] == "ok")]
        row = communication_row(mine, confidence=0.95)
        rows.append(
            {"size": name, "gradient_mib": mine["gradient_bytes"].iloc[0] / 2**20, "launches": len(mine), **row}
        )
    return rows


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.communication", description=__doc__.splitlines()[0])
    parser.add_argument("--launches", type=int, default=5, help="fresh processes of each size")
    parser.add_argument("--out", type=Path, help="also write the rows as JSON")
    arguments = parser.parse_args()
    rows = run(arguments.launches)
    for row in rows:
        print(f"{row['size']}: {row['gradient_mib']:.1f} MiB of gradients, {row['launches']} runs; ms a step")
        for name in SHOWN:
            value, low, high = (row[f"{name}_s{limit}"] * 1e3 for limit in ("", "_low", "_high"))
            print(f"  {name.replace('_', ' '):14s}{value:9.3f} [{low:.3f}, {high:.3f}]")
        print(f"  {row['methods']}")
    if arguments.out:
        arguments.out.write_text(json.dumps(rows, indent=1, default=float), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
