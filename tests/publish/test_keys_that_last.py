"""Keys of numbers do not change when a study is measured again; keys of older releases lead to them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from builders import results_of, study_of
from scalestudy.analyse.point.summary import summary_frame
from scalestudy.analyse.trace.summary import OperatorTime, Trace
from scalestudy.publish.numbers.ledger import make_numbers
from scalestudy.publish.numbers.model import NumbersFile
from scalestudy.publish.numbers.renamed import new_key
from scalestudy.study.config.load import parse_study
from scalestudy.study.plan import Plan, make_plan
from test_measured_views import TRACE

CHANGELOG = Path(__file__).parents[2] / "CHANGELOG.md"
POINT = "mlp.ddp.strong.n2"
TIMES = {("mlp", 1, 32): 0.0010, ("mlp", 1, 16): 0.0006, ("mlp", 2, 16): 0.0040, ("mlp", 2, 32): 0.0041}


@pytest.fixture
def plan(content: dict[str, Any]) -> Plan:
    often = {"log_every_steps": 1, "checkpoint_every_steps": 2}
    content["variants"]["ddp"] |= often
    return make_plan(parse_study(content | {"repeats": 3}, source="x"))


def measured(
    plan: Plan, *, pace: float, logging_s: float, checkpoints_s: float, late_rank: int, trace: Trace
) -> NumbersFile:
    """The numbers of a study whose strong scaling loses so much to logging, checkpoints and a late rank."""
    runs = study_of(plan, {key: [time * pace * f for f in (1.0, 1.004, 0.997)] for key, time in TIMES.items()})
    summary = summary_frame(plan, runs)
    row = (summary["scaling"] == "strong") & (summary["world_size"] == 2)
    seconds = {"logging_time_s": logging_s, "checkpoint_time_s": checkpoints_s, "lateness_s": 0.0010}
    for name, value in seconds.items():
        summary.loc[row, [name, f"{name}_low", f"{name}_high"]] = [value, 0.99 * value, 1.01 * value]
    summary.loc[row, ["late_rank", "late_share"]] = [late_rank, 0.95]
    return make_numbers(plan, results_of(plan, runs, summary, traces=[trace]))


def traced(mm_s: float, add_s: float) -> Trace:
    """A trace whose operators took so long, the longest first."""
    seconds = {"aten::mm": mm_s, "aten::add": add_s, "aten::add_": 0.001, "void gemm<float>(int)": 0.0005}
    operators = [
        OperatorTime(name=name, calls_per_step=2, time_s=time_s, share=time_s / 0.01)
        for name, time_s in sorted(seconds.items(), key=lambda item: -item[1])
    ]
    return TRACE.model_copy(update={"summary": TRACE.summary.model_copy(update={"operators": tuple(operators)})})


def test_a_new_measurement_has_the_same_keys_and_each_means_the_same(plan: Plan) -> None:
    first = measured(
        plan, pace=1.0, logging_s=0.0012, checkpoints_s=0.0004, late_rank=0, trace=traced(mm_s=0.004, add_s=0.002)
    )
    again = measured(
        plan, pace=1.1, logging_s=0.0005, checkpoints_s=0.0013, late_rank=1, trace=traced(mm_s=0.002, add_s=0.004)
    )
    assert list(first.numbers) != list(again.numbers), "by gain and by time they have another order"
    assert set(first.numbers) == set(again.numbers)
    for key, number in first.numbers.items():
        if ".recommendation." not in key:
            assert re.sub(r"\d+", "", number.what) == re.sub(r"\d+", "", again.numbers[key].what)
    log = f"{POINT}.recommendation.sync-logging.log_less_often.gain"
    save = f"{POINT}.recommendation.checkpointing.save_less_often.gain"
    assert first.numbers[log].value > first.numbers[save].value
    assert again.numbers[log].value < again.numbers[save].value
    by_rank = [numbers.renamed[f"{POINT}.recommendation1.gain"] for numbers in (first, again)]
    assert by_rank == [log, save], "a rank meant another recommendation after each measurement"


def test_operators_have_keys_of_their_names(plan: Plan) -> None:
    trace = traced(mm_s=0.004, add_s=0.002)
    numbers = measured(plan, pace=1.0, logging_s=0.001, checkpoints_s=0.001, late_rank=0, trace=trace).numbers
    keys = [key.split(".")[3] for key in numbers if re.match(r"trace\..*\.operator\..*\.time_ms", key)]
    assert keys[:3] == ["aten-mm", "aten-add", "aten-add_"]
    assert re.fullmatch("void-gemm-float-int-[0-9a-f]{6}", keys[3]), (
        "letters were lost, so that a hash tells it apart"
    )
    assert all(re.fullmatch(r"[a-z0-9._-]+", key) for key in numbers), "no key needs escaping in LaTeX"


def changed_keys() -> list[tuple[str, str]]:
    """The rows of the changelog's table of keys of evidence: (old, new)."""
    section = CHANGELOG.read_text(encoding="utf-8").split("### Keys of numbers", 1)[1].split("\n## ", 1)[0]
    return re.findall(r"^\| `(finding\.[^`]+)` \| `([^`]+)` \|$", section, flags=re.M)


def test_the_changelog_has_the_new_key_of_every_old_one() -> None:
    rows = changed_keys()
    assert len(rows) > 40
    for old, new in rows:
        assert new_key(f"{POINT}.{old}") == f"{POINT}.{new}"
    assert new_key(f"{POINT}.finding.healthy.efficiency") is None
    assert new_key(f"{POINT}.speedup") is None
