"""Everything after training, for studies of 10 to 10 000 runs: seconds and memory of every stage.

    python -m bench.documents --shapes 10 100 1000 1000-scales 10000 --out documents.json

Each stage is the commands of its rules, two at a time where none waits for another, and one stage after another,
as Snakemake does on two cores. `s` is what a stage takes from its start to its end, `CPU s` what all its processes
keep cores busy, which other work on the machine changes less. Peak memory is that of all processes of a stage
together; pages that they share are counted once. The studies are written before the clock starts; that of 10 000
runs takes 3 GB of disk, and some minutes.

The bars, on two cores: 30 s for all of 1000 runs, and 4 minutes and 1.5 GiB for all of 10 000.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import resource
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import psutil
from scalestudy.study.plan import Plan

from bench.synthetic import SHAPES, make_study, write_study

SCALESTUDY = str(Path(sys.executable).parent / "scalestudy")
AT_ONCE = 2
EVERY_S = 0.4  # memory is looked at: a look takes some ms of a core


def stages(plan: Plan, results: Path) -> dict[str, list[list[str]]]:
    """Stage -> the commands of its jobs; as in rules/*.smk. plan: of use to older revisions (bench.revisions)."""
    jobs = {name: [name] for name in ("aggregate", "diagnose", "plot", "numbers")}
    jobs |= {"write": ["page", "tables", "text"], "documents": ["documents"]}
    commands = {
        stage: [["stage", name, "--results", str(results)] for name in names] for stage, names in jobs.items()
    }
    return commands | {
        "typeset": [["stage", "typeset", f"{results}/{name}.tex"] for name in ("report", "proposal")],
    }


def measure(shape: str, folder: Path) -> list[dict[str, Any]]:
    """A row per stage, one for all but the first, and one for all: seconds one after another, peak memory."""
    plan = make_study(shape)
    results = folder / plan.study.name
    write_study(plan, results)
    rows = []
    for stage, jobs in stages(plan, results).items():
        begin, busy_s = time.perf_counter(), cpu_s()
        with ThreadPoolExecutor(AT_ONCE) as pool:
            peaks = list(pool.map(run_job, jobs))
        took = {"time_s": time.perf_counter() - begin, "cpu_s": cpu_s() - busy_s, "peak_gib": sum(peaks)}
        rows.append({"shape": shape, "stage": stage, "jobs": len(jobs)} | took)
    sums = {"beyond": rows[1:], "total": rows}
    return [*rows, *({"shape": shape, "stage": name} | _sum(summed) for name, summed in sums.items())]


def _sum(rows: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "jobs": sum(row["jobs"] for row in rows),
        "time_s": sum(row["time_s"] for row in rows),
        "cpu_s": sum(row["cpu_s"] for row in rows),
        "peak_gib": max(row["peak_gib"] for row in rows),
    }


def cpu_s() -> float:
    """Seconds of CPU of all commands that have ended, with those that they started and waited for."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def run_job(arguments: list[str]) -> float:
    """Run one command to its end: the peak memory of it and of all that it starts, in GiB."""
    command = [SCALESTUDY, *arguments]
    peak = 0
    with tempfile.TemporaryFile("w+") as said:
        job = psutil.Popen(command, stdin=subprocess.DEVNULL, stdout=said, stderr=subprocess.STDOUT)
        while job.poll() is None:
            peak = max(peak, sum(map(_memory, [job, *job.children(recursive=True)])))
            with contextlib.suppress(psutil.TimeoutExpired):
                job.wait(EVERY_S)
        said.seek(0)
        if job.returncode != 0:
            raise SystemExit(f"scalestudy {arguments[0]} ended with {job.returncode}:\n{said.read()}")
    return peak / 2**30


def _memory(process: psutil.Process) -> int:
    """Bytes of a process; of a page that several share, its part."""
    try:
        return int(process.memory_full_info().pss)
    except (psutil.NoSuchProcess, psutil.AccessDenied):
        return 0


def render(rows: list[dict[str, Any]]) -> str:
    """A line per stage, three columns per study."""
    shapes = list(dict.fromkeys(row["shape"] for row in rows))
    found = {(row["shape"], row["stage"]): row for row in rows}
    lines = [f"{'':10}" + "".join(f"{shape:>27}" for shape in shapes)]
    lines.append(f"{'':10}" + f"{'s':>10}{'CPU s':>9}{'GiB':>8}" * len(shapes))
    for stage in dict.fromkeys(row["stage"] for row in rows):
        cells = [found[shape, stage] for shape in shapes]
        lines.append(
            f"{stage:10}"
            + "".join(f"{cell['time_s']:10.2f}{cell['cpu_s']:9.2f}{cell['peak_gib']:8.2f}" for cell in cells)
        )
    return "\n".join(lines)


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--shapes", nargs="+", choices=list(SHAPES), default=list(SHAPES))
    parser.add_argument("--folder", type=Path, help="keep the studies there (default: a folder that is removed)")
    parser.add_argument("--out", type=Path, help="also write the rows as JSON")
    arguments = parser.parse_args(argv)
    with tempfile.TemporaryDirectory(prefix="bench-documents-") as temporary:
        rows = [row for shape in arguments.shapes for row in measure(shape, arguments.folder or Path(temporary))]
    print(render(rows))
    if arguments.out:
        arguments.out.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
