"""Statements about one point that cannot both be true are never in one report, whatever was measured.

Studies are generated at the level of runs: step times, probes and disturbances of every run. All further stages
are the real ones, up to the text report.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from typing import Any

import pandas as pd
import pytest
from builders import printed_of, results_of, study_of
from exclusions import excluded, generated, statements
from hypothesis import example, given
from hypothesis import strategies as st
from scalestudy.analyse.communication.probes import compare_methods
from scalestudy.analyse.point.summary import summary_frame
from scalestudy.analyse.statistics.resolution import SHARE
from scalestudy.diagnose.findings import Diagnosis
from scalestudy.publish.templates import DIRECTORY, render
from scalestudy.publish.words.points import VERDICTS
from scalestudy.registry.codes import Methods
from scalestudy.study.config.load import parse_study
from scalestudy.study.plan import Plan, make_plan

REPEATS = 3
MEASURED = ("differential", "exposed_span", "interference", "imbalance", "hook_cost", "exposed_hook", "wait_time")

# Statements about a point, as regular expressions. Each row: two that exclude each other.
EXCLUDE_EACH_OTHER = (
    (r"Methods: agree", r"a cost cannot be negative"),
    (r"Methods: agree", r"NOTE: methods of measuring communication disagree"),
    (r"Methods: agree", r"remainder +not resolved"),
    (r"Methods: agree", r"Methods: disagree"),
    (r"Methods: not compared: their intervals", r"Methods: disagree"),
    (r": (HEALTHY|AT TARGET)", r"(?<!possibly )(comm|launch)-bound"),
    (r": (HEALTHY|AT TARGET)", r"(Poor|Negative scaling|Undecided): "),
    (r": (HEALTHY|AT TARGET)", r"not known whether 2 processes train mlp faster"),
    (r": (HEALTHY|AT TARGET)", r"train mlp more slowly than one"),
    (r": NEGATIVE SCALING", r"Use (all|both)"),
    (r": NEGATIVE SCALING", r"times as fast as one \("),
    (r": (UNDECIDED|CONFOUNDED)", r"the verdict is decided"),
    (r": POOR", r"meets the (study's )?target"),
    (r": NEGATIVE SCALING", r"may or may not meet"),
    (r"overhead +not resolved", r"overhead per step: [-\d]"),
    (r"overhead +not resolved", r"overhead as a share of the step: [-\d]"),
    (r"overhead +not resolved", r"the overhead is only"),
    (r"communication +not resolved|communication: not resolved", r"exposed communication +[-\d.]+ ms +[<\d.]+%"),
    (r"total cost of synchronisation +not resolved", r"Where the step time goes: [^.]*communication [<\d]+%"),
    (r"total cost of synchronisation +not resolved", r"Where the step time goes: [^.]*compute [<\d]+%"),
    (r"total cost of synchronisation +[-\d]", r"not resolved separately"),
    (r"repeats? (was|were) measured [^:]* left out", r"repeats? (was|were) measured [^:]* still counts?"),
    (r"do not show an overhead above 0", r"the overhead is only"),
)
# What may not be said at all.
NEVER = (
    r"not resolved \[",
    r"not resolved (ms|%)",
    r"overhead per step: not resolved \([^)]*\) - share of the step: [-\d]",
    r"\bnan\b",
    r"(Error|Traceback)",
)
HEAD = re.compile(r"^(\* mlp, |mlp, | {2})ddp,? (strong|weak)\b")


def of_point(text: str, scaling: str) -> str:
    """All lines of a report about the point of two ranks with this scaling, without line breaks."""
    found, inside = [], False
    lines = text.splitlines()
    for line, below in zip(lines, [*lines[1:], ""], strict=True):
        if head := HEAD.match(line):
            inside = head[2] == scaling
        elif not line or re.match(r"^( {2})?single", line) or re.fullmatch(r"-{3,}|={3,}", below):
            inside = inside and bool(line) and not below.startswith("---")
        if inside:
            found.append(line)
    return " ".join(" ".join(found).split())


def plan_of(content: dict[str, Any]) -> Plan:
    content["repeats"] = REPEATS
    content["measure"] = content.get("measure", {}) | {"until": "precise"}
    content["report"] = content.get("report", {}) | {"forecast_scales": [], "forecast_batches": []}
    return make_plan(parse_study(content, source="x"))


def level(low: float, high: float) -> st.SearchStrategy[float]:
    """Numbers with four decimals: nothing that is measured takes 1e-300 s."""
    return st.floats(low, high).map(lambda number: round(number, 4))


# Of each probed quantity: its mean and its scatter over runs, as shares of the step.
PROBE = st.tuples(
    st.sampled_from([-0.4, -0.1, 0.0, 0.02, 0.1, 0.4]) | level(-0.5, 0.5),
    st.sampled_from([0.001, 0.01, 0.1, 0.5]),
    st.lists(level(-1, 1), min_size=REPEATS, max_size=REPEATS),
)
POINT = st.fixed_dictionaries(
    {
        "slower": st.sampled_from([0.52, 0.6, 0.8, 0.95, 1.0, 1.05, 1.3, 2.0, 5.0]),
        "scatter": st.sampled_from([0.01, 0.1, 0.7]).flatmap(
            lambda most: st.lists(level(1 - most, 1 + most), min_size=REPEATS, max_size=REPEATS)
        ),
        "consistent": st.booleans(),
        "spoiled": st.lists(st.sampled_from(["none", "none", "other_load"]), min_size=REPEATS, max_size=REPEATS),
        **dict.fromkeys(MEASURED, PROBE),
    }
)


def with_point(runs: pd.DataFrame, drawn: dict[str, Any]) -> pd.DataFrame:
    """runs.csv with the drawn step times, probes and disturbances of all runs of two ranks."""
    runs = runs.copy()
    runs["spoiled"] = runs["spoiled"].astype(object)
    for index, run in runs[runs["world_size"] == 2].iterrows():
        repeat = int(run["repeat"]) - 1
        factor = drawn["slower"] * drawn["scatter"][repeat]
        times = [name for name in runs if name.endswith("_time_s") or name.startswith("step_time_p")]
        runs.loc[index, times] = run[times] * factor
        runs.loc[index, "throughput_samples_per_s"] = run["throughput_samples_per_s"] / factor
        step_s = runs.loc[index, "step_time_s"]
        probed = {
            name: step_s * (mean + scatter * noise[repeat])
            for name, (mean, scatter, noise) in ((name, drawn[name]) for name in MEASURED)
        }
        if drawn["consistent"]:  # the methods measure the same
            probed["exposed_hook"] = probed["exposed_span"] + probed["hook_cost"]
            rest = 0.001 * step_s * drawn["imbalance"][2][repeat]
            probed["interference"] = probed["differential"] - probed["exposed_span"] - rest
        probed["remainder"] = probed["differential"] - probed["exposed_span"] - probed["interference"]
        probed["transfer_time"] = probed["exposed_hook"] - probed["wait_time"]
        for name, seconds in probed.items():
            runs.loc[index, f"{name}_s"] = seconds
        runs.loc[index, "spoiled"] = drawn["spoiled"][repeat]
    return runs


def steady(slower: float) -> dict[str, Any]:
    """A point whose runs are alike, without any cost of communication."""
    probe = (0.0, 0.001, [0.0] * REPEATS)
    plain = {"slower": slower, "scatter": [1.0, 1.001, 0.999], "consistent": True, "spoiled": ["none"] * REPEATS}
    return plain | dict.fromkeys(MEASURED, probe)


def contradictions(said: str) -> list[str]:
    return excluded(said, EXCLUDE_EACH_OTHER, NEVER)


def blamed_against_the_probes(findings: Iterable[Diagnosis], summary: pd.DataFrame) -> list[str]:
    """Points that are said to be comm-bound although the probes exclude a synchronisation of 10 % of the step."""
    rows = {(row["scaling"], row["world_size"]): row for _, row in summary.iterrows()}
    found = []
    for one in findings:
        row = rows[one.scaling, one.world_size]
        excluded = row["differential_s_high"] < SHARE * row["step_time_s"] and row["methods"] != Methods.DISAGREE
        if excluded and "comm-bound" in [cause.cause for cause in one.named]:
            found.append(f"{one.scaling}: {row['differential_s']} of {row['step_time_s']}")
    return found


@pytest.mark.parametrize(
    ("target", "examples"),
    [
        pytest.param(0.75, 12, id="usual"),
        pytest.param(0.75, 60, id="usual, longer", marks=pytest.mark.slow),
        pytest.param(0.4, 15, id="met by one process", marks=pytest.mark.slow),
    ],
)
def test_no_report_contradicts_itself(content: dict[str, Any], target: float, examples: int) -> None:
    content["report"] = {"target_efficiency": target}
    plan = plan_of(content)
    one_s = {
        (spec.workload, spec.world_size, spec.batch_per_rank): 0.001 * spec.batch_per_rank
        for spec in plan.runs.values()
    }
    runs = study_of(plan, {place: [seconds] * REPEATS for place, seconds in one_s.items()})
    seen: Counter[str] = Counter()

    @example(steady(0.52))
    @example(steady(2.0) | {"scatter": [0.97, 1.03, 1.0]})
    @example(steady(5.0))
    @generated(examples)
    @given(POINT)
    def check(drawn: dict[str, Any]) -> None:
        made = with_point(runs, drawn)
        results = results_of(plan, made, summary_frame(plan, made))
        assert blamed_against_the_probes(results.findings, results.summary) == []
        facts = printed_of(plan, results)
        for answer in facts["answers"]:  # about the point whose verdict it names
            told = f": {VERDICTS[answer.verdict].upper()}. {answer.said} {answer.meaning} {answer.to_do}"
            assert contradictions(told) == [], told
            seen.update(statements(told, EXCLUDE_EACH_OTHER))
        text = render(DIRECTORY / "performance_report.txt", **facts)
        assert [line for line in text.splitlines() if len(line) > 80] == []
        for scaling in ("strong", "weak"):
            said = of_point(text, scaling)
            assert contradictions(said) == [], said
            seen.update(statements(said, EXCLUDE_EACH_OTHER))

    check()
    if target < 0.5:  # verdicts are others
        assert seen[r"not known whether 2 processes train mlp faster"]
        return
    common = [r"Methods: agree", r"Methods: disagree", r"a cost cannot be negative", r": (HEALTHY|AT TARGET)"]
    common += [r": NEGATIVE SCALING", r"overhead +not resolved", r"total cost of synchronisation +not resolved"]
    common += [r"Methods: not compared: their intervals", r": (UNDECIDED|CONFOUNDED)"]
    assert [statement for statement in common if not seen[statement]] == [], "each was said in some report"


@pytest.mark.parametrize(
    ("hook_cost", "methods"),
    [
        ([-6.0e-3, -6.1e-3, -5.9e-3], Methods.DISAGREE),
        ([-6.0e-3, 6.1e-3, 0.5e-3], Methods.AGREE),
        ([0.5e-3, 0.6e-3, 0.4e-3], Methods.AGREE),
    ],
)
def test_timestamps_that_seem_to_save_time_are_a_disagreement(hook_cost: list[float], methods: Methods) -> None:
    values = {"differential": [5e-3, 5.1e-3, 4.9e-3], "remainder": [0.1e-3, -0.1e-3, 0.05e-3]}
    values |= {"exposed_span": [2e-3, 2.1e-3, 1.9e-3], "hook_cost": hook_cost}
    values["exposed_hook"] = [span + cost for span, cost in zip(values["exposed_span"], hook_cost, strict=True)]
    arrays = {name: pd.Series(given).to_numpy() for name, given in values.items()}
    assert compare_methods(arrays, confidence=0.95)["methods"] == methods


def test_a_confounded_point_has_no_decided_verdict(content: dict[str, Any]) -> None:
    """Two ranks that are five times as fast do not do the same work, however narrow the interval is."""
    content["measure"] = content.get("measure", {}) | {"until": "decided"}
    content |= {"repeats": REPEATS, "max_repeats": 2 * REPEATS}
    plan = make_plan(parse_study(content, source="x"))
    places = {(spec.workload, spec.world_size, spec.batch_per_rank) for spec in plan.runs.values()}
    seconds = {place: 0.001 if place[1] > 1 else 0.005 for place in places}
    times = {
        place: [second * (1 + repeat / 1000) for repeat in range(2 * REPEATS)] for place, second in seconds.items()
    }
    results = results_of(plan, study_of(plan, times))
    text = render(DIRECTORY / "performance_report.txt", **printed_of(plan, results))
    said = of_point(text, "strong")
    assert ": CONFOUNDED" in said
    assert "no more runs: the ratio is not a speedup" in said
    assert contradictions(said) == []
