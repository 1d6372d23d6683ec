"""Interleaved measurement: contenders take turns inside one process group, round after round.

Each turn is divided by the reference's turn of the same round: a machine that slows down slows both, and the ratio
stands.

The interval is Student's on the logarithms of the ratios, over rounds; where there are several runs, over the
launches' means, since rounds of one process share its memory layout.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pandas as pd
from scalestudy.analyse.statistics.intervals import mean, mean_on_logs
from scalestudy.launch.command import THREAD_VARIABLES

from bench.task import CASES

TESTS = Path(__file__).resolve().parents[1]
CONFIDENCE = 0.95
# As config/config.yaml has them: glibc would give freed activations back to the kernel at every step.
MALLOC = {"MALLOC_MMAP_THRESHOLD_": "1073741824", "MALLOC_TRIM_THRESHOLD_": "1073741824"}
QUIET = {"TRANSFORMERS_VERBOSITY": "error", "HF_HUB_OFFLINE": "1", "PYTHONWARNINGS": "ignore"}


def compare(
    contenders: dict[str, str],
    *,
    case: str,
    ranks: int,
    rounds: int,
    launches: int = 1,
    steps: int | None = None,
    seed: int = 1,
) -> list[dict[str, Any]]:
    """A row per contender; the first is the reference.

    contenders: name -> 'module:function' of its `prepare`. steps: of a turn, if not the case's own.
    """
    frames = []
    for launch in range(launches):
        request = {"contenders": contenders, "case": case, "rounds": rounds, "steps": steps}
        rows = _launch(request | {"seed": seed + 1000 * launch}, ranks)
        frames.append(pd.DataFrame(rows).assign(launch=launch))
    return summarise(pd.concat(frames), reference=next(iter(contenders)), case=case, ranks=ranks)


def summarise(turns: pd.DataFrame, *, reference: str, case: str, ranks: int) -> list[dict[str, Any]]:
    """Ratio to the reference, and microseconds a step beyond it, each with its interval."""
    unit = ["launch"] if turns["launch"].nunique() > 1 else ["launch", "round"]
    keys = ["launch", "round", "contender"]
    table = turns.set_index(keys)["step_time_s"].unstack("contender")
    medians = turns.set_index(keys)["step_time_p50_s"].unstack("contender")
    rows = []
    for name in turns["contender"].unique():
        ratios = (table[name] / table[reference]).groupby(level=unit).agg(_geometric_mean)
        beyond_us = ((table[name] - table[reference]) * 1e6).groupby(level=unit).mean()
        ratio = mean_on_logs(ratios.tolist(), confidence=CONFIDENCE)
        extra = mean(beyond_us.tolist(), confidence=CONFIDENCE)
        rows.append(
            {
                "case": case,
                "ranks": ranks,
                "contender": name,
                "step_time_ms": _geometric_mean(table[name]) * 1e3,
                "ratio": ratio.value,
                "ratio_low": ratio.low,
                "ratio_high": ratio.high,
                "ratio_of_medians": _geometric_mean(medians[name] / medians[reference]),
                "extra_us": extra.value,
                "extra_us_low": extra.low,
                "extra_us_high": extra.high,
                "rounds": len(table),
                "launches": int(turns["launch"].nunique()),
            }
        )
    first = [row for row in rows if row["contender"] == reference]
    rest = [row for row in rows if row["contender"] != reference]
    return first + sorted(rest, key=lambda row: row["ratio"])


def render(rows: list[dict[str, Any]]) -> str:
    """The rows as a plain table; the first of a case is its reference."""
    lines = []
    for case, ranks in dict.fromkeys((row["case"], row["ranks"]) for row in rows):
        mine = [row for row in rows if (row["case"], row["ranks"]) == (case, ranks)]
        counts = f"{mine[0]['rounds']} rounds in {mine[0]['launches']} run(s)"
        lines += [
            f"{case}, {ranks} rank(s), {counts}; ratio to {mine[0]['contender']}, 95 % interval",
            f"  {'':22}{'ms a step':>10}{'ratio':>8}{'low':>8}{'high':>8}{'medians':>9}{'extra us':>10}",
        ]
        for row in mine:
            ratios = (row["ratio"], row["ratio_low"], row["ratio_high"])
            lines.append(
                f"  {row['contender']:22}{row['step_time_ms']:10.4f}"
                + "".join(f"{value:8.4f}" for value in ratios)
                + f"{row['ratio_of_medians']:9.4f}{row['extra_us']:10.1f}"
            )
        lines.append("")
    return "\n".join(lines)


def run_command(comparisons: dict[str, dict[str, str]], *, description: str, argv: list[str] | None = None) -> int:
    """The command line that the benchmarks of loops share.

    comparisons: case -> its contenders, the reference first.
    """
    everyone = list(dict.fromkeys(name for contenders in comparisons.values() for name in contenders))
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--rounds", type=int, default=20, help="rounds of a launch")
    parser.add_argument("--launches", type=int, default=1, help="fresh processes; from 2 on the unit")
    parser.add_argument("--ranks", type=int, nargs="+", default=[1, 2], help="numbers of ranks, one core each")
    parser.add_argument("--cases", nargs="+", choices=list(comparisons), default=list(comparisons))
    parser.add_argument("--steps", type=int, help="steps of a turn, if not the case's own")
    parser.add_argument("--only", nargs="+", choices=everyone, default=everyone, help="these beside the reference")
    parser.add_argument("--out", type=Path, help="also write the rows as JSON")
    arguments = parser.parse_args(argv)
    rows: list[dict[str, Any]] = []
    for ranks, case in itertools.product(arguments.ranks, arguments.cases):
        if ranks not in CASES[case].ranks:
            continue
        reference, *others = comparisons[case]
        wanted = [reference, *(name for name in others if name in arguments.only)]
        found = compare(
            {name: comparisons[case][name] for name in wanted},
            case=case,
            ranks=ranks,
            rounds=arguments.rounds,
            launches=arguments.launches,
            steps=arguments.steps,
        )
        print(render(found), flush=True)
        rows += found
    if arguments.out:
        arguments.out.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    return 0


def _launch(request: dict[str, Any], ranks: int) -> list[dict[str, Any]]:
    """The turns of one run of bench.rank; its output is shown only where it fails."""
    threads = dict.fromkeys(THREAD_VARIABLES, "1")
    environment = os.environ | threads | MALLOC | QUIET
    torchrun = ["-m", "torch.distributed.run", "--standalone", "--nnodes=1", f"--nproc_per_node={ranks}"]
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        out = Path(folder) / "turns.json"
        command = [sys.executable, *(torchrun if ranks > 1 else []), "-m", "bench.rank"]
        result = subprocess.run(
            [*command, json.dumps(request | {"out": str(out)})],
            cwd=TESTS,  # and not PYTHONPATH: Accelerate looks for a module along all of sys.path at every step
            env=environment | {"TMPDIR": folder},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        if result.returncode != 0:
            raise SystemExit(f"bench.rank ended with {result.returncode}:\n{result.stdout}")
        return json.loads(out.read_text(encoding="utf-8"))


def _geometric_mean(values: Iterable[float]) -> float:
    return mean_on_logs(list(values), confidence=CONFIDENCE).value
