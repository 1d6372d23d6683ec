"""Device-seconds that a speedup costs beside an intermittent load, with each gain stated separately.

    python -m bench.device_seconds record --blocks 20 --out FILE
    python -m bench.device_seconds judge FILE

A block has the baseline and two ranks of the default study's convnet, cold and forked, in an order that the next
block reverses; in the forked run of two ranks the baseline takes turns. All designs are judged by these same
runs:

- `independent, cold`: as release 0.1 did it, runs as independent samples.
- `blocked, cold`: the same runs, compared within blocks.
- `blocked, forked`: forked runs, compared within blocks.
- `turns, forked`: the speedup within forked runs of two ranks; the baseline is not launched. A run without
  a quiet round does not count, as in a study, and costs what it costs.

The spread of a design is that of its log ratio, over blocks. The blocks that are needed follow from it by
Student's t, and device-seconds from the median seconds of a run times its ranks. Intervals are of a bootstrap
over blocks. What allocation brings is stated last, simulated: until decided against the best fixed number of
runs.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scalestudy.analyse.run.alternation import alternation_of
from scalestudy.analyse.run.steps import measured
from scalestudy.launch.run import measure_run
from scalestudy.record.tables import read_observation
from scalestudy.registry.codes import Turns
from scalestudy.study.plan import make_plan
from scalestudy.study.spec import RunSpec
from scipy.special import stdtrit

from bench.default_study import default_study
from bench.recorded_blocks import beside_load

WORKLOAD = "digits-convnet"
HALF_WIDTH = 0.01
STARTS = ("cold", "fork")
STUDIES = 4000
MOST = 200
"""Launches of a fixed design that are tried."""
POWER = 0.9


def specs_of(start: str, block: int) -> list[RunSpec]:
    """The baseline and two ranks."""
    measure: dict[str, Any] = {"probe_rounds": 0, "floor": False}
    if start == "cold":
        measure |= {"alternating_rounds": 0, "speedup_within": "repeats"}
    study = default_study(repeats=block, max_repeats=block, host={"start": start}, measure=measure)
    plan = make_plan(study)
    (point,) = (point for point in plan.points if point.is_compared and point.workload == WORKLOAD)
    return [plan.runs[runs[block - 1]] for runs in (point.base, point.runs)]


def record_blocks(blocks: int, out: Path) -> None:
    """A row per run. Written after every block."""
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory(prefix="scalestudy-device-seconds-") as folder:
        for block in range(1, blocks + 1):
            specs = [(start, spec) for start in STARTS for spec in specs_of(start, block)]
            for start, spec in specs if block % 2 else specs[::-1]:
                record, _ = measure_run(spec, Path(folder))
                assert record.outcome == "ok", record.reason
                directory = Path(folder) / "runs" / record.run_id
                observation = read_observation(directory)
                shutil.rmtree(directory)
                within = alternation_of(observation)
                times = {
                    "step_time_s": measured(observation, confidence=0.95)["step_time_s"],
                    "speedup_in_launch": within["speedup_in_launch"],
                    "wall_time_s": record.totals.wall_time_s,
                }
                known = {"block": block, "start": start, "ranks": spec.world_size, "turns": within["turns"]}
                rows.append(known | {name: round(value, 6) for name, value in times.items()})
            pd.DataFrame(rows).to_csv(out, index=False)


def designs(rows: pd.DataFrame) -> pd.DataFrame:
    """A row per design: spread of its log ratio, degrees of freedom and seconds of a block, blocks needed.

    A block costs what is spent for one that counts.
    """
    logs = np.log(rows.pivot(index="block", columns=["start", "ranks"], values="step_time_s"))
    turning = rows[(rows["start"] == "fork") & (rows["ranks"] == 2)]
    turns = np.log(turning.loc[turning["turns"] != Turns.CONTENDED, "speedup_in_launch"])
    device_s = (rows["wall_time_s"] * rows["ranks"]).groupby([rows["start"], rows["ranks"]]).median()
    cold, forked = (float(device_s[start].sum()) for start in STARTS)
    found = {
        "independent, cold": (float(np.sqrt(logs["cold"].var().sum())), 2, cold),
        "blocked, cold": (float((logs["cold", 1] - logs["cold", 2]).std()), 1, cold),
        "blocked, forked": (float((logs["fork", 1] - logs["fork", 2]).std()), 1, forked),
        "turns, forked": (float(turns.std()), 1, float(device_s["fork", 2]) * len(turning) / len(turns)),
    }
    table = pd.DataFrame(found, index=["spread", "freedom", "block_s"]).T
    table["launches"] = [launches_for(row.spread, int(row.freedom)) for row in table.itertuples()]
    table["device_s"] = table["launches"] * table["block_s"]
    return table


def launches_for(spread: float, freedom: int) -> int:
    """Blocks for an interval of HALF_WIDTH; `freedom`: degrees of freedom that each one brings."""
    return next(
        n for n in range(2, 10**6) if stdtrit(freedom * (n - 1), 0.975) * spread / np.sqrt(n) <= HALF_WIDTH
    )


def drawn(rows: pd.DataFrame, times: int) -> list[pd.DataFrame]:
    """`designs` of blocks drawn with replacement."""
    random, blocks = np.random.default_rng(1), rows["block"].unique()
    of_block = dict(list(rows.groupby("block")))
    return [
        designs(pd.concat([of_block[b].assign(block=n) for n, b in enumerate(random.choice(blocks, len(blocks)))]))
        for _ in range(times)
    ]


def launches_to_a_verdict(spread: float, margin: float) -> tuple[float, int]:
    """(mean runs until decided, runs of the best fixed design that decides as often).

    margin: of the log speedup from the target. The looks and the level are those of the default study.
    """
    study = default_study()
    logs = np.random.default_rng(2).normal(margin, spread, (STUDIES, MOST))
    means = logs.cumsum(axis=1) / np.arange(1, MOST + 1)
    squares = (logs**2).cumsum(axis=1) / np.arange(1, MOST + 1) - means**2

    def decided(n: int, level: float) -> np.ndarray:
        error = np.sqrt(squares[:, n - 1] / (n - 1))
        return np.abs(means[:, n - 1]) > stdtrit(n - 1, (1 + level) / 2) * error

    made, open_ = np.zeros(STUDIES), np.ones(STUDIES, dtype=bool)
    for after in study.looks:
        made[open_] = after
        open_ &= ~decided(after, study.level)
    share = 1 - open_.mean()
    fixed = next(n for n in range(2, MOST) if decided(n, study.report.confidence).mean() >= min(share, POWER))
    return float(made.mean()), fixed


def judge(path: Path) -> str:
    rows = pd.read_csv(path)
    table, others = designs(rows), drawn(rows, 400)
    first = table.index[0]
    lines = [
        f"| design | spread of a log ratio | device-seconds of a block | blocks to +-{HALF_WIDTH:.0%}"
        " | device-seconds | of the first |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for name, row in table.iterrows():
        shares = [other.loc[name, "device_s"] / other.loc[first, "device_s"] for other in others]
        low, high = np.quantile(shares, [0.025, 0.975])
        share = row["device_s"] / table.loc[first, "device_s"]
        cells = [str(name), f"{row['spread']:.1%}", f"{row['block_s']:.0f}", f"{row['launches']:.0f}"]
        lines.append(f"| {' | '.join([*cells, f'{row.device_s:.0f}', f'{share:.2f} [{low:.2f}, {high:.2f}]'])} |")
    spread = float(table.loc["turns, forked", "spread"])
    lines += [
        "",
        "| margin to the target | launches until decided, on average | best fixed number |",
        "| --- | --- | --- |",
    ]
    for times in (1.0, 1.5, 2.0, 3.0):
        until, fixed = launches_to_a_verdict(spread, times * spread)
        lines.append(f"| {times:g} spreads of a run | {until:.1f} | {fixed} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    recording = commands.add_parser("record")
    recording.add_argument("--blocks", type=int, default=20)
    recording.add_argument("--out", type=Path, required=True)
    judging = commands.add_parser("judge")
    judging.add_argument("file", type=Path)
    arguments = parser.parse_args()
    if arguments.command == "judge":
        print(judge(arguments.file))
        return
    with beside_load():
        record_blocks(arguments.blocks, arguments.out)


if __name__ == "__main__":
    main()
