"""How often does the default study decide, beside a load that comes and goes, and is it right?

    python -m bench.default_study record --blocks 40 --out REFERENCE
    python -m bench.default_study record --loaded --blocks 120 --out LOADED
    python -m bench.default_study judge REFERENCE LOADED

A block holds what the verdicts of the default study are made of: a launch of each distributed configuration, in
whose processes the base case takes turns, all forked from one new parent. The reference is of a quiet host. Blocks
beside a load are taken one after the other as by studies of their own: each looks where the default study looks,
and takes as many blocks as its points need. Launches of the base case and probes are left out: no verdict hangs on
them. The load is that of bench.recorded_blocks: one process, busy and idle for random times of some seconds.
"""

from __future__ import annotations

import argparse
import multiprocessing
import shutil
import tempfile
from pathlib import Path
from typing import Any

import pandas as pd
from scalestudy.analyse.point.verdict import verdict_of
from scalestudy.analyse.run.alternation import alternation_of
from scalestudy.analyse.statistics.intervals import Interval, mean_on_logs
from scalestudy.launch.run import measure_run
from scalestudy.record.observation import read_observation
from scalestudy.registry.codes import Verdict
from scalestudy.study.config.load import merge, parse_study, read_content
from scalestudy.study.config.study import Study
from scalestudy.study.plan import make_plan

from bench.recorded_blocks import load

POINT = ["workload", "scaling"]


def default_study(**changes: Any) -> Study:
    content = read_content(Path(__file__).parents[2] / "config/config.yaml")
    return parse_study(merge(content, changes), source="bench")


def record_blocks(blocks: int, out: Path) -> None:
    """A row per launch: block, point, the speedup within the launch, seconds. Written after every block."""
    plan = make_plan(
        default_study(repeats=blocks, max_repeats=blocks, measure={"probe_rounds": 0, "floor": False})
    )
    points = [point for point in plan.points if point.is_compared]
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory(prefix="scalestudy-default-") as folder:
        for block in range(1, blocks + 1):
            for point in points:
                (spec,) = (plan.runs[run] for run in point.runs if plan.runs[run].repeat == block)
                record, _ = measure_run(spec, Path(folder))
                assert record.outcome == "ok", record.reason
                directory = Path(folder) / "runs" / record.run_id
                speedup = alternation_of(read_observation(directory))["speedup_in_launch"]
                shutil.rmtree(directory)
                known = {
                    "speedup_in_launch": round(speedup, 6),
                    "wall_time_s": round(record.totals.wall_time_s, 3),
                }
                rows.append({"block": block, "workload": spec.workload, "scaling": point.scaling, **known})
            pd.DataFrame(rows).to_csv(out, index=False)


def verdict_after(values: pd.Series, study: Study) -> tuple[int, Interval, Verdict]:
    """(launches made, interval and verdict) of a point whose launches would give these speedups."""
    for after in study.looks:
        speedup = mean_on_logs(values.iloc[:after].to_numpy(), confidence=study.level)
        verdict = verdict_of(speedup, ranks=2, report=study.report)
        if verdict != Verdict.UNDECIDED:
            break
    return after, speedup, verdict


def is_against(verdict: Verdict, value: float, study: Study) -> bool:
    """Whether a verdict says something else than what holds for this value."""
    target, margin = 2 * study.report.target_efficiency, study.report.target_margin
    holds = {
        Verdict.NEGATIVE_SCALING: value < 1,
        Verdict.POOR: value < target,
        Verdict.HEALTHY: value >= target,
        Verdict.AT_TARGET: abs(value / target - 1) <= margin,
    }
    return not holds.get(verdict, True)


def read_blocks(path: Path) -> pd.DataFrame:
    """Speedups within launches: a row per block, a column per point."""
    return pd.read_csv(path).pivot(index="block", columns=POINT, values="speedup_in_launch")


def judge(quiet: pd.DataFrame, loaded: pd.DataFrame) -> pd.DataFrame:
    """A row per study and point: launches, speedup with its limits, verdict, and whether the reference says so."""
    study = default_study()
    reference = {point: mean_on_logs(quiet[point].to_numpy(), confidence=0.95) for point in quiet}
    rows: list[dict[str, Any]] = []
    begin, number = 0, 0
    while begin + study.looks[0] <= len(loaded):
        number += 1
        found = {point: verdict_after(loaded[point].iloc[begin:], study) for point in loaded}
        most = max(launches for launches, _, _ in found.values())
        if begin + most > len(loaded):
            break
        for point, (launches, speedup, verdict) in found.items():
            known = reference[point]
            rows.append(
                dict(zip(POINT, point, strict=True))
                | {"study": number, "launches": launches, **speedup.columns("speedup")}
                | {"verdict": verdict, **known.columns("reference")}
                | {"holds_reference": speedup.low <= known.value <= speedup.high}
                | {"against": is_against(verdict, known.value, study)}
            )
        begin += most
    return pd.DataFrame(rows)


def summary(rows: pd.DataFrame) -> str:
    """A line per point, and one for all three verdicts of a study."""
    lines = [
        "| point | quiet host | studies | decided | verdicts | against the reference"
        " | intervals that hold it | launches of a study |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for point, of_point in rows.groupby(POINT):
        first = of_point.iloc[0]
        cells = [
            ", ".join(point),
            "{reference:.3g} [{reference_low:.3g}, {reference_high:.3g}]".format(**first),
            str(len(of_point)),
            str(int((of_point["verdict"] != Verdict.UNDECIDED).sum())),
            ", ".join(f"{count} {verdict}" for verdict, count in of_point["verdict"].value_counts().items()),
            str(int(of_point["against"].sum())),
            str(int(of_point["holds_reference"].sum())),
            f"{of_point['launches'].mean():.1f} on average",
        ]
        lines.append(f"| {' | '.join(cells)} |")
    whole = rows.assign(open=rows["verdict"] == Verdict.UNDECIDED).groupby("study")["open"].any()
    lines.append(f"\n{int((~whole).sum())} of {len(whole)} studies decided all their verdicts.")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    recording = commands.add_parser("record")
    recording.add_argument("--blocks", type=int, required=True)
    recording.add_argument("--loaded", action="store_true", help="beside a load that comes and goes")
    recording.add_argument("--out", type=Path, required=True)
    judging = commands.add_parser("judge")
    judging.add_argument("quiet", type=Path)
    judging.add_argument("loaded", type=Path)
    arguments = parser.parse_args()
    if arguments.command == "judge":
        print(summary(judge(read_blocks(arguments.quiet), read_blocks(arguments.loaded))))
        return
    other = multiprocessing.get_context("spawn").Process(target=load, args=(2026,), daemon=True)
    if arguments.loaded:
        other.start()
    try:
        record_blocks(arguments.blocks, arguments.out)
    finally:
        if arguments.loaded:
            other.terminate()


if __name__ == "__main__":
    main()
