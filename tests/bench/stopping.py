"""Time until a step time is known to +-1 %, compared with the fixed protocol of 5 x (50 + 200) steps.

    python -m bench.stopping [--studies 500] [--target 0.01]

Both begin with five runs (the adaptive one also with three) and add as many as the spread of those asks for.
First simulated, where the truth is known: the share of intervals that hold it and the steps that were made. Then
for real, on one process, twice: a network whose runs scatter as this machine makes them, for a target that it
can reach; and steps that wait for a clock nearly all of their time, as those on a GPU wait for the device, whose
runs scatter as little.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from scalestudy.analyse.run.steps import measured
from scalestudy.analyse.statistics.intervals import Interval, Sample, mean_on_logs
from scalestudy.cli.main import main as scalestudy
from scalestudy.measure.stopping import StepRule
from scalestudy.record.tables import read_observation
from scalestudy.study.config.load import load_study
from scalestudy.study.plan import make_plan
from simulated import (
    FIXED_LAUNCHES,
    FIXED_STEPS,
    FIXED_WARMUP,
    PUBLISHED,
    Truth,
    configuration,
    fixed_launch,
    launch,
)

STEP_CVS = (0.005, 0.01, 0.03)
FIRST = (3, 5)  # runs whose spread decides how many there will be
MOST = 300  # runs; far beyond what any of the simulated spreads asks for
MOST_REAL = 12


@dataclass(frozen=True)
class Real:
    """A configuration of one process, and the half-width of its step time that is wanted."""

    model: dict[str, Any]
    data: dict[str, Any]
    batch_size: int
    target: float


REAL = {
    "convnet": Real({"type": "convnet"}, {"type": "digits"}, batch_size=64, target=0.10),
    "paced": Real(
        {"type": "mlp", "hidden_dim": 64, "num_layers": 1},
        {"type": "synthetic-vectors", "on_device": False, "sample_delay_us": 1250},  # 20 ms a batch
        batch_size=16,
        target=0.01,
    ),
}


def simulate(
    make: Callable[[], tuple[float, int]], *, first: int, target: float, studies: int
) -> tuple[float, float]:
    """(share of intervals that include the true value, mean steps until the step time is known to the target)."""
    covered, made = 0, 0
    for _ in range(studies):
        launches, steps = configuration(make, half_width=target, first=first, most=MOST)
        found = mean_on_logs(Sample(launches, launches[:first]), confidence=0.95)
        covered += found.low <= 1 <= found.high
        made += steps
    return covered / studies, made / studies


def simulate_all(target: float, studies: int) -> list[dict[str, Any]]:
    """Every published spread of runs with every spread of steps, adaptive and fixed runs side by side."""
    rule = StepRule(
        half_width=1.5 * target, min_warmup_steps=10, max_warmup_steps=50, min_steps=50, max_steps=FIXED_STEPS
    )
    random = np.random.default_rng(2026)
    until = {"target": target, "studies": studies}
    rows = []
    print(f"{'run-to-run CV / step CV':32s}{'fixed, steps':>14s}", end="")
    print("".join(f"{f'{first} first: covers':>18s}{'of fixed':>10s}" for first in FIRST))
    for name, spread in PUBLISHED.items():
        for truth in (Truth(launch_cv=cv, step_cv=step_cv) for cv in spread for step_cv in STEP_CVS):
            _, fixed = simulate(partial(fixed_launch, truth, random), first=FIXED_LAUNCHES, **until)
            row = {"scale": name, "launch_cv": truth.launch_cv, "step_cv": truth.step_cv, "fixed_steps": fixed}
            print(f"{name}, {truth.launch_cv:.1%} / {truth.step_cv:.1%}".ljust(32) + f"{fixed:14.0f}", end="")
            for first in FIRST:
                covers, steps = simulate(partial(launch, truth, rule, random), first=first, **until)
                row |= {f"covers_{first}": covers, f"of_fixed_{first}": steps / fixed}
                print(f"{covers:18.1%}{steps / fixed:10.2f}", end="", flush=True)
            print()
            rows.append(row)
    return rows


def half_width(interval: Interval) -> float:
    return (interval.high - interval.low) / 2 / interval.value


def measure(folder: Path, name: str, real: Real, rule: dict[str, Any]) -> dict[str, float]:
    """Run a configuration launch after launch by one protocol."""
    study = {
        "study": name,
        "repeats": FIXED_LAUNCHES,
        "max_repeats": MOST_REAL,
        "scales": ["1x2"],
        "variants": {"single": {"strategy": "single"}},
        "workloads": {
            "real": {
                "model": real.model,
                "data": real.data,
                "optimizer": {"type": "sgd"},
                "batch_size": real.batch_size,
                "epochs": 0,
            }
        },
        "host": {"device": "cpu"},
        "measure": {"until": "precise"} | rule,
    }
    file = folder / f"{name}.yaml"
    file.write_text(yaml.safe_dump(study), encoding="utf-8")
    plan = make_plan(load_study(file))
    results = folder / name
    for run_id in sorted(plan.runs, key=lambda run_id: plan.runs[run_id].repeat):
        reserve = ["--reserve-of", *plan.reserve_of(run_id)] if plan.reserve_of(run_id) else []
        arguments = ["stage", "train", "--study", str(file), "--run", run_id, "--results", str(results)]
        if scalestudy([*arguments, *reserve]) != 0:
            raise SystemExit(f"{run_id} was not measured")
    observations = [read_observation(results / "runs" / run_id) for run_id in plan.runs]
    made = [one for one in observations if one.record.outcome == "ok"]
    times = [measured(one, confidence=0.95)["step_time_s"] for one in made]
    deciding = [t for one, t in zip(made, times, strict=True) if one.record.spec.repeat <= FIXED_LAUNCHES]
    step_time = mean_on_logs(Sample(times, deciding), confidence=0.95)
    return {
        "launches": len(made),
        "steps": sum(one.record.totals.steps for one in made),
        "training_s": sum(one.record.totals.train_time_s for one in made),
        "wall_s": sum(one.record.totals.wall_time_s for one in made),
        "step_time_s": step_time.value,
        "launch_cv": float(np.std(times, ddof=1) / np.mean(times)),
        "half_width": half_width(step_time),
    }


def measure_both(name: str, real: Real) -> dict[str, Any]:
    """A configuration by the fixed protocol and by the stopping rule, and what the one took of the other."""
    limits = {"half_width": real.target, "max_steps": FIXED_STEPS}
    fixed = limits | {
        "warmup_steps": FIXED_WARMUP,
        "max_warmup_steps": FIXED_WARMUP,
        "min_steps": FIXED_STEPS,
    }
    with tempfile.TemporaryDirectory(prefix="bench-stopping-") as folder:
        rows = {
            protocol: measure(Path(folder), f"{name}-{protocol}", real, rule)
            for protocol, rule in (("fixed", fixed), ("adaptive", limits))
        }
    ratio = {key: rows["adaptive"][key] / rows["fixed"][key] for key in ("steps", "training_s", "wall_s")}
    return {"target": real.target, **rows, "ratio": ratio}


def show_real(name: str, found: dict[str, Any]) -> None:
    """A line a protocol, and one for the ratio."""
    print(f"\nfor real, {name}, target +-{found['target']:.0%}")
    for protocol in ("fixed", "adaptive"):
        row = found[protocol]
        print(
            f"  {protocol:10s}step {row['step_time_s'] * 1e3:.2f} ms +-{row['half_width']:.2%}; {row['launches']}"
            f" runs, CV {row['launch_cv']:.2%}; {row['steps']} steps, {row['training_s']:.1f} s of steps,"
            f" {row['wall_s']:.1f} s with start-up"
        )
    steps, training, wall = found["ratio"].values()
    print(f"  adaptive / fixed: {steps:.2f} of the steps, {training:.2f} of their time, {wall:.2f} with start-up")


def run(arguments: argparse.Namespace) -> dict[str, Any]:
    target = arguments.target
    print(
        f"steps until a step time is known to +-{target:.0%}, {arguments.studies} simulated configurations a row"
    )
    rows = simulate_all(target, arguments.studies)
    mean = {key: float(np.mean([row[key] for row in rows])) for key in rows[0] if key.startswith(("covers", "of"))}
    print("mean over rows: " + ", ".join(f"{key} {value:.3f}" for key, value in mean.items()), flush=True)
    real = {name: measure_both(name, REAL[name]) for name in arguments.real}
    for name, found in real.items():
        show_real(name, found)
    return {"simulated": rows, "mean": mean, "real": real}


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.stopping", description=__doc__.splitlines()[0])
    parser.add_argument("--studies", type=int, default=500, help="simulated configurations a row")
    parser.add_argument("--target", type=float, default=0.01, help="half-width wanted of the simulated")
    parser.add_argument("--real", nargs="*", choices=list(REAL), default=list(REAL), help="measured for real")
    parser.add_argument("--out", type=Path, help="also write the figures as JSON")
    arguments = parser.parse_args()
    found = run(arguments)
    if arguments.out:
        arguments.out.write_text(json.dumps(found, indent=1), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
