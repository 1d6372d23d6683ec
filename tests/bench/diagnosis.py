"""How often is the diagnosis right? Every fault of `scalestudy demo`, several times, and what was found.

    python -m bench.diagnosis --seeds 5 --results ../results/faults

Each study is a run of `scalestudy demo` with a seed of its own, in shuffled order, so that a bad hour of the
machine does not fall on one fault. What was found is kept as a row of a table beside the documentation, so that
the studies may be made over several days: a fault and seed that has a row is not measured again. `--again` judges
again what was measured, after the diagnosis was changed. The confusion matrix of all rows is printed in the end.

Right: the cause that was put in is found first; for a control, nothing is found. An abstention names no cause.
Whatever else is found is a miss, and on a control a false alarm.
"""

from __future__ import annotations

import argparse
import csv
import random
import subprocess
import sys
from collections import Counter
from pathlib import Path

from scalestudy.cli.verb.demo import judge
from scalestudy.demo.faults import ALL, CONTROLS
from scalestudy.diagnose.findings import Diagnosis, FindingsFile
from scalestudy.record.document import read_document

SCALESTUDY = str(Path(sys.executable).parent / "scalestudy")
OUTCOMES = Path(__file__).parents[2] / "docs/measurements/diagnosis.csv"
COLUMNS = ("fault", "seed", "verdict", "causes", "possible")
NOTHING, ABSTAINED = "healthy", "unexplained"

Outcomes = dict[tuple[str, int], dict[str, str]]
"""By fault and seed: verdict, causes in the order of the report, and possible causes."""


def first_cause(causes: str) -> str:
    """The first finding to act on. Findings that do not concern the speed come after a verdict of healthy."""
    return next((cause for cause in causes.split() if cause != NOTHING), NOTHING)


def measure(name: str, seed: int, folder: Path) -> dict[str, str]:
    """The findings of one study."""
    command = [SCALESTUDY, "demo", "--fault", name, "--seed", str(seed), "--results", str(folder)]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode not in (0, 1):
        raise SystemExit(f"{' '.join(command)} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    print(f"{name} {seed}: {done.stdout.splitlines()[-2]}", flush=True)
    (found,) = read_document(folder / "findings.json", FindingsFile).diagnoses
    return told(found)


def told(found: Diagnosis) -> dict[str, str]:
    """The part of a diagnosis that is kept."""
    causes, possible = (" ".join(one.cause for one in all) for all in (found.findings, found.also_possible))
    return {"verdict": found.verdict, "causes": causes, "possible": possible}


def read(path: Path) -> Outcomes:
    """The kept rows of existing faults; empty if there is no file."""
    if not path.exists():
        return {}
    with path.open(encoding="utf-8", newline="") as lines:
        rows = [row for row in csv.DictReader(lines) if row["fault"] in ALL]
    return {(row["fault"], int(row["seed"])): {name: row.get(name) or "" for name in COLUMNS[2:]} for row in rows}


def write(path: Path, outcomes: Outcomes) -> None:
    """Keep the rows, in the order of the faults."""
    path.parent.mkdir(parents=True, exist_ok=True)
    order = list(ALL)
    with path.open("w", encoding="utf-8", newline="") as lines:
        writer = csv.DictWriter(lines, COLUMNS, lineterminator="\n")
        writer.writeheader()
        for fault, seed in sorted(outcomes, key=lambda key: (order.index(key[0]), key[1])):
            writer.writerow({"fault": fault, "seed": seed} | outcomes[fault, seed])


def table(outcomes: Outcomes) -> str:
    """The confusion matrix as a list: a row per fault with its findings and their numbers, and the totals."""
    found: dict[str, Counter[str]] = {name: Counter() for name in ALL}
    for (name, _), row in outcomes.items():
        found[name][first_cause(row["causes"])] += 1
    found = {name: counts for name, counts in found.items() if counts}
    lines = ["| injected fault | expected cause | first finding |", "| --- | --- | --- |"]
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
    if any(row["possible"] for row in outcomes.values()):
        named = sum(
            ALL[name].cause in (*row["causes"].split(), *row["possible"].split())
            for (name, _), row in outcomes.items()
            if name not in controls
        )
        listed = sum(bool(row["possible"]) for (name, _), row in outcomes.items() if name in controls)
        lines.append(f"named: the true cause in {named} of {tried} faults; possible causes in {listed} controls")
    return "\n".join(lines)


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=5, help="studies of each fault (default: 5)")
    parser.add_argument("--faults", nargs="+", choices=ALL, default=list(ALL), help="these alone")
    parser.add_argument("--again", action="store_true", help="judge anew what was measured, and measure nothing")
    parser.add_argument("--results", type=Path, default=Path("../results/faults"), help="where studies stand")
    parser.add_argument("--outcomes", type=Path, default=OUTCOMES, help="the table that is kept")
    arguments = parser.parse_args(argv)
    wanted = [(name, seed) for seed in range(1, arguments.seeds + 1) for name in arguments.faults]
    random.Random(0).shuffle(wanted)
    outcomes = read(arguments.outcomes)
    for name, seed in sorted(wanted, key=lambda item: item[1]):  # shuffled within each round
        folder = arguments.results / f"{name}-{seed}"
        if arguments.again:
            if (folder / "findings.json").exists():
                outcomes[name, seed] = told(judge(ALL[name], folder))
        elif (name, seed) not in outcomes:
            outcomes[name, seed] = measure(name, seed, folder)
        write(arguments.outcomes, outcomes)
    print(table(outcomes))
    return 0


if __name__ == "__main__":
    sys.exit(main())
