"""Time spent measuring until a step time is known to +-1 %, against the fixed protocol of 5 x (50 + 200) steps.

    python -m bench.stopping [--studies 500] [--target 0.01]

First simulated, where the truth is known: the share of intervals that hold it, the steps that were made, and how
often each protocol reached the target. Then once for real, on one process of a small network on this machine.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from scalestudy.analyse.intervals import Interval, Sample, mean_on_logs
from scalestudy.analyse.steps import measured
from scalestudy.cli.main import main as scalestudy
from scalestudy.measure.stopping import StepRule
from scalestudy.record.observation import read_observation
from scalestudy.study.load import load_study
from scalestudy.study.plan import make_plan
from simulated import FIXED_PROTOCOL_STEPS, PUBLISHED, Truth, configuration, steps

WARMUP, STEPS, LAUNCHES = 50, 200, 5  # the fixed protocol
STEP_CVS = (0.005, 0.01, 0.03)
# Launches at first and at the most. Three with two in reserve have the spread of three to go by, which is little:
# where launches scatter, five from the start reach the target as often as the fixed protocol does.
PLANS = {"3 + 2": (3, 5), "5": (5, 5)}
HEADER = (
    f"{'launch-to-launch CV / step CV':32s}"
    + "".join(f"{f'{name} launches':>32s}" for name in PLANS)
    + f"{'fixed':>8s}\n{'':32s}"
    + f"{'covers':>14s}{'of fixed':>9s}{'reached':>9s}" * len(PLANS)
    + f"{'reached':>8s}"
)


def simulate(
    truth: Truth, rule: StepRule, plan: tuple[int, int], *, studies: int, random: np.random.Generator
) -> dict[str, float]:
    """How often the interval holds the truth, steps over the fixed protocol's, how often the target is reached."""
    first, most = plan
    covered, made, reached = 0, 0, 0
    for _ in range(studies):
        launches, count = configuration(truth, rule, random, first=first, most=most)
        found = mean_on_logs(Sample(launches, launches[:first]), confidence=0.95)
        covered += found.low <= 1 <= found.high
        made += count
        reached += half_width(found) <= rule.half_width
    shares = {"covers": covered, "of_fixed": made / FIXED_PROTOCOL_STEPS, "reached": reached}
    return {name: value / studies for name, value in shares.items()}


def simulate_fixed(truth: Truth, target: float, *, studies: int, random: np.random.Generator) -> float:
    """How often the fixed protocol reaches the target."""
    reached = 0
    for _ in range(studies):
        fixed = [steps(truth, WARMUP + STEPS, random)[WARMUP:].mean() for _ in range(LAUNCHES)]
        reached += half_width(mean_on_logs(fixed, confidence=0.95)) <= target
    return reached / studies


def half_width(interval: Interval) -> float:
    return (interval.high - interval.low) / 2 / interval.value


def measure(folder: Path, name: str, *, repeats: int, max_repeats: int, rule: dict[str, Any]) -> dict[str, float]:
    """Run a configuration for real, one process, launch after launch."""
    study = {
        "study": name,
        "repeats": repeats,
        "max_repeats": max_repeats,
        "scales": ["1x2"],
        "variants": {"single": {"strategy": "single"}},
        "workloads": {
            "convnet": {
                "model": {"type": "convnet"},
                "data": {"type": "digits"},
                "optimizer": {"type": "sgd"},
                "batch_size": 64,
                "epochs": 0,
            }
        },
        "host": {"device": "cpu"},
        "measure": rule,
    }
    file = folder / f"{name}.yaml"
    file.write_text(yaml.safe_dump(study), encoding="utf-8")
    plan = make_plan(load_study(file))
    results = folder / name
    for run_id in sorted(plan.runs, key=lambda run_id: plan.runs[run_id].repeat):
        reserve = ["--reserve-of", *plan.reserve_of(run_id)] if plan.reserve_of(run_id) else []
        arguments = ["train", "--study", str(file), "--run", run_id, "--results", str(results)]
        if scalestudy([*arguments, *reserve]) != 0:
            raise SystemExit(f"{run_id} was not measured")
    observations = [read_observation(results / "runs" / run_id) for run_id in plan.runs]
    made = [one for one in observations if one.record.outcome == "ok"]
    times = [measured(one, confidence=0.95)["step_time_s"] for one in made]
    deciding = [t for one, t in zip(made, times, strict=True) if one.record.spec.repeat <= repeats]
    return {
        "launches": len(made),
        "steps": sum(one.record.totals.steps for one in made),
        "training_s": sum(one.record.totals.train_time_s for one in made),
        "wall_s": sum(one.record.totals.wall_time_s for one in made),
        "half_width": half_width(mean_on_logs(Sample(times, deciding), confidence=0.95)),
    }


def line(label: str, found: dict[str, dict[str, float]], fixed_reached: float) -> str:
    cells = [f"{row['covers']:14.1%}{row['of_fixed']:9.2f}{row['reached']:9.0%}" for row in found.values()]
    return f"{label:32s}{''.join(cells)}{fixed_reached:8.0%}"


def run(arguments: argparse.Namespace) -> dict[str, Any]:
    rule = StepRule(
        half_width=arguments.target, min_warmup_steps=10, max_warmup_steps=50, min_steps=50, max_steps=200
    )
    random = np.random.default_rng(2026)
    print(f"target +-{arguments.target:.0%}, {arguments.studies} simulated configurations a row\n{HEADER}")
    rows = []
    for name, spread in PUBLISHED.items():
        for launch_cv in spread:
            for step_cv in STEP_CVS:
                truth = Truth(launch_cv=launch_cv, step_cv=step_cv)
                found = {
                    label: simulate(truth, rule, plan, studies=arguments.studies, random=random)
                    for label, plan in PLANS.items()
                }
                fixed_reached = simulate_fixed(truth, arguments.target, studies=arguments.studies, random=random)
                rows.append(
                    {"scale": name, "launch_cv": launch_cv, "step_cv": step_cv, "fixed_reached": fixed_reached}
                    | found
                )
                print(line(f"{name}, {launch_cv:.1%} / {step_cv:.1%}", found, fixed_reached), flush=True)
    together = {
        plan: {key: float(np.mean([row[plan][key] for row in rows])) for key in ("covers", "of_fixed", "reached")}
        for plan in PLANS
    }
    print(line("all", together, float(np.mean([row["fixed_reached"] for row in rows]))), end="\n\n")
    limits = {"half_width": arguments.target}
    fixed = limits | {"warmup_steps": WARMUP, "max_warmup_steps": WARMUP, "min_steps": STEPS, "max_steps": STEPS}
    with tempfile.TemporaryDirectory(prefix="bench-stopping-") as folder:
        real = {
            "fixed": measure(Path(folder), "fixed", repeats=LAUNCHES, max_repeats=LAUNCHES, rule=fixed),
            "adaptive": measure(Path(folder), "adaptive", repeats=3, max_repeats=LAUNCHES, rule=limits),
        }
    for name, row in real.items():
        print(
            f"for real, {name}: {row['launches']} launches, {row['steps']} steps, {row['training_s']:.1f} s of"
            f" steps, {row['wall_s']:.1f} s with start-up, half-width {row['half_width']:.1%}"
        )
    ratio = {key: real["adaptive"][key] / real["fixed"][key] for key in ("training_s", "wall_s")}
    print(f"adaptive / fixed: {ratio['training_s']:.2f} of the steps' time, {ratio['wall_s']:.2f} with start-up")
    return {"simulated": rows, "together": together, "real": real, "ratio": ratio}


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.stopping", description=__doc__.splitlines()[0])
    parser.add_argument("--studies", type=int, default=500, help="simulated configurations a row")
    parser.add_argument("--target", type=float, default=0.01, help="relative half-width that is wanted")
    parser.add_argument("--out", type=Path, help="also write the figures as JSON")
    arguments = parser.parse_args()
    found = run(arguments)
    if arguments.out:
        arguments.out.write_text(json.dumps(found, indent=1), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
