"""How often is the diagnosis right? Every fault of `scalestudy demo`, several times, and what was found.

    python -m bench.diagnosis --seeds 5 --results ../results/faults

Each study is a launch of `scalestudy demo` with a seed of its own, in shuffled order, so that a bad hour of the
machine does not fall on one fault. What was measured is kept: called again it goes on where it was, and prints the
table of what there is. `--again` after the diagnosis was changed.

Right: the cause that was put in is found first; for a control, nothing is found. An abstention names no cause.
Whatever else is found is a miss, and on a control a false alarm.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from scalestudy.cli.demo import judge
from scalestudy.study.faults import ALL, CONTROLS

SCALESTUDY = str(Path(sys.executable).parent / "scalestudy")
NOTHING, ABSTAINED = "healthy", "unexplained"


def first_cause(found: dict[str, Any]) -> str:
    """What is to be put right first: what is found beside the speed stands behind a verdict of healthy."""
    causes = [finding["cause"] for finding in found["findings"]]
    return next((cause for cause in causes if cause != NOTHING), NOTHING)


def measure(name: str, seed: int, folder: Path) -> None:
    """One study, unless it is there."""
    if (folder / "findings.json").exists():
        return
    command = [SCALESTUDY, "demo", "--fault", name, "--seed", str(seed), "--results", str(folder)]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode not in (0, 1):
        raise SystemExit(f"{' '.join(command)} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    print(f"{name} {seed}: {done.stdout.splitlines()[-2]}", flush=True)


def read(results: Path) -> dict[str, Counter[str]]:
    """Fault -> how often each cause was found first."""
    found: dict[str, Counter[str]] = {name: Counter() for name in ALL}
    for name in ALL:
        for path in sorted(results.glob(f"{name}-[0-9]*/findings.json")):
            found[name][first_cause(json.loads(path.read_text(encoding="utf-8")))] += 1
    return {name: counts for name, counts in found.items() if counts}


def table(found: dict[str, Counter[str]]) -> str:
    """The confusion matrix as a list: a row a fault, what was found and how often, and the totals."""
    lines = ["| put in | to be found | found first |", "| --- | --- | --- |"]
    for name, counts in found.items():
        said = ", ".join(f"{cause} {count}" for cause, count in counts.most_common())
        lines.append(f"| {name} | {ALL[name].cause} | {said} |")
    controls = {fault.name for fault in CONTROLS}
    faults = {name: counts for name, counts in found.items() if name not in controls}
    right = sum(counts[ALL[name].cause] for name, counts in faults.items())
    tried = sum(counts.total() for counts in faults.values())
    abstained = sum(counts[ABSTAINED] for counts in faults.values())
    clean = [counts for name, counts in found.items() if name in controls]
    alarms = sum(counts.total() - counts[NOTHING] - counts[ABSTAINED] for counts in clean)
    shy = sum(counts[ABSTAINED] for counts in clean)
    studies = sum(counts.total() for counts in clean)
    lines += [
        "",
        f"faults: {right} of {tried} right, {abstained} abstentions, {tried - right - abstained} wrong",
        f"controls: {alarms} false alarms in {studies} studies, {shy} abstentions",
    ]
    return "\n".join(lines)


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=5, help="studies of each fault (default: 5)")
    parser.add_argument("--faults", nargs="+", choices=ALL, default=list(ALL), help="these alone")
    parser.add_argument("--again", action="store_true", help="judge anew what was measured, and measure nothing")
    parser.add_argument("--results", type=Path, default=Path("../results/faults"), help="where studies stand")
    arguments = parser.parse_args(argv)
    wanted = [(name, seed) for seed in range(1, arguments.seeds + 1) for name in arguments.faults]
    random.Random(0).shuffle(wanted)
    for name, seed in sorted(wanted, key=lambda item: item[1]):  # shuffled within each round
        folder = arguments.results / f"{name}-{seed}"
        if not arguments.again:
            measure(name, seed, folder)
        elif (folder / "findings.json").exists():
            judge(ALL[name], folder)
    print(table(read(arguments.results)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
