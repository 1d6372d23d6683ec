"""Diagnoses of a user's own script: every cause, its advice, and the note if a cause could not be judged."""

from __future__ import annotations

import ast
import functools
import json
from math import nan
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import scalestudy
from builders import diagnosed, summary_of
from scalestudy.diagnose.causes import CAUSES
from scalestudy.diagnose.findings import Diagnosis
from scalestudy.diagnose.scripts import IN_SCRIPT
from scalestudy.diagnose.unseen import ALWAYS_SEEN, UNSEEN
from scalestudy.recorder import PARTS
from scalestudy.study.config.load import merge, parse_study
from scalestudy.study.config.variants import DdpOptions, FsdpOptions, InputOptions, Knobs
from scalestudy.study.plan import Plan, make_plan

SLOW = {("own", 1, 32): 0.0010, ("own", 1, 16): 0.0006, ("own", 2, 16): 0.0040, ("own", 2, 32): 0.0041}
HEALTHY = {("own", 1, 32): 0.0100, ("own", 1, 16): 0.0055, ("own", 2, 16): 0.0058, ("own", 2, 32): 0.0104}
NOISE = (1.0, 1.004, 0.997)
DDP = {"wrapper": "ddp", "late_by": "blocks"}
FAST_LINK = {
    "all_reduce_latency_s": 1e-4,
    "all_reduce_gib_per_s": 1.0,
    "all_reduce_bus_gib_per_s": 1.0,
    "all_reduce_small_share": 0.05,
}
SLOW_LINK = FAST_LINK | {"all_reduce_gib_per_s": 0.05, "all_reduce_bus_gib_per_s": 0.05, "gradient_bytes": 1e5}
WITH_BATCH, WITHOUT_BATCH = "train.py --batch {batch_per_rank} --lr {learning_rate}", "train.py"


def limits(name: str, value: float) -> dict[str, float]:
    return {name: value, f"{name}_low": 0.99 * value, f"{name}_high": 1.01 * value}


LOW_ACCURACY = {"accuracy_kept": "lower", "validation_accuracy": 0.8} | limits("accuracy_difference", -0.05)
CASES: dict[str, tuple[dict, dict[str, Any], dict[str, Any], str]] = {
    # step times, columns, what was seen of the script, the cause
    "two-modes": (
        HEALTHY,
        {"launches_of_two_modes": 3, "steadiness": "two_modes", "slow_mode_share": 0.4}
        | {"fast_mode_s": 0.003, "slow_mode_s": 0.006, "speedup_low": 1.2},
        {},
        "two-modes",
    ),
    "thermal": (
        HEALTHY,
        {"launches_throttled": 3, "steadiness": "level_change", "launches_unsteady": 3}
        | {"level_change": 0.1, "level_changed_after_steps": 60},
        {},
        "thermal",
    ),
    "oversubscribed": (SLOW, {"threads_per_core": 4.0, "threads_per_rank": 4.0}, {}, "confounded"),
    "oversubscribed alike": (SLOW, {"threads_per_core": 2.0}, {}, "oversubscribed"),
    "numa": (SLOW, {"numa_ranks": "[1]", "numa_excess_s": 0.0033}, {}, "numa"),
    "input-bound": (SLOW, limits("data_time_s", 0.0033), {"input": {"workers": 0}}, "input-bound"),
    "input-bound with workers": (
        SLOW,
        limits("data_time_s", 0.0033) | {"device": "NVIDIA H100"},
        {"input": {"workers": 2, "persistent_workers": False}},
        "confounded",
    ),
    "sync-logging": (SLOW, limits("logging_time_s", 0.0032), {}, "sync-logging"),
    "checkpointing": (SLOW, limits("checkpoint_time_s", 0.0032), {}, "checkpointing"),
    "checkpointing, apart": (
        SLOW,
        limits("checkpoint_apart_s", 0.0032),
        {"checkpoint_every_steps": 3},
        "checkpointing",
    ),
    "imbalance": (SLOW, {"samples_excess": 0.2, "heaviest_rank": 1}, {}, "imbalance"),
    "straggler": (
        SLOW,
        {"late_rank": 1.0, "late_share": 1.0, "late_by": "blocks"} | limits("lateness_s", 0.003),
        {},
        "straggler",
    ),
    "straggler by steps": (
        SLOW,
        {"late_rank": 1.0, "late_share": 1.0, "late_by": "steps"} | limits("lateness_s", 0.003),
        {},
        "straggler",
    ),
    "transport": (SLOW, SLOW_LINK, {}, "transport"),
    "accum-no-nosync": (SLOW, {}, {"accumulation_steps": 4, "accumulation_sync": True}, "accum-no-nosync"),
    "unused-params": (
        SLOW,
        {"unused_parameter_bytes": 0.0},
        {"ddp": {"find_unused_parameters": True}},
        "unused-params",
    ),
    "bucket-size": (
        SLOW,
        FAST_LINK | {"buckets": 30, "gradient_bytes": 1e6},
        {"ddp": {"bucket_cap_mb": 0.01}},
        "bucket-size",
    ),
    "sync-bn": (SLOW, FAST_LINK | {"synchronised_norms": 16.0}, {}, "sync-bn"),
    "buffers": (SLOW, FAST_LINK | {"buffer_broadcast_s": 0.0031, "buffer_bytes": 8e6}, {}, "buffers"),
    "comm-bound": (SLOW, {}, {}, "comm-bound"),
    "launch-bound": (
        HEALTHY | {("own", 1, 16): 0.0090, ("own", 2, 16): 0.0092},
        {},
        {"compile": True},
        "launch-bound",
    ),
    "launch-bound, not compiled": (
        HEALTHY | {("own", 1, 16): 0.0090, ("own", 2, 16): 0.0092},
        {},
        {},
        "launch-bound",
    ),
    "memory-growth": (
        HEALTHY,
        {"launches_growing": 3, "memory_growth_kind": "resident", "memory_growth_rank": 1.0}
        | limits("memory_growth_gib_per_1000_steps", 0.1),
        {},
        "memory-growth",
    ),
    "memory-pressure": (HEALTHY, {"allocation_retries": 3.0}, {}, "memory-pressure"),
    "fragmentation": (
        HEALTHY,
        {"allocation_retries": 3.0, "peak_reserved_gib": 60.0, "peak_allocated_gib": 30.0},
        {},
        "fragmentation",
    ),
    "large-batch": (HEALTHY, LOW_ACCURACY, {}, "large-batch"),
    "healthy": (HEALTHY, {}, {}, "healthy"),
    "unexplained": (
        HEALTHY,
        {"speedup": 1.6, "speedup_low": 1.3, "speedup_high": 1.9, "logging_time_s": nan},
        {"accumulation_steps": 4},
        "unexplained",
    ),
    "unexplained, not to be told": (
        SLOW,
        {"overhead_s_low": -0.001, "logging_time_s": nan},
        {"accumulation_steps": 4},
        "unexplained",
    ),
    "unexplained, of a step alone": (
        SLOW,
        {"overhead_share": 0.05, "logging_time_s": nan},
        {},
        "unexplained",
    ),
    "unexplained, without a reference": (SLOW, {"overhead_s": nan, "overhead_s_low": nan}, {}, "unexplained"),
}


def study_of(command: str, **changes: Any) -> dict[str, Any]:
    """A study of a script; without a place for its batch it scales in one way only."""
    scaling = ["strong", "weak"] if "{batch_per_rank}" in command else ["strong"]
    workload = {"command": command, "batch_size": 32, "scaling": scaling, "learning_rate": 0.1}
    return {
        "study": "own",
        "repeats": 3,
        "scales": ["1x2"],
        "variants": {"alone": {"strategy": "single"}, "copies": {"strategy": "ddp", "base": "alone"}},
        "host": {"device": "cpu"},
        "workloads": {"own": workload},
    } | changes


@functools.cache
def summary_and_plan(content: str, times: tuple[tuple[Any, float], ...]) -> tuple[pd.DataFrame, Plan]:
    """Of a study as JSON, whose runs have these step times: many cases have the same."""
    plan = make_plan(parse_study(json.loads(content), source="x"))
    return summary_of(plan, {key: [time * factor for factor in NOISE] for key, time in times}), plan


def diagnose(content: dict[str, Any], times: dict, columns: dict[str, Any], seen: dict[str, Any]) -> Diagnosis:
    """Of strong scaling on two ranks, whose row has these columns."""
    summary, plan = summary_and_plan(json.dumps(content), tuple(times.items()))
    summary = summary.copy()
    row = (summary["scaling"] == "strong") & (summary["variant"] == "copies")
    for name, value in (DDP | columns | {"seen": json.dumps(seen)}).items():
        if isinstance(value, str):
            summary[name] = summary[name].astype(object)
        summary.loc[row, name] = value
    return next(d for d in diagnosed(plan, summary) if d.scaling == "strong" and d.variant == "copies")


def sharded(content: dict[str, Any], fails: str | None) -> list[Diagnosis]:
    """Of DDP and FSDP beside each other: fails, the variant that runs out of memory."""
    variants = content["variants"] | {"shards": {"strategy": "fsdp", "base": "alone", "arguments": "--fsdp"}}
    plan = make_plan(parse_study(content | {"variants": variants}, source="x"))
    summary = summary_of(plan, {key: [time * factor for factor in NOISE] for key, time in HEALTHY.items()})
    summary["seen"] = summary["seen"].astype(object)
    for variant, factor in {"copies": 1.0, "shards": 1.5}.items():
        row = summary["variant"] == variant
        summary.loc[row, ["step_time_s", "step_time_s_low", "step_time_s_high"]] *= factor
        if variant == fails:
            summary.loc[row, ["launches_ok", "launches_oom"]] = [0, 3]
            summary.loc[row, ["speedup", "step_time_s"]] = nan
    return [d for d in diagnosed(plan, summary) if d.scaling == "strong"]


@functools.cache
def all_diagnoses(command: str) -> dict[str, tuple[dict[str, Any], Diagnosis]]:
    """Name -> (study, diagnosis), of every case there is."""
    content = study_of(command)
    found = {
        name: (
            content | ({"report": {"overhead_reference": False}} if name.endswith("without a reference") else {}),
            (times, columns, seen),
        )
        for name, (times, columns, seen, _) in CASES.items()
    }
    diagnoses = {name: (study, diagnose(study, *given)) for name, (study, given) in found.items()}
    both = content["variants"] | {"shards": {"strategy": "fsdp", "base": "alone", "arguments": "--fsdp"}}
    for number, diagnosis in enumerate([*sharded(content, None), *sharded(content, "copies")]):
        diagnoses[f"sharded {number}"] = (content | {"variants": both}, diagnosis)
    plan = make_plan(parse_study(content, source="x"))
    ended = {key: ["oom"] * 3 if key[1] == 2 else [time] * 3 for key, time in HEALTHY.items()}
    alone = next(d for d in diagnosed(plan, summary_of(plan, ended)) if d.scaling == "strong")
    return diagnoses | {"ddp-oom": (content, alone)}


def test_every_cause_is_found_in_a_script() -> None:
    for name, (*_, cause) in CASES.items():
        findings = all_diagnoses(WITH_BATCH)[name][1].findings
        assert cause in [finding.cause for finding in findings], name


REFUSED = set(Knobs.model_fields) - {"strategy"}
NESTED = {*DdpOptions.model_fields, *FsdpOptions.model_fields, *InputOptions.model_fields}


@pytest.mark.parametrize("command", [WITH_BATCH, pytest.param(WITHOUT_BATCH, marks=pytest.mark.slow)])
def test_no_advice_for_a_script_is_a_key_that_a_command_does_not_take(command: str) -> None:
    """A patch is taken by the study and changes it; words name no key of our own training."""
    met = set()
    for name, (content, diagnosis) in all_diagnoses(command).items():
        for _, advice in diagnosis.recommendations:
            met.add(advice.id)
            assert "would refuse" not in advice.warning, (name, advice)
            if advice.patch:
                assert parse_study(merge(content, advice.patch), source="patched") != parse_study(
                    content, source="x"
                )
            said = f"{advice.change} {advice.warning} {advice.unpredicted}"
            for key in REFUSED | NESTED:
                assert f"{key}: " not in said, (name, said)
                assert f".{key}" not in said.replace("torch.compile", ""), (name, said)
    assert met >= set(IN_SCRIPT), set(IN_SCRIPT) - met
    assert met >= ids_of_patches(), ids_of_patches() - met


def ids_of_patches() -> set[str]:
    """Of every recommendation in the code that has a patch of the study."""
    found = set()
    for path in (Path(scalestudy.__file__).parent / "diagnose").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Recommendation":
                given = {word.arg: word.value for word in node.keywords}
                if "patch" in given and isinstance(given["id"], ast.Constant):
                    found.add(given["id"].value)
    assert len(found) > 15
    return found


def test_a_batch_is_patched_where_the_command_has_a_place_for_it() -> None:
    advice = {
        command: next(
            r for _, r in all_diagnoses(command)["comm-bound"][1].recommendations if r.id == "larger_batch"
        )
        for command in (WITH_BATCH, WITHOUT_BATCH)
    }
    patch = advice[WITH_BATCH].patch
    assert patch is not None
    assert patch["workloads"]["own"]["batch_size"] > 32
    assert advice[WITHOUT_BATCH].patch is None
    assert "Put {batch_per_rank} where the command takes its batch" in advice[WITHOUT_BATCH].change


def test_an_accumulating_script_is_told_a_batch_that_its_study_takes() -> None:
    content = study_of(WITH_BATCH)
    content["workloads"]["own"]["batches_per_step"] = 8
    content["scales"] = ["1x2"]
    found = diagnose(content, SLOW, {}, {})
    patch = next(r for _, r in found.recommendations if r.id == "larger_batch").patch
    assert patch is not None
    assert patch["workloads"]["own"]["batch_size"] % (8 * 2) == 0


def test_a_learning_rate_is_patched_where_the_command_has_a_place_for_it() -> None:
    for command, patched in ((WITH_BATCH, True), (WITHOUT_BATCH, False)):
        found = all_diagnoses(command)["large-batch"][1].recommendations
        advice = next(r for _, r in found if r.id == "scale_learning_rate")
        assert bool(advice.patch) == patched


def test_every_cause_is_seen_always_or_says_what_would_show_it() -> None:
    ids = {cause.id for cause in CAUSES}
    assert set(UNSEEN) | ALWAYS_SEEN == ids
    assert not set(UNSEEN) & ALWAYS_SEEN


NOTHING = dict.fromkeys(
    (
        *("data_time_s", "logging_time_s", "samples_excess", "all_reduce_bus_gib_per_s", "overhead_s"),
        *("validation_accuracy", "buffer_broadcast_s", "unused_parameter_bytes"),
    ),
    nan,
)


def shown(content: dict[str, Any], columns: dict[str, Any], seen: dict[str, Any]) -> dict[str, str]:
    """Cause -> what would show it."""
    found = diagnose(content, HEALTHY, columns, seen).not_judged
    return {cause: item.shown_by for item in found for cause in item.causes}


def test_what_was_not_seen_is_listed_with_the_line_that_shows_it() -> None:
    content = study_of(WITH_BATCH)
    unseen = NOTHING | {"late_by": "none", "launches_memory_read": 0, "buffer_bytes": 100.0}
    options = {"bucket_cap_mb": 1.0, "find_unused_parameters": True}
    found = shown(content, unseen, {"ddp": options})
    assert set(found) == set(UNSEEN) - {"thermal", "accum-no-nosync", "fsdp-overhead"}
    assert 'rec.part("logging")' in found["sync-logging"]
    assert "rec.steps(loader)" in found["input-bound"]
    assert "rec.samples" in found["imbalance"]
    assert "rec.epoch(validation_accuracy=accuracy)" in found["large-batch"]
    assert found["straggler"] == found["transport"] == found["bucket-size"] == found["buffers"]


def test_what_is_asked_for_follows_from_how_the_study_is_set() -> None:
    lacking = {"all_reduce_bus_gib_per_s": nan, "overhead_s": nan}
    for changes, said in (
        ({"measure": {"probe_rounds": 0}}, "`measure: {probe_rounds: 3}`"),
        ({}, "a script that keeps training until it is stopped"),
    ):
        assert shown(study_of(WITH_BATCH, **changes), lacking, {})["transport"] == said
    content = study_of(WITH_BATCH)
    content["workloads"]["own"]["run_to_end"] = True
    assert shown(content, lacking, {})["transport"] == "`run_to_end: false`"
    assert shown(study_of(WITHOUT_BATCH), lacking, {})["comm-bound"] == "`{batch_per_rank}` in the command"


def test_lines_that_are_named_are_lines_that_there_are() -> None:
    """Parts of the Recorder, and keys of a study."""
    unseen = NOTHING | {"late_by": "none", "launches_memory_read": 0}
    texts = " ".join(shown(study_of(WITH_BATCH), unseen, {}).values())
    assert all(part in PARTS for part in ("logging", "checkpoint"))
    for part in texts.split('rec.part("')[1:]:
        assert part.split('"')[0] in PARTS
    changed = study_of(
        WITH_BATCH,
        measure={"probe_rounds": 3, "min_steps": 400, "max_steps": 800},
        report={"overhead_reference": True},
    )
    changed["workloads"]["own"] |= {"run_to_end": True, "scaling": ["strong", "weak"]}
    parse_study(changed, source="as it is advised")


def test_nothing_is_listed_of_our_own_training(content: dict[str, Any]) -> None:
    plan = make_plan(parse_study(content | {"repeats": 2}, source="x"))
    summary = summary_of(plan, {("mlp", *key[1:]): [time] * 2 for key, time in HEALTHY.items()})
    summary["logging_time_s"] = nan
    assert all(not diagnosis.not_judged for diagnosis in diagnosed(plan, summary))


def test_what_is_outside_of_the_parts_that_were_seen_is_asked_for_first() -> None:
    wide = {"speedup": 1.6, "speedup_low": 1.3, "speedup_high": 1.9, "logging_time_s": nan}
    for outside_s, first in ((0.0020, "name_logging"), (0.0001, "more_repeats")):
        found = diagnose(study_of(WITH_BATCH), HEALTHY, wide | {"remainder_time_s": outside_s}, {})
        assert found.recommendations[0][1].id == first


@pytest.mark.parametrize(("wrapper", "included"), [("none", True), ("ddp", False)])
def test_ranks_without_a_wrapper_communicate_outside_of_the_parts(wrapper: str, included: bool) -> None:
    """Neither DDP nor FSDP: an all-reduce of the script itself, Horovod or DeepSpeed."""
    seen = {"logging_time_s": nan, "remainder_time_s": 0.0020, "wrapper": wrapper}
    wide = {"speedup": 1.6, "speedup_low": 1.3, "speedup_high": 1.9}
    found = diagnose(study_of(WITH_BATCH), HEALTHY, wide | seen, {})
    assert ("communication between ranks included" in found.recommendations[0][1].change) is included
    missing = next(one.unseen for one in found.not_judged if "sync-logging" in one.causes)
    assert ("logging and communication between ranks" in missing) is included
