"""Studies on a host that is busy in half of the runs: does the speedup's interval include the quiet value?

    cd tests && python -m bench.spoiled [--studies 20] [--by launch|repeat]

Step times and readings of the host are simulated. The marks, what is left out, which repeats are launched in the
place of spoiled ones, and the intervals are the analysis' own. In a run beside other load the single process
takes 1 to 2 times as long and the two ranks 1.3 to 2.2 times. Each study is made a second time on a quiet host.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from math import log
from typing import Any

import numpy as np
import pandas as pd
from builders import diagnosed, study_of
from conftest import mlp_workload, small_content
from scalestudy.analyse.point.summary import summary_frame
from scalestudy.analyse.run.spoiled import spoiled_columns
from scalestudy.analyse.study.decision import decide
from scalestudy.registry.codes import Spoiled
from scalestudy.registry.words.points import SPOILED
from scalestudy.study.config.load import parse_study
from scalestudy.study.config.spoiled import SpoiledFrom
from scalestudy.study.plan import Plan, make_plan

BASE_S = 0.010
DRIFT, SCATTER = 0.02, 0.015
"""Coefficients of variation of step times: between repeats on one host, and between the runs of a repeat."""
SINGLE, RANKS = (1.0, 2.0), (1.3, 2.2)
QUIET_CORES, BUSY_CORES = (0.0, 0.06), (0.3, 1.0)
COOL = {"thermal_slowdown_share": float("nan"), "hardware_slowdown_share": float("nan")}


@dataclass(frozen=True)
class Made:
    """A finished study."""

    repeats: int
    clean: int
    holds: bool
    width: float
    """Of the interval of the speedup, on logarithms."""
    says_so: bool
    """Whether the verdict's sentence reports disturbed runs."""


def plan_of() -> Plan:
    content = small_content(workloads={"mlp": mlp_workload(scaling=["strong"])})
    content |= {"repeats": 3, "max_repeats": 12, "report": {"overhead_reference": False}}
    return make_plan(parse_study(content, source="bench"))


def mark(cores: float) -> str:
    """As the analysis marks a run beside which others took this many cores."""
    load = {"span_s": 5.0, "cpus": 2, "others_cores": cores, "swapped_mib": 0.0, "gpu_others": 0}
    load |= dict.fromkeys(("stolen_share", "memory_stall_share", "throttled_share", "clock_jump_s"), 0.0)
    return str(spoiled_columns({"host_load": {"training": [load]}}, COOL, SpoiledFrom())["spoiled"])


def launched(frame: pd.DataFrame, speedup: float, busy: str | None, random: np.random.Generator) -> pd.DataFrame:
    """The runs of a study, half of them beside other load. busy: each `launch`, or `repeat`, by chance."""
    runs = frame.copy()
    repeats = sorted(set(runs["repeat"]))
    drift = {repeat: random.normal(0, DRIFT) for repeat in repeats}
    half = set(random.permutation(repeats)[: len(repeats) // 2])
    order = random.permutation(len(runs)) < len(runs) // 2
    for place, (run, row) in enumerate(runs.iterrows()):
        ranks = int(row["world_size"])
        time_s = BASE_S / (speedup if ranks > 1 else 1) * np.exp(drift[row["repeat"]] + random.normal(0, SCATTER))
        spoiled = busy and (order[place] if busy == "launch" else row["repeat"] in half)
        if spoiled:
            time_s *= random.uniform(*(RANKS if ranks > 1 else SINGLE))
        runs.loc[run, "spoiled"] = mark(random.uniform(*(BUSY_CORES if spoiled else QUIET_CORES)))
        runs.loc[run, ["step_time_s", "throughput_samples_per_s"]] = [time_s, row["global_batch"] / time_s]
    return runs


def made(plan: Plan, runs: pd.DataFrame, speedup: float) -> Made:
    """The study, with the looks and decisions of the analysis."""
    for after in plan.study.looks:
        mine = runs[runs["repeat"] <= after]
        summary = summary_frame(plan, mine)
        if after == plan.study.most_repeats or not decide(plan, mine, summary, after=after).needed:
            break
    row = summary[summary["world_size"] == 2].iloc[0]
    (diagnosis,) = [one for one in diagnosed(plan, summary) if one.world_size == 2]
    return Made(
        repeats=after,
        clean=int(row["repeats_clean"]),
        holds=bool(row["speedup_low"] <= speedup <= row["speedup_high"]),
        width=log(row["speedup_high"] / row["speedup_low"]),
        says_so=f"measured {SPOILED[Spoiled.OTHER_LOAD]}" in diagnosis.sentence,
    )


def bench(studies: int, by: str) -> dict[str, Any]:
    """Results of this many studies on a busy and on a quiet host."""
    plan = plan_of()
    times = {("mlp", ranks, batch): [BASE_S] * 12 for ranks, batch in ((1, 32), (2, 16))}
    frame = study_of(plan, times)
    found: dict[str, list[Made]] = {"busy": [], "quiet": []}
    for seed in range(studies):
        speedup = float(np.random.default_rng(seed).uniform(1.0, 1.8))
        for name, busy in (("busy", by), ("quiet", None)):
            random = np.random.default_rng([seed, name == "busy"])
            found[name].append(made(plan, launched(frame, speedup, busy, random), speedup))
    busy, quiet = found["busy"], found["quiet"]
    return {
        "studies": studies,
        "busy by": by,
        "interval holds the quiet speedup": sum(one.holds for one in busy),
        "the same on a quiet host": sum(one.holds for one in quiet),
        "sentence says so": sum(one.says_so for one in busy),
        "said of a quiet host": sum(one.says_so for one in quiet),
        "median width over that on a quiet host": float(
            np.median([one.width for one in busy]) / np.median([one.width for one in quiet])
        ),
        "repeats, median": (np.median([one.repeats for one in busy]), np.median([one.repeats for one in quiet])),
        "studies with fewer than two quiet repeats": sum(one.clean < 2 for one in busy),
    }


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--studies", type=int, default=20)
    parser.add_argument("--by", choices=["launch", "repeat"], default="launch")
    arguments = parser.parse_args()
    for name, value in bench(arguments.studies, arguments.by).items():
        print(f"{name}: {value}")
