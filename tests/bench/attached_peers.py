"""Overhead of observing a training: our hooks and traceml-ai, on the same scripts in the same run.

    python -m bench.attached_peers [--rounds 6] [--steps 400]

Needs `.venv-bench`. A script (bench/watched) is run plainly, attached, and under `traceml run`, a process each, in
an order that turns round from round to round; its own stopwatch says what a step took. traceml-ai sees steps of a
plain loop only with its `trace_step` in it, and those of the Hugging Face Trainer without code. Extra time of a
step beside the plain process of the same round: of medians and of means, 95 % intervals over rounds.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from scalestudy.analyse.statistics.intervals import mean

from bench.attached_cost import attached_environment
from bench.harness import MALLOC, QUIET
from bench.watched.common import SIZES

WATCHED = Path(__file__).parent / "watched"
SCRIPTS = {"a plain loop": "plain.py", "HF Trainer": "huggingface.py"}
WARMUP = 50
WAYS = ("plain", "attached", "traceml-ai")


def run(script: str, way: str, size: str, steps: int) -> tuple[float, float]:
    """(median, mean) of the step times of a process, in seconds."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "stopwatch.json"
        words = ["--size", size, "--steps", str(steps), "--stopwatch", str(path)]
        environment = os.environ | MALLOC | QUIET | {"OMP_NUM_THREADS": "1"}
        start = [sys.executable, str(WATCHED / script)]
        if way == "attached":
            environment |= attached_environment(Path(folder))
        if way == "traceml-ai":
            start = [str(Path(sys.executable).parent / "traceml"), "run", str(WATCHED / script), "--args"]
            words += ["--trace-step"] if script == "plain.py" else []
        done = subprocess.run([*start, *words], cwd=folder, env=environment, capture_output=True, text=True)
        if not path.exists():
            raise SystemExit(f"{way}: {script} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
        times = np.diff(json.loads(path.read_text(encoding="utf-8"))["stamps"])[WARMUP:]
        return float(np.median(times)), float(times.mean())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("--steps", type=int, default=400)
    parser.add_argument("--sizes", nargs="+", choices=SIZES, default=list(SIZES))
    arguments = parser.parse_args()
    print("| script | step (ms) | looked at by | extra (us), medians | extra (us), means |")
    print("| --- | --- | --- | --- | --- |")
    for name, script in SCRIPTS.items():
        for size in arguments.sizes:
            found: dict[str, list[tuple[float, float]]] = {way: [] for way in WAYS}
            for number in range(arguments.rounds):
                for way in WAYS[:: 1 if number % 2 else -1]:
                    found[way].append(run(script, way, size, arguments.steps))
            base = np.array(found["plain"])
            for way in WAYS[1:]:
                extra = [mean(values, confidence=0.95) for values in 1e6 * (np.array(found[way]) - base).T]
                said = [f"{one.value:.0f} [{one.low:.0f}, {one.high:.0f}]" for one in extra]
                print(f"| {name} | {base[:, 0].mean() * 1e3:.2f} | {way} | {said[0]} | {said[1]} |", flush=True)


if __name__ == "__main__":
    main()
