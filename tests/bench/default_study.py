"""How often does the default study decide beside an intermittent load, and is it right?

    python -m bench.default_study record --blocks 40 --out REFERENCE
    python -m bench.default_study record --loaded --blocks 120 --out LOADED
    python -m bench.default_study judge REFERENCE LOADED

A block holds what the verdicts of the default study are made of: a run of each distributed configuration, in
whose processes the baseline takes turns, all forked from one new parent. The reference is of a quiet host. Blocks
beside a load are taken one after the other as by studies of their own: each looks where the default study looks,
and takes as many blocks as its points need. Launches of the baseline and probes are left out: no verdict hangs on
them. The load is that of bench.recorded_blocks: one process, busy and idle for random times of some seconds.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scalestudy.analyse.point.speedup import with_turns
from scalestudy.analyse.point.verdict import verdict_of
from scalestudy.analyse.run.alternation import alternation_of
from scalestudy.analyse.statistics.intervals import Interval, mean_on_logs
from scalestudy.launch.run import measure_run
from scalestudy.record.tables import read_observation
from scalestudy.registry.codes import Verdict
from scalestudy.study.config.load import merge, parse_study, read_content
from scalestudy.study.config.study import Study
from scalestudy.study.plan import make_plan

from bench.recorded_blocks import beside_load

POINT = ["workload", "scaling"]
RANKS = 2


def default_study(**changes: Any) -> Study:
    content = read_content(Path(__file__).parents[2] / "config/config.yaml")
    return parse_study(merge(content, changes), source="bench")


def record_blocks(blocks: int, out: Path) -> None:
    """A row per run: block, point, the speedup within the run, seconds. Written after every block."""
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
                found = alternation_of(read_observation(directory))
                shutil.rmtree(directory)
                row = {
                    "block": block,
                    "workload": spec.workload,
                    "scaling": point.scaling,
                    "turns": found["turns"],
                }
                row |= {"speedup_in_launch": round(found["speedup_in_launch"], 6)}
                rows.append(row | {"wall_time_s": round(record.totals.wall_time_s, 3)})
            pd.DataFrame(rows).to_csv(out, index=False)


def speedup_of(launches: pd.DataFrame, confidence: float) -> Interval:
    """Of these runs, those that are contended left out where others are there."""
    return mean_on_logs(with_turns(launches)["speedup_in_launch"].to_numpy(), confidence=confidence)


def verdict_after(launches: pd.DataFrame, study: Study) -> tuple[int, Interval, Verdict]:
    """(runs made, interval and verdict) of a point that would have these runs."""
    for after in study.looks:
        speedup = speedup_of(launches.iloc[:after], study.level)
        verdict = verdict_of(speedup, ranks=RANKS, report=study.report)
        if verdict != Verdict.UNDECIDED:
            break
    return after, speedup, verdict


def is_against(verdict: Verdict, value: float, study: Study) -> bool:
    """Whether a verdict is wrong if this is the true value."""
    target, margin = RANKS * study.report.target_efficiency, study.report.target_margin
    holds = {
        Verdict.NEGATIVE_SCALING: value < 1,
        Verdict.POOR: value < target,
        Verdict.HEALTHY: value >= target,
        Verdict.AT_TARGET: abs(value / target - 1) <= margin,
    }
    return not holds.get(verdict, True)


def read_launches(path: Path) -> dict[tuple[str, str], pd.DataFrame]:
    """Point -> its runs, a row per block."""
    return {point: rows.reset_index(drop=True) for point, rows in pd.read_csv(path).groupby(POINT)}


def judge(quiet: Path, loaded: Path) -> pd.DataFrame:
    """A row per study and point: runs, speedup with its limits, verdict, and whether the reference agrees."""
    study, launches_of = default_study(), read_launches(loaded)
    reference = {point: speedup_of(launches, 0.95) for point, launches in read_launches(quiet).items()}
    blocks = min(map(len, launches_of.values()))
    rows: list[dict[str, Any]] = []
    begin, number = 0, 0
    while begin + study.looks[0] <= blocks:
        number += 1
        found = {point: verdict_after(launches.iloc[begin:], study) for point, launches in launches_of.items()}
        most = max(launches for launches, _, _ in found.values())
        if begin + most > blocks:
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


def allocation(loaded: Path) -> str:
    """Until decided beside fixed numbers of runs for all points: device-seconds, and studies that decide all.

    Over all windows of as many blocks as the study has runs at most, so that windows overlap. A fixed
    number is looked at once, at the level of the report.
    """
    study, launches_of = default_study(), list(read_launches(loaded).values())
    most, blocks = study.looks[-1], min(map(len, launches_of))
    windows = [[rows.iloc[begin : begin + most] for rows in launches_of] for begin in range(blocks - most + 1)]

    def row(name: str, after: Callable[[pd.DataFrame], tuple[int, Verdict]]) -> dict[str, Any]:
        made = [[(rows, *after(rows)) for rows in window] for window in windows]
        return {
            "design": name,
            "launches": np.mean([sum(count for _, count, _ in one) for one in made]),
            "device_s": np.mean(
                [sum(RANKS * rows["wall_time_s"][:count].sum() for rows, count, _ in one) for one in made]
            ),
            "decided": np.mean([all(verdict != Verdict.UNDECIDED for *_, verdict in one) for one in made]),
        }

    def until(rows: pd.DataFrame) -> tuple[int, Verdict]:
        count, _, verdict = verdict_after(rows, study)
        return count, verdict

    def fixed(count: int) -> Callable[[pd.DataFrame], tuple[int, Verdict]]:
        def after(rows: pd.DataFrame) -> tuple[int, Verdict]:
            return count, verdict_of(
                speedup_of(rows[:count], study.report.confidence), ranks=RANKS, report=study.report
            )

        return after

    found = [row("until decided", until)]
    found += [row(f"{count} for every point", fixed(count)) for count in range(2, most + 1)]
    lines = [
        "| launches | of all points | device-seconds | of until decided | studies that decide all |",
        "| --- | --- | --- | --- | --- |",
    ]
    for one in found:
        times = one["device_s"] / found[0]["device_s"]
        lines.append(
            f"| {one['design']} | {one['launches']:.1f} | {one['device_s']:.0f} | {times:.2f} |"
            f" {one['decided']:.0%} |"
        )
    lines.append(f"\n{len(windows)} windows of {most} blocks, which overlap.")
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
        print(summary(judge(arguments.quiet, arguments.loaded)), allocation(arguments.loaded), sep="\n\n")
        return
    with beside_load() if arguments.loaded else nullcontext():
        record_blocks(arguments.blocks, arguments.out)


if __name__ == "__main__":
    main()
