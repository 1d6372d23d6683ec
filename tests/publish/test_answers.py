"""The first sentences of every document: an answer for each verdict, with its interval, baseline and numbers."""

from __future__ import annotations

import html
import re
from typing import Any

import pytest
from builders import book_of, page_of, printed_of, results_of, study_of
from conftest import mlp_workload
from scalestudy.publish.results import Results
from scalestudy.publish.templates import DIRECTORY, render
from scalestudy.publish.views.answers import MOST_TOLD, Answer, answers_view
from scalestudy.registry.codes import Verdict
from scalestudy.study.config.load import parse_study
from scalestudy.study.plan import Plan, make_plan

NOISE = (1.0, 1.02, 0.99)


def made(
    content: dict[str, Any], *speedups: float | str | list[float], scaling: str = "strong", **more: Any
) -> Any:
    """(plan, results) of a study with these speedups on 2, 4, ... ranks, or an outcome instead of a speedup."""
    content["workloads"]["mlp"]["scaling"] = [scaling]
    scales = [f"1x{2 ** (index + 1)}" for index, _ in enumerate(speedups)]
    plan = make_plan(parse_study(content | {"repeats": 3, "scales": scales} | more, source="x"))
    times: dict[Any, Any] = {}
    for spec in plan.runs.values():
        place = spec.workload, spec.world_size, spec.batch_per_rank
        if spec.world_size == 1:
            times[place] = [0.010 * spec.batch_per_rank / 32 * noise for noise in NOISE]
            continue
        speedup = speedups[spec.world_size.bit_length() - 2]
        each = speedup if isinstance(speedup, list) else [speedup] * 3
        alone = 0.010 * spec.batch_per_rank * spec.world_size / 32
        times[place] = [
            one if isinstance(one, str) else alone / one * noise for one, noise in zip(each, NOISE, strict=True)
        ]
    return plan, results_of(plan, study_of(plan, times))


def answer(plan: Plan, results: Results) -> tuple[Answer, str]:
    """The answer, and the verdict of the point that it is about."""
    facts = printed_of(plan, results)
    (found,) = facts["answers"]
    (key, *_) = [piece.key for piece in found.said.pieces if piece.key] or [""]
    verdict = next((d["code"] for d in facts["diagnoses"] if key.startswith(f"{d['row']['key']}.")), "")
    assert verdict in ("", found.verdict)
    return found, verdict


def test_healthy_on_gpus(content: dict[str, Any]) -> None:
    plan, results = made(content, [1.93, 1.91, 1.95])
    results.summary["device"] = "NVIDIA H100"
    found, verdict = answer(plan, results)
    assert verdict == Verdict.HEALTHY
    speedup = book_of(plan, results).shown("mlp.ddp.strong.n2.speedup")
    assert speedup.value.startswith("1.93")
    efficiency = book_of(plan, results).shown("mlp.ddp.strong.n2.efficiency_percent").value
    assert found.said == (
        f"Two GPUs train mlp {speedup.value} times as fast as one (95 % interval {speedup.low} to {speedup.high})."
    )
    assert (
        found.meaning
        == f"The ideal is 2 times; this is {efficiency} % of it and meets the study's target of 75 %."
    )
    assert found.to_do.startswith("Use both GPUs. To go further: Add ranks: also measure 1x4")
    assert found.compared == (
        "Compared: ddp on 2 GPUs with single on one GPU, at the same batch of 32 in total, in 3 repeats."
    )
    keys = [piece.key for piece in (*found.said.pieces, *found.meaning.pieces) if piece.key]
    assert keys == ["mlp.ddp.strong.n2.speedup", "mlp.ddp.strong.n2.efficiency_percent"]


CASES: dict[str, tuple[list[Any], str, str, str]] = {
    # (speedups of 2 ranks), verdict, in the answer, in what to do
    "poor": ([1.3, 1.31, 1.29], "poor", "as fast as one", "misses the study's target of 75 %."),
    "negative": (
        [0.5, 0.51, 0.5],
        "negative_scaling",
        "Two processes train mlp more slowly than one: 0.50",
        "lose more",
    ),
    "open": (
        [0.9, 1.4, 1.1],
        "undecided",
        "It is not known whether 2 processes train mlp faster than one",
        "includes 1",
    ),
    "undecided": (
        [1.4, 1.55, 1.45],
        "undecided",
        "as fast as one (95 % interval",
        "may or may not meet the study's target",
    ),
    "at target": ([1.5, 1.501, 1.499], "at_target", "as fast as one", "equals the study's target of 75 % within"),
}


@pytest.mark.parametrize("name", CASES)
def test_a_verdict_has_its_sentences(content: dict[str, Any], name: str) -> None:
    speedups, expected, *said = CASES[name]
    found, verdict = answer(*made(content, speedups))
    assert verdict == expected
    for part in said:
        assert part in f"{found.said} {found.meaning}"
    assert found.to_do.count("Use one process") == (name == "negative")
    assert found.to_do
    assert ("Use both processes." in found.to_do) == (name == "at target")


def test_one_run_has_no_interval(content: dict[str, Any]) -> None:
    plan, results = made(content, 1.8)
    first = results.runs[results.runs["repeat"] == 1]
    one = make_plan(plan.study.model_copy(update={"repeats": 1}))
    found, _ = answer(one, results_of(one, first[first["run_id"].isin(one.runs)]))
    assert "Two processes train mlp 1.80 times as fast as one (one run, so there is no interval)." in found.said
    assert "another one may change this" in found.meaning
    assert "Use both processes if further runs agree." in found.to_do
    assert found.compared.endswith(", in 1 repeat.")


def test_the_answer_is_about_the_largest_measured_scale_and_names_what_failed(content: dict[str, Any]) -> None:
    found, _ = answer(*made(content, [1.9, 1.91, 1.9], [3.5, 3.51, 3.49], "oom"))
    assert found.said.startswith("Four processes train mlp 3.5")
    assert found.meaning.endswith("No run completed on 8 processes: all 3 runs ran out of memory.")


def test_two_runs_are_named(content: dict[str, Any]) -> None:
    found, _ = answer(*made(content, [1.9, 1.91, "oom"]))
    assert found.meaning.endswith("Note: this rests on two runs only.")
    assert found.compared.endswith(", in 2 repeats.")


def test_the_next_of_several_variants_is_named(content: dict[str, Any]) -> None:
    content["variants"]["other"] = {"strategy": "ddp", "ddp": {"bucket_cap_mb": 5}}
    plan, results = made(content, [1.9, 1.91, 1.9], scaling="weak")
    found, _ = answer(plan, results)
    assert "at a batch of 32 for each process, in 3 repeats." in found.compared
    assert "Of the 2 variants on 2 processes, this has the highest speedup; next is other: " in found.compared


def test_without_a_speedup_the_reason(content: dict[str, Any]) -> None:
    found, _ = answer(*made(content, "oom"))
    reason = "no run completed on 2 processes (all 3 runs ran out of memory)"
    assert found.said == f"It is not known how much faster 2 processes train mlp than one: {reason}."
    assert found.to_do
    assert not found.compared


def test_other_work_is_not_compared(content: dict[str, Any]) -> None:
    plan, results = made(content, 1.9)
    runs = results.runs.copy()
    runs.loc[runs["variant"] == "ddp", "precision"] = "bf16"
    found, _ = answer(plan, results_of(plan, runs))
    assert "the rows do not do the same work, so their ratio is not a speedup" in found.said
    assert "Run the baseline with the settings of this variant" in found.to_do


def test_every_document_begins_with_the_answer(content: dict[str, Any]) -> None:
    plan, results = made(content, [1.3, 1.31, 1.29])
    facts = printed_of(plan, results)
    (found,) = facts["answers"]
    text = render(DIRECTORY / "performance_report.txt", **facts)
    assert max(map(len, text.splitlines())) <= 80
    flat = " ".join(text.split())
    assert f"ANSWER ------ {found.text} SUMMARY" in flat
    page = page_of(plan, results)
    assert page.index('<section aria-label="Answer"') < page.index('<section aria-label="Verdicts"')
    shown = " ".join(html.unescape(re.sub(r"<[^>]+>", " ", page)).split())
    for part in (found.said, found.meaning, found.to_do, found.compared):
        assert re.sub(r"\s", "", part) in re.sub(r"\s", "", shown)
    for piece in (*found.said.pieces, *found.meaning.pieces):
        assert not piece.key or f'title="{piece.key}">{piece.text}</a>' in page


def test_of_many_workloads_each_has_its_first_sentences(content: dict[str, Any]) -> None:
    content["workloads"] = {name: mlp_workload(scaling=["strong"]) for name in ("mlp", "b", "c", "d")}
    assert len(content["workloads"]) > MOST_TOLD
    facts = printed_of(*made(content, [1.3, 1.31, 1.29]))
    assert [" ".join(one.said.split()[:4]) for one in facts["answers"]] == [
        f"Two processes train {name}" for name in content["workloads"]
    ]
    assert not any(one.to_do or one.compared for one in facts["answers"])


def test_braces_in_a_name_are_kept(content: dict[str, Any]) -> None:
    plan, results = made(content, [1.3, 1.31, 1.29])
    facts, book = printed_of(plan, results), book_of(plan, results)
    named = [d | {"workload": "{speedup} {0}"} for d in facts["diagnoses"]]
    assert answers_view(named, plan.study, book)[0].said.startswith("Two processes train {speedup} {0} 1.30")


def test_a_study_of_single_processes_has_no_answer(content: dict[str, Any]) -> None:
    content |= {"scales": ["1x1"], "variants": {"single": {"strategy": "single"}}}
    plan = make_plan(parse_study(content, source="x"))
    times = {(s.workload, s.world_size, s.batch_per_rank): [0.01, 0.01] for s in plan.runs.values()}
    facts = printed_of(plan, results_of(plan, study_of(plan, times)))
    assert facts["answers"] == []
    assert "ANSWER" not in render(DIRECTORY / "performance_report.txt", **facts)
