"""The answers of realistic studies are those of answers.txt, word for word.

Read a changed answer aloud, as somebody who does not know the field, before you write it there.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from builders import observation, printed_of, results_of, runs_of
from conftest import mlp_workload, small_content
from scalestudy.publish.views.answers import Answer
from scalestudy.publish.views.told import Told
from scalestudy.study.config.load import parse_study
from scalestudy.study.plan import make_plan
from scalestudy.study.spec import RunSpec

NOISE = (0.99, 1.02, 1.0, 0.98)
BATCH = 64
WRAPPERS = {"single": {"strategy": "single"}, "ddp": {"strategy": "ddp"}, "fsdp": {"strategy": "fsdp"}}
EXPECTED = Path(__file__).with_name("answers.txt")


class Case(NamedTuple):
    """A study and what it measures."""

    speedup: Callable[[RunSpec], float | str]
    """Of a run of several ranks; or the outcome of any run, instead of its speedup."""
    scales: tuple[str, ...] = ("1x2",)
    scaling: tuple[str, ...] = ("strong",)
    repeats: int = 3
    noise: float = 1
    accuracy: Callable[[RunSpec], float] = lambda _: 0.9
    device: str = "NVIDIA H100"
    disturbed: int = 0
    """Runs from this repeat on were measured under other load; 0 if none was."""
    more: dict[str, Any] | None = None
    """Further keys of the study."""


def by_ranks(speedups: dict[int, float | str]) -> Callable[[RunSpec], float | str]:
    return lambda spec: speedups.get(spec.world_size, 1.0)


def answer_of(case: Case) -> Answer:
    content = small_content() | {"repeats": case.repeats, "scales": list(case.scales)} | (case.more or {})
    content["workloads"] = {"gpt": mlp_workload(scaling=list(case.scaling), batch_size=BATCH)}
    plan = make_plan(parse_study(content, source="x"))
    observations = []
    for spec in plan.runs.values():
        speedup = case.speedup(spec)
        outcome = speedup if isinstance(speedup, str) else "ok"
        time_s = 0.010 * spec.batch_per_rank / BATCH
        if outcome == "ok" and spec.world_size > 1:
            noise = 1 + case.noise * (NOISE[spec.repeat - 1] - 1)
            time_s *= spec.world_size / speedup * noise
        steps = [[time_s] * 40 if outcome == "ok" else []] * spec.world_size
        observations.append(observation(spec, steps, outcome=outcome, accuracy=case.accuracy(spec)))
    runs = runs_of(plan.study, observations)
    runs["device"] = case.device
    if case.disturbed:
        runs.loc[runs["repeat"] >= case.disturbed, "spoiled"] = "other_load"
    (found,) = printed_of(plan, results_of(plan, runs))["answers"]
    return found


CASES: dict[str, Case] = {
    "healthy on eight GPUs": Case(by_ranks({2: 1.93, 4: 3.7, 8: 7.2}), scales=("1x2", "1x4", "1x8")),
    "slower than one": Case(by_ranks({2: 0.42}), device="cpu"),
    "eight slower than one, four not": Case(by_ranks({2: 1.9, 4: 3.5, 8: 0.7}), scales=("1x2", "1x4", "1x8")),
    "eight miss the target, and four are faster": Case(
        by_ranks({2: 1.9, 4: 3.5, 8: 2.4}), scales=("1x2", "1x4", "1x8")
    ),
    "eight miss the target, and four meet it": Case(
        by_ranks({2: 1.9, 4: 2.9, 8: 3.2}), scales=("1x2", "1x4", "1x8"), scaling=("weak",)
    ),
    "wide intervals": Case(by_ranks({2: 1.5}), noise=6),
    "not known whether faster": Case(by_ranks({2: 1.05}), noise=6),
    "a target that one GPU meets": Case(by_ranks({2: 1.02}), more={"report": {"target_efficiency": 0.4}}),
    "equal to the target": Case(by_ranks({2: 1.5}), noise=0.3),
    "only weak scaling": Case(by_ranks({2: 1.9}), scaling=("weak",)),
    "strong and weak with opposite verdicts": Case(
        lambda spec: 1.0 if spec.world_size == 1 else 0.6 if spec.batch_per_rank < BATCH else 1.9,
        scaling=("strong", "weak"),
    ),
    "accuracy lost": Case(
        by_ranks({2: 1.9}), accuracy=lambda spec: 0.9 - (spec.world_size - 1) * (0.1 - 0.004 * (spec.repeat % 2))
    ),
    "accuracy not known": Case(
        by_ranks({2: 1.9}), accuracy=lambda spec: 0.9 - 0.06 * (spec.world_size - 1) * (spec.repeat % 2)
    ),
    "accuracy lower in every run, not shown": Case(
        by_ranks({2: 1.9}), accuracy=lambda spec: 0.9 - (spec.world_size - 1) * (0.02 + 0.07 * (spec.repeat % 2))
    ),
    "out of memory at larger scales": Case(
        lambda spec: {1: 1.0, 2: 1.9, 4: "oom"}.get(spec.world_size, "timeout" if spec.repeat == 3 else "oom"),
        scales=("1x2", "1x4", "1x8"),
    ),
    "out of memory on two nodes": Case(by_ranks({2: 1.9, 8: "oom"}), scales=("1x2", "2x4")),
    "half of the runs disturbed": Case(by_ranks({2: 1.9}), repeats=4, disturbed=3),
    "all runs disturbed, and undecided": Case(by_ranks({2: 1.5}), noise=6, disturbed=1),
    "only failed runs": Case(by_ranks({2: "failed"})),
    "one run, which diverged": Case(by_ranks({2: "diverged"}), repeats=1),
    "no baseline": Case(by_ranks({1: "oom", 2: 1.9})),
    "one run without interval": Case(by_ranks({2: 1.8}), repeats=1),
    "one run above the ideal": Case(by_ranks({2: 2.1}), repeats=1),
    "FSDP against DDP": Case(
        lambda spec: {"single": 1.0, "ddp": 1.9, "fsdp": 1.6}[spec.variant], more={"variants": WRAPPERS}
    ),
    "nodes and GPUs": Case(by_ranks({2: 1.9, 16: 13.5}), scales=("1x2", "2x8"), scaling=("weak",)),
    "two repeats": Case(by_ranks({2: 1.9}), repeats=2),
    "the cheapest is wanted": Case(
        by_ranks({2: 1.9, 4: 3.2}), scales=("1x2", "1x4"), more={"report": {"goal": "cost_per_sample"}}
    ),
}


def expected() -> dict[str, str]:
    """The answers by the names of their cases: a line `## NAME`, and the answer below it."""
    blocks = EXPECTED.read_text(encoding="utf-8").split("## ")[1:]
    return {name: " ".join(text.split()) for name, _, text in (block.partition("\n") for block in blocks)}


def test_every_answer_has_its_case() -> None:
    assert list(expected()) == list(CASES)


@pytest.mark.parametrize("name", CASES)
def test_the_answer_is_these_sentences(name: str) -> None:
    assert answer_of(CASES[name]).text == expected()[name]


def test_a_script_may_be_called_train() -> None:
    content = small_content() | {"workloads": {"train": {"command": "train.py {batch_per_rank}", "batch_size": 8}}}
    told = Told(parse_study(content, source="x"), None)  # type: ignore[arg-type]
    assert told.named("train") == "the workload train"
    assert told.named("another") == "another"
