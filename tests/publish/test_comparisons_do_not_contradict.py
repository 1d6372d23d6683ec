"""What a comparison of studies says agrees with the ratios and differences that are printed beside it.

Pairs of studies are generated at the level of runs: step time, accuracy and outcome of every run. Both are
analysed, compared and printed by the real code.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from typing import Any

import pandas as pd
import pytest
from builders import study_of
from conftest import small_content
from exclusions import NUMBER, excluded, generated, statements
from hypothesis import example, given
from hypothesis import strategies as st
from scalestudy.analyse.point.summary import summary_frame
from scalestudy.analyse.study.compare import Source, compare_studies
from scalestudy.analyse.study.environment import StudyEnvironment
from scalestudy.compare.points import points_of
from scalestudy.compare.record import comparison_file, comparison_view
from scalestudy.publish.templates import DIRECTORY, render
from scalestudy.study.config.load import parse_study
from scalestudy.study.plan import Plan, make_plan

REPEATS = 3
EXCLUDE_EACH_OTHER = (
    (r"B: faster than A", r"B: slower than A|no significant difference from A|no ratio|no interval, because"),
    (r"B: slower than A", r"no significant difference from A|no ratio|no interval, because"),
    (r"no significant difference from A", r"no ratio|no interval, because"),
    (r"B: not compared", r"B: (faster|slower)|no ratio|no significant difference from A|difference -?[\d.]+ "),
    (r"B: no ratio", r"B: efficiency minus"),
    (r"not compared, because no two runs", r": (equivalent|lower|higher|inconclusive)"),
)
"""Of one point."""
SUMMARY = (
    (r"Both points are faster|All \d points are faster", r"slower|no significant difference"),
    (r"Neither point differs|None of the \d points differs", r"faster|slower"),
    (r"(the one|none of \d) points? was", r"times as fast"),
)
NEVER = (r"\bnan\b", r"\[--", r"--\]", r"-- (points|times)")
PLACES = (("ddp strong", 2, 16), ("ddp weak", 2, 32), ("single", 1, 32))

POINT = st.fixed_dictionaries(
    {
        "factor": st.sampled_from([0.5, 0.9, 0.97, 1.0, 1.03, 1.1, 2.0]),
        "scatter": st.sampled_from([0.002, 0.02, 0.2]),
        "noise": st.lists(st.floats(-1, 1).map(lambda n: round(n, 3)), min_size=6, max_size=6),
        "outcomes": st.lists(st.sampled_from(["ok"] * 6 + ["oom", "timeout"]), min_size=6, max_size=6),
        "accuracy": st.none() | st.sampled_from([-0.05, -0.008, 0.0, 0.008, 0.05]),
        "accuracy_scatter": st.sampled_from([0.0, 0.002, 0.02]),
    }
)


def alike(factor: float, **more: Any) -> dict[str, Any]:
    noise = [-1.0, 0.0, 1.0, 1.0, 0.0, -1.0]
    plain = {"factor": factor, "scatter": 0.002, "noise": noise, "outcomes": ["ok"] * 6}
    return plain | {"accuracy": 0.0, "accuracy_scatter": 0.0} | more


@cache
def planned() -> tuple[Plan, pd.DataFrame]:
    plan = make_plan(parse_study(small_content(repeats=REPEATS), source="x"))
    one_s = {(s.workload, s.world_size, s.batch_per_rank): 0.001 * s.batch_per_rank for s in plan.runs.values()}
    return plan, study_of(plan, {place: [seconds] * REPEATS for place, seconds in one_s.items()})


def source(letter: str, drawn: tuple[dict[str, Any], ...]) -> Source:
    """A study with the drawn points: the first has factor 1 and the first three runs."""
    plan, runs = planned()
    runs, second = runs.copy(), letter == "B"
    runs["record_sha256"] = [f"{letter}{index}" for index in range(len(runs))]
    times = [name for name in runs if name.endswith("_time_s") or name.startswith("step_time_p")]
    for (_, ranks, batch), point in zip(PLACES, drawn, strict=True):
        for index, run in runs[(runs["world_size"] == ranks) & (runs["batch_per_rank"] == batch)].iterrows():
            which = int(run["repeat"]) - 1 + REPEATS * second
            factor = (point["factor"] if second else 1.0) * (1 + point["scatter"] * point["noise"][which])
            runs.loc[index, times] = run[times] * factor
            runs.loc[index, "throughput_samples_per_s"] = run["throughput_samples_per_s"] / factor
            runs.loc[index, "outcome"] = point["outcomes"][which]
            change = point["accuracy"] if second else 0.0
            noise = point["accuracy_scatter"] * point["noise"][which]
            runs.loc[index, "validation_accuracy"] = float("nan") if change is None else 0.9 + change + noise
    environment = StudyEnvironment(facts={}, warnings=())
    summary = summary_frame(plan, runs)
    return Source(letter, letter, f"results/{letter}", plan, summary, runs, environment)


def contradictions_at(rows: list[dict[str, Any]], said: str) -> list[str]:
    """Statements about a point that exclude each other, or that its printed numbers exclude."""
    found = excluded(said, EXCLUDE_EACH_OTHER, NEVER)
    (row,) = rows[1:]
    ratio = row["numbers"]["throughput_ratio"].shown
    if ratio.limits:
        value, low, high = map(float, (ratio.value, ratio.low, ratio.high))
        claims = {
            "B: faster than A": low < 1,
            "B: slower than A": high > 1,
            "B: no significant difference from A": not low <= 1 <= high,
            "no interval, because": True,
            "no ratio": True,
        }
        found += [f"{claim} beside {ratio}" for claim, wrong in claims.items() if wrong and claim in said]
        found += ["a ratio outside of its limits"] * (not low <= value <= high)
        longer = rows[1]["numbers"]["step_time_ms"].value > rows[0]["numbers"]["step_time_ms"].value
        if f"B: {'faster' if longer else 'slower'} than A" in said:
            found.append("faster with a longer step, or slower with a shorter one")
    elif re.search("B: (faster|slower|no significant difference from A)", said):
        found.append("a difference without a ratio")
    if told := re.search(rf"efficiency of A: {NUMBER} points \((higher|lower|no significant difference)\)", said):
        low, high = float(told[2]), float(told[3])
        claims = {"higher": low < 0, "lower": high > 0, "no significant difference": not low <= 0 <= high}
        found += [f"efficiency {told[4]} beside {told[0]}"] * claims[told[4]]
    if told := re.search(rf"difference {NUMBER} points: (equivalent|lower|higher|inconclusive)", said):
        value, low, high = (float(told[place]) for place in (1, 2, 3))
        claims = {
            "equivalent": abs(value) > 1,
            "lower": high > 0,
            "higher": low < 0,
            "inconclusive": low > 0 or high < 0,
        }
        found += [f"accuracy {told[4]} beside {told[0]}"] * claims[told[4]]
    return found


def contradictions_of_all(summary: str, said: list[str]) -> list[str]:
    """Statements of the summary that exclude each other, or what is said of the points."""
    found = excluded(summary, SUMMARY)
    words = {"faster": "B: faster", "slower": "B: slower", "no significant difference": "B: no significant"}
    for word, claim in words.items():
        counted = re.search(rf"(\d) of \d points (is|are|shows?) {word}|(\d) (is|are|shows?) {word}", summary)
        if counted and int(counted[1] or counted[3]) != sum(claim in one for one in said):
            found.append(f"{counted[0]}: {said}")
    if re.search(r"(Both|All \d) points are faster", summary) and not all("B: faster" in one for one in said):
        found.append(f"{summary}: {said}")
    return found


@pytest.mark.slow
def test_no_comparison_contradicts_itself() -> None:
    seen: Counter[str] = Counter()

    @example((alike(0.5), alike(2.0), alike(1.0)))
    @example((alike(1.0), alike(1.0, outcomes=["ok"] * 3 + ["oom"] * 3), alike(1.0)))
    @example((alike(0.97), alike(0.97, accuracy=-0.05), alike(0.97, accuracy=0.05)))
    @generated(40)
    @given(st.tuples(POINT, POINT, POINT))
    def check(drawn: tuple[dict[str, Any], ...]) -> None:
        sources = [source(letter, drawn) for letter in "AB"]
        comparison = compare_studies(sources)
        points = points_of(comparison)
        file = comparison_file(comparison, sources, points)
        view = comparison_view(file, points)
        told = [point for mine in view["workloads"].values() for point in mine]
        for point in told:
            said = " ".join(point["remarks"])
            assert contradictions_at(point["rows"], said) == [], (said, point["rows"][1]["numbers"])
            seen.update(statements(said, EXCLUDE_EACH_OTHER))
            seen.update(re.findall(r"points: (\w+)", said))
        (summary,) = file.summary
        assert contradictions_of_all(summary, [" ".join(point["remarks"]) for point in told]) == [], summary
        text = render(DIRECTORY / "comparison.txt", **view)
        assert not re.search(r"\bnan\b", text)

    check()
    wanted = [r"B: faster than A", r"B: slower than A", r"B: no ratio", r"no significant difference from A"]
    wanted += ["equivalent", "lower", "higher", "inconclusive"]
    assert [one for one in wanted if not seen[one]] == []
