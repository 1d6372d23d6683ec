"""Causes in the default study, beside an intermittent load and with injected faults.

    python -m bench.default_causes [--runs 10] [--minutes 40] [--folder F]

The default study is launched several times, three runs of each point, beside the load of
bench.recorded_blocks. Its verdict beside that load is the business of bench.default_study; here the causes count.
The small network spends its time on synchronisation (comm-bound), at a fixed and at a growing global batch.
Nothing holds back the convolutional one. Then faults that a setting makes are put into it. They have to be among
the named causes.

A point is right where the true cause is among those that are found or possible. Where there is none, it is right
if none is found of what slows it down. Accuracy that a larger batch loses does not slow it down.

Rows are kept in
docs/measurements/default_causes.csv; a run that has rows is not launched again.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import gettempdir
from typing import Any

import pandas as pd
from scalestudy.cli.results.inputs import table_of
from scalestudy.demo.faults import ALL, Fault
from scalestudy.diagnose.findings import UNEXPLAINED, Diagnosis
from scalestudy.diagnose.study import diagnose_study
from scalestudy.study.config.load import merge, read_content

from bench.recorded_blocks import beside_load
from bench.verification import DOCS, launch_all

ROWS = DOCS / "measurements/default_causes.csv"
FOLDER = Path(gettempdir()) / "scalestudy-default-causes"
REPEATS = 3
TRUE = {"digits-mlp": "comm-bound", "digits-convnet": ""}
"""Cause by workload; "" where nothing holds it back."""
FAULTS = ("frequent-checkpoints", "no-no-sync", "unused-parameters")
HELD_BY_FAULT = "digits-mlp"
"""The workload whose rows count then: in its short steps each of these faults is above its threshold."""
NO_CAUSE = {UNEXPLAINED, "healthy"}


def content_of(number: int, fault: Fault | None) -> dict[str, Any]:
    """The default study with a seed of its own, and perhaps a fault in its variants."""
    changes: dict[str, Any] = {
        "study": f"digits-{fault.name if fault else number}",
        "seed": 2026 + number,
        "repeats": REPEATS,
        "max_repeats": REPEATS,
        "measure": {"floor": False},
        "verify": {"mode": "asked"},
    }
    if fault:
        changes["variants"] = {"single": fault.both, "ddp": merge(fault.both, fault.ddp)}
    return merge(read_content(DOCS.parent / "config/config.yaml"), changes)


def rows_of(name: str, fault: Fault | None, diagnoses: list[Diagnosis]) -> Iterator[dict[str, Any]]:
    """A row per point that counts."""
    for one in diagnoses:
        if fault and one.workload != HELD_BY_FAULT:
            continue
        found = [finding.cause for finding in one.findings if finding.cause not in NO_CAUSE]
        slows = [finding.cause for finding in one.findings if finding.cause in found and not finding.beside]
        possible = [finding.cause for finding in one.also_possible]
        true = fault.cause if fault else TRUE[one.workload]
        yield {
            "run": name,
            "workload": one.workload,
            "scaling": one.scaling,
            "verdict": str(one.verdict),
            "true_cause": true,
            "found": " ".join(found),
            "possible": " ".join(f"{cause}:{one.weights[cause]:.2f}" for cause in possible),
            "right": true in {*found, *possible} if true else not slows,
        }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--minutes", type=float, default=40, help="begin no run after this many minutes")
    parser.add_argument("--folder", type=Path, default=FOLDER)
    arguments = parser.parse_args()
    rows = pd.read_csv(ROWS, keep_default_na=False).to_dict("records") if ROWS.exists() else []
    begin = time.monotonic()
    wanted: list[tuple[int, Fault | None]] = [(number, None) for number in range(1, arguments.runs + 1)]
    wanted += [(0, ALL[name]) for name in FAULTS]
    with beside_load():
        for number, fault in wanted:
            name = fault.name if fault else str(number)
            if any(str(row["run"]) == name for row in rows):
                continue
            if time.monotonic() - begin > 60 * arguments.minutes:
                break
            plan, results = launch_all(content_of(number, fault), arguments.folder.absolute() / name)
            found = diagnose_study(plan.study, table_of(results, "summary"), table_of(results, "forecasts"))
            new = list(rows_of(name, fault, found))
            rows += new
            pd.DataFrame(rows).to_csv(ROWS, index=False)
            print(pd.DataFrame(new).to_string(index=False, header=False), flush=True)
    table = pd.DataFrame(rows)
    print(table.groupby(["workload", "scaling", table["run"].isin(FAULTS)])["right"].agg(["sum", "count"]))


if __name__ == "__main__":
    main()
