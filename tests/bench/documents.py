"""Everything after training, for studies of 10, 100 and 1000 runs: seconds and memory of every stage.

    python -m bench.documents --runs 10 100 1000 --out documents.json

Each stage is the command that its rule runs, as a process of its own; the figures of two workloads are drawn at a
time, as Snakemake does on two cores. Peak memory is that of the largest process of a stage, by the kernel's own
account: what two that run at once need together is at most twice that.

The bar: 1000 runs within 60 s and 1.5 GiB, and from 100 runs on no worse than linear.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from scalestudy.publish.figures import FIGURES
from scalestudy.study.plan import Plan

from bench.synthetic import SHAPES, make_study, write_study

SCALESTUDY = str(Path(sys.executable).parent / "scalestudy")
AT_ONCE = 2

# The kernel counts what stood in the memory of whoever starts a process as the process's own: so a small one does.
WATCH = """import resource, subprocess, sys
status = subprocess.call(sys.argv[1:])
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, flush=True)
sys.exit(status)"""


def stages(plan: Plan, results: Path) -> dict[str, list[list[str]]]:
    """Stage -> the commands of its jobs; as in rules/*.smk."""
    workloads = list(plan.study.workloads)
    plan_summary = ["--plan", f"{results}/plan.json", "--summary", f"{results}/comprehensive_summary.csv"]
    facts = [
        *plan_summary,
        *("--runs", f"{results}/runs.csv"),
        *("--forecasts", f"{results}/forecasts.csv"),
        *("--factors", f"{results}/efficiency_factors.csv"),
        *("--findings", f"{results}/findings.json"),
        *("--environment", f"{results}/environment.json"),
        *("--traces", f"{results}/traces.json"),
    ]
    figures = [f"{results}/figures/{workload}_{figure}.svg" for workload in workloads for figure in FIGURES]
    plots = ["plot", *plan_summary]
    plots += ["--epochs", f"{results}/epochs.csv", "--forecasts", f"{results}/forecasts.csv"]
    plots += ["--collectives", f"{results}/collectives.csv", "--quantiles", f"{results}/step_quantiles.csv"]
    plots += ["--held-out", f"{results}/held_out_forecasts.csv"]
    plots += ["--out", f"{results}/figures", "--workload"]
    return {
        "aggregate": [["aggregate", "--plan", f"{results}/plan.json", "--results", str(results)]],
        "diagnose": [
            [
                "diagnose",
                *plan_summary,
                "--forecasts",
                f"{results}/forecasts.csv",
                "--out",
                f"{results}/findings.json",
            ]
        ],
        "plot": [[*plots, workload] for workload in workloads],
        "numbers": [["numbers", *facts, "--out", f"{results}/numbers.json"]],
        "tables": [
            [
                *("tables", *plan_summary, "--environment", f"{results}/environment.json"),
                *("--numbers", f"{results}/numbers.json", "--out", f"{results}/tables"),
            ]
        ],
        "text": [["text", *facts, "--out", f"{results}/performance_report.txt"]],
        "page": [
            [
                *("page", *facts, "--numbers", f"{results}/numbers.json"),
                *("--figures", *figures, "--out", f"{results}/report.html"),
            ]
        ],
    }


def measure(runs: int, folder: Path) -> list[dict[str, Any]]:
    """A row per stage, and one for their total: seconds one after another, the largest peak of a process."""
    plan = make_study(runs)
    results = folder / plan.study.study
    write_study(plan, results)
    rows = []
    for stage, jobs in stages(plan, results).items():
        begin = time.perf_counter()
        with ThreadPoolExecutor(AT_ONCE) as pool:
            peaks = list(pool.map(run_job, jobs))
        seconds = time.perf_counter() - begin
        rows.append({"runs": runs, "stage": stage, "jobs": len(jobs), "time_s": seconds, "peak_gib": max(peaks)})
    return [
        *rows,
        {
            "runs": runs,
            "stage": "total",
            "jobs": sum(row["jobs"] for row in rows),
            "time_s": sum(row["time_s"] for row in rows),
            "peak_gib": max(row["peak_gib"] for row in rows),
        },
    ]


def run_job(arguments: list[str]) -> float:
    """Run one command to its end: its peak resident memory in GiB."""
    result = subprocess.run(
        [sys.executable, "-c", WATCH, SCALESTUDY, *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    if result.returncode != 0:
        raise SystemExit(f"scalestudy {arguments[0]} ended with {result.returncode}:\n{result.stdout}")
    return int(result.stdout.split()[-1]) * 1024 / 2**30  # Linux counts in KiB


def render(rows: list[dict[str, Any]]) -> str:
    """A line per stage, two columns per size of study."""
    sizes = list(dict.fromkeys(row["runs"] for row in rows))
    found = {(row["runs"], row["stage"]): row for row in rows}
    lines = [f"{'':10}" + "".join(f"{f'{size} runs':>20}" for size in sizes)]
    lines.append(f"{'':10}" + f"{'s':>10}{'GiB':>10}" * len(sizes))
    for stage in dict.fromkeys(row["stage"] for row in rows):
        cells = [found[size, stage] for size in sizes]
        lines.append(f"{stage:10}" + "".join(f"{cell['time_s']:10.2f}{cell['peak_gib']:10.2f}" for cell in cells))
    return "\n".join(lines)


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, nargs="+", choices=list(SHAPES), default=list(SHAPES))
    parser.add_argument("--folder", type=Path, help="keep the studies there (default: a folder that is removed)")
    parser.add_argument("--out", type=Path, help="also write the rows as JSON")
    arguments = parser.parse_args(argv)
    with tempfile.TemporaryDirectory(prefix="bench-documents-") as temporary:
        rows = [row for runs in arguments.runs for row in measure(runs, arguments.folder or Path(temporary))]
    print(render(rows))
    if arguments.out:
        arguments.out.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
