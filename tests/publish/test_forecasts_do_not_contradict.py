"""What a report says of forecasts agrees with the numbers beside it, with its measurements and with its advice.

Studies are generated at the level of runs: step times and outcomes at two scales. The forecasts, the diagnosis and
the text report are those of the real code.
"""

from __future__ import annotations

import re
from collections import Counter
from math import isnan
from typing import Any

import pandas as pd
import pytest
from builders import printed_of, results_of, study_of
from conftest import mlp_workload, small_content
from exclusions import NUMBER, excluded, generated, statements
from hypothesis import example, given
from hypothesis import strategies as st
from scalestudy.analyse.point.summary import summary_frame
from scalestudy.publish.results import Results
from scalestudy.publish.templates import DIRECTORY, render
from scalestudy.study.config.load import parse_study
from scalestudy.study.plan import Plan, make_plan

REPEATS = 3
EXCLUDE_EACH_OTHER = (
    (r"no forecast: ", r"speedup +-?\d|step time +-?\d|growth of the overhead"),
    (r"two sizes cannot distinguish", r"(linear|logarithmic|constant|1-1/n|1/n) \d+%"),
)
"""Of one forecast."""
NEVER = (r"\bnan\b", r"\binf\b", r"(speedup|step time|efficiency) +(--|-\d)")
SCALES = ["1x8", "1x16", "1x64", "2x4"]
BATCHES = [2, 3, 4, 6, 8]
VECTORS = {"type": "synthetic-vectors", "samples": 100_000, "features": 8, "classes": 10}

POINT = st.fixed_dictionaries(
    {
        "slower": st.sampled_from([0.3, 0.55, 0.8, 1.0, 1.1, 1.5, 3.0]),
        "scatter": st.sampled_from([0.002, 0.02, 0.2]),
        "noise": st.lists(st.floats(-1, 1).map(lambda n: round(n, 3)), min_size=REPEATS, max_size=REPEATS),
        "outcomes": st.lists(st.sampled_from(["ok"] * 8 + ["oom"]), min_size=REPEATS, max_size=REPEATS),
    }
)
STUDY = st.fixed_dictionaries(
    {
        "fixed": st.sampled_from([0.0, 0.1, 0.6, 1.0]),
        "points": st.dictionaries(st.sampled_from([1, 2, 4]), POINT, min_size=3, max_size=3),
    }
)


def plain(slower: float, fixed: float = 0.1) -> dict[str, Any]:
    point = {"slower": slower, "scatter": 0.002, "noise": [-1.0, 0.0, 1.0], "outcomes": ["ok"] * REPEATS}
    return {"fixed": fixed, "points": {1: point | {"slower": 1.0}, 2: point, 4: point}}


def studied(plan: Plan, base: pd.DataFrame, drawn: dict[str, Any]) -> Results:
    """The results of the drawn study. fixed: share of one process's step that does not depend on its batch."""
    runs = base.copy()
    times = [name for name in runs if name.endswith("_time_s") or name.startswith("step_time_p")]
    for index, run in runs.iterrows():
        point, which = drawn["points"][int(run["world_size"])], int(run["repeat"]) - 1
        share = drawn["fixed"] * 32 / run["batch_per_rank"] + 1 - drawn["fixed"]
        factor = share * point["slower"] * (1 + point["scatter"] * point["noise"][which])
        runs.loc[index, times] = run[times] * factor
        runs.loc[index, "throughput_samples_per_s"] = run["throughput_samples_per_s"] / factor
        runs.loc[index, "outcome"] = point["outcomes"][which]
    return results_of(plan, runs, summary_frame(plan, runs))


def blocks(text: str) -> list[str]:
    """Each forecast of the text report, on a line."""
    section = re.split(r"\nFORECASTS\n-+\n", text)[1].split("\nWHERE A STEP'S TIME GOES\n")[0]
    found = re.findall(r"^mlp, ddp.*\n(?:  .*\n?)+", section, flags=re.M)
    return [" ".join(one.split()) for one in found]


def contradictions(said: str, ranks: int) -> list[str]:
    """Statements that exclude each other, or that the printed numbers exclude."""
    found = excluded(said, EXCLUDE_EACH_OTHER, NEVER)
    numbers = {
        name: told
        for name in ("speedup", "efficiency", "step time")
        if (told := re.search(f"{name} {NUMBER}", said))
    }
    for name, told in numbers.items():
        value, low, high = map(float, told.groups())
        found += [f"{name} outside of its limits"] * (not low <= value <= high)
    if "speedup" in numbers and "efficiency" in numbers:
        speedup, efficiency = (float(numbers[name][1]) for name in ("speedup", "efficiency"))
        if efficiency * ranks / 100 != pytest.approx(speedup, rel=0.06, abs=0.06):
            found.append("efficiency is not speedup over ranks")
    weights = [int(percent) for percent in re.findall(r"(?:linear|logarithmic|constant|1-1/n|1/n) (\d+) %", said)]
    if weights and abs(sum(weights) - 100) > 1:
        found.append("weights that do not add up")
    return found


def against_the_measurements(results: Results) -> list[str]:
    """Forecasts that use what was not measured, or are refused for the lack of what was."""
    ok = results.summary[results.summary["step_time_s"].notna()]
    measured = {f"{row['nodes']}x{row['devices_per_node']}" for _, row in ok.iterrows()}
    base = bool(ok["is_base"].any())
    found = []
    for _, row in results.forecasts.iterrows():
        given = isinstance(row["from_scales"], str) and set(re.findall(r"\d+x\d+", row["from_scales"]))
        found += [f"from {given - measured}"] * bool(given and given - measured)
        if (row["refused"] == "none") == isnan(row["speedup"]):
            found.append(f"{row['refused']} beside {row['speedup']}")
        if row["refused"] == "base_not_measured" and base:
            found.append("the baseline was measured")
        if row["refused"] == "one_size" and {"1x2", "1x4"} <= measured:
            found.append("two sizes were measured")
    return found


def against_the_advice(results: Results, compared: Counter[str]) -> list[str]:
    """Advice whose prediction is not the forecast of the same point, or exists where there is no forecast."""
    found = []
    for one in results.findings:
        rows = results.forecasts[results.forecasts["scaling"] == one.scaling]
        for _, advice in (*one.recommendations, *one.uncertain):
            if advice.id == "more_ranks":
                same = rows[(rows["forecast_of"] == "scale") & (rows["world_size"] == 2 * one.world_size)]
                same = same[same["nodes"] == 1]
            elif advice.id == "larger_batch" and advice.global_batch:
                same = rows[(rows["forecast_of"] == "batch") & (rows["world_size"] == one.world_size)]
                same = same[same["global_batch"] == advice.global_batch]
            else:
                continue
            compared.update([f"{advice.id} is compared"] * len(same))
            for _, row in same.iterrows():
                if advice.prediction is None and row["refused"] == "none":
                    found.append(f"{advice.id} is not predicted, and a forecast is given: {advice.unpredicted}")
                elif advice.prediction is not None and row["refused"] != "none":
                    found.append(f"{advice.id} is predicted, and there is no forecast: {row['refused']}")
                elif advice.prediction is not None:
                    mine, theirs = advice.prediction.speedup.value, row["speedup"]
                    found += [f"{advice.id}: {mine} and {theirs}"] * (mine != pytest.approx(theirs, rel=1e-6))
    return found


@pytest.mark.slow
@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_no_forecast_contradicts_the_report() -> None:
    content = small_content(
        repeats=REPEATS, scales=["1x2", "1x4"], report={"forecast_scales": SCALES, "forecast_batches": BATCHES}
    )
    content["workloads"] = {"mlp": mlp_workload(data=VECTORS)}
    plan = make_plan(parse_study(content, source="x"))
    one_s = {(s.workload, s.world_size, s.batch_per_rank): 0.001 * s.batch_per_rank for s in plan.runs.values()}
    base = study_of(plan, {place: [seconds] * REPEATS for place, seconds in one_s.items()})
    seen: Counter[str] = Counter()

    @example(plain(1.05))
    @example(plain(1.5))
    @example(plain(0.3))
    @example(plain(1.1, fixed=1.0))
    @generated(25)
    @given(STUDY)
    def check(drawn: dict[str, Any]) -> None:
        results = studied(plan, base, drawn)
        assert against_the_measurements(results) == []
        assert against_the_advice(results, seen) == []
        text = render(DIRECTORY / "performance_report.txt", **printed_of(plan, results))
        told = blocks(text)
        assert len(told) == len(results.forecasts)
        for said, (_, row) in zip(told, results.forecasts.iterrows(), strict=True):
            assert contradictions(said, int(row["world_size"])) == [], said
            seen.update(statements(said, EXCLUDE_EACH_OTHER))

    check()
    wanted = [one for pair in EXCLUDE_EACH_OTHER[:1] for one in pair] + [
        "more_ranks is compared",
        "larger_batch is compared",
    ]
    assert [one for one in wanted if not seen[one]] == []
