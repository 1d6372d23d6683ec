"""The six cases that the project began with: from their numbers alone, their authors' verdict and advice."""

from __future__ import annotations

from math import nan
from typing import Any

import pandas as pd
import pytest
from builders import diagnosed, summary_of
from scalestudy.diagnose.findings import Diagnosis
from scalestudy.publish.numbers.rounding import show
from scalestudy.record.observation import PART_COLUMNS
from scalestudy.study.config.load import parse_study
from scalestudy.study.plan import make_plan

MODEL = {"type": "mlp", "hidden_dim": 16}
DATA = {"type": "synthetic-vectors", "samples": 65536, "features": 8, "classes": 4}


def judged(
    times: dict[tuple[int, int], float],
    *,
    ranks: int,
    batch: int,
    scaling: str,
    variants: dict[str, Any] | None = None,
    seen: dict[str, Any] | None = None,
) -> dict[str, Diagnosis]:
    """Diagnoses by variant of a published case: one run, no parts of the step, no probes.

    times: (ranks, batch per rank) -> seconds of a step. seen: columns of the distributed rows that were published.
    """
    content = {
        "study": "seed",
        "repeats": 1,
        "scales": [f"1x{ranks}"],
        "variants": {"single": {"strategy": "single"}, "ddp": {"strategy": "ddp"}} | (variants or {}),
        "workloads": {
            "task": {"model": MODEL, "data": DATA, "optimizer": {"type": "sgd"}, "batch_size": batch, "epochs": 1}
            | {"scaling": [scaling]}
        },
        "host": {"device": "cpu"},
    }
    plan = make_plan(parse_study(content, source="x"))
    summary = summary_of(plan, {("task", *key): [time] for key, time in times.items()})
    leave_out_parts(summary)
    for name, value in (seen or {}).items():
        summary.loc[summary["world_size"] > 1, name] = value
    return {diagnosis.variant: diagnosis for diagnosis in diagnosed(plan, summary)}


def leave_out_parts(summary: pd.DataFrame) -> None:
    """Nobody published the parts of a step."""
    parts = [column for column in summary if column.removesuffix("_low").removesuffix("_high") in PART_COLUMNS]
    summary[parts] = nan


def advice(diagnosis: Diagnosis) -> str:
    return " ".join(one.change for finding in diagnosis.findings for one in finding.recommendations)


def causes(diagnosis: Diagnosis) -> list[str]:
    return [finding.cause for finding in diagnosis.findings]


def test_imdb_on_four_gpus_scales() -> None:
    """3.49 times, 87.3 %."""
    found = judged({(1, 32): 0.349, (1, 8): 0.09, (4, 8): 0.1}, ranks=4, batch=32, scaling="strong")["ddp"]
    assert (found.verdict, causes(found)) == ("healthy", ["healthy"])
    assert "3.49 times as fast as one process" in found.findings[0].explanation


def test_ag_news_on_four_gpus_is_too_small() -> None:
    """0.46 times; 20 to 30 ms of computation, 40 to 50 ms of synchronisation, 8 samples a GPU."""
    times = {(1, 32): 0.46 * 0.070, (1, 8): 0.025, (4, 8): 0.070}
    synchronised = {"overhead_s": 0.045, "overhead_s_low": 0.040, "overhead_s_high": 0.050}
    found = judged(times, ranks=4, batch=32, scaling="strong", seen=synchronised)["ddp"]
    assert (found.verdict, causes(found)) == ("negative_scaling", ["comm-bound", "launch-bound"])
    assert "Use one process" in advice(found)
    assert "Raise the batch from 32 to" in advice(found)


def test_an_mlp_of_batch_256_on_two_v100() -> None:
    """7.60 to 41.40 ms: 0.37 times, and 18 % where the table printed a dash."""
    overhead = {"overhead_s_low": 0.033, "overhead_s_high": 0.0346}
    found = judged({(1, 256): 0.0076, (2, 256): 0.0414}, ranks=2, batch=256, scaling="weak", seen=overhead)["ddp"]
    assert (found.verdict, causes(found)) == ("negative_scaling", ["comm-bound"])
    evidence = {item.id: item.value for item in found.findings[0].evidence}
    assert evidence["overhead"] == pytest.approx(33.8)
    assert evidence["share_of_step"] == pytest.approx(81.6, abs=0.1)


def test_the_same_mlp_at_batch_4096() -> None:
    """99.77 to 114.24 ms: 1.75 times, 87 %; 14.5 ms exposed, 12.7 % of the step."""
    found = judged({(1, 4096): 0.09977, (2, 4096): 0.11424}, ranks=2, batch=4096, scaling="weak")["ddp"]
    assert (found.verdict, causes(found)) == ("healthy", ["healthy"])
    evidence = {item.id: item.value for item in found.findings[0].evidence}
    assert evidence["efficiency"] == pytest.approx(87.3, abs=0.1)
    assert evidence["overhead_share"] == pytest.approx(12.7, abs=0.1)
    assert show(1.7467).value == "1.75"


def test_fine_tuning_that_logs_every_step() -> None:
    """18 to 15 minutes on two GPUs; logging every step, accumulation 4, batch 2."""
    settings = {"accumulation_steps": 4}
    variants = {
        "single": {"strategy": "single", **settings},
        "ddp": {"strategy": "ddp", "log_every_steps": 1, **settings},
    }
    times = {(1, 16): 18.0, (1, 8): 9.0, (2, 8): 15.0}
    unknown = {"overhead_s": nan, "overhead_s_low": nan, "overhead_s_high": nan, "overhead_share": nan}
    unknown |= {"step_time_alone_s": nan}
    found = judged(times, ranks=2, batch=16, scaling="strong", variants=variants, seen=unknown)["ddp"]
    assert (found.verdict, causes(found)) == ("poor", ["unexplained"])
    for words in ("Log every 10 steps instead of every 1", "larger micro-batches: 2 instead of 4", "Read ahead"):
        assert words in advice(found)


def test_fsdp_for_a_small_model_on_four_gpus() -> None:
    """Slower than DDP, and both fit: DDP. Where DDP is out of memory: FSDP."""
    variants = {
        "ddp": {"strategy": "ddp", "base": "single"},
        "fsdp": {"strategy": "fsdp", "base": "single"},
    }
    both = judged_apart(pd.Series({"ddp": 0.11, "fsdp": 0.11}), variants)
    assert causes(both["fsdp"]) == ["healthy"]  # as fast as DDP: nothing to say
    times = pd.Series({"ddp": 0.11, "fsdp": 0.16})
    slower = judged_apart(times, variants)
    assert causes(slower["fsdp"])[0] == "fsdp-overhead"
    assert "Use ddp: the model fits without sharding." in advice(slower["fsdp"])
    assert causes(slower["ddp"]) == ["healthy"]
    out_of_memory = judged_apart(pd.Series({"ddp": nan, "fsdp": 0.16}), variants)
    assert causes(out_of_memory["ddp"]) == ["ddp-oom"]
    assert "Use fsdp, which fits." in advice(out_of_memory["ddp"])


def judged_apart(times: pd.Series, variants: dict[str, Any]) -> dict[str, Diagnosis]:
    """Diagnoses of weak scaling on four ranks whose variants take these seconds a step; nan: out of memory."""
    content = {
        "study": "seed",
        "repeats": 1,
        "scales": ["1x4"],
        "variants": {"single": {"strategy": "single"}} | variants,
        "workloads": {
            "task": {"model": MODEL, "data": DATA, "optimizer": {"type": "sgd"}, "batch_size": 32, "epochs": 1}
            | {"scaling": ["weak"]}
        },
        "host": {"device": "cpu"},
    }
    plan = make_plan(parse_study(content, source="x"))
    summary = summary_of(plan, {("task", 1, 32): [0.1], ("task", 4, 32): [0.11]})
    leave_out_parts(summary)
    for variant, time in times.items():
        row = summary["variant"] == variant
        summary.loc[row, "step_time_s"] = time
        summary.loc[row, "speedup"] = 4 * 0.1 / time
        if time != time:
            summary.loc[row, ["launches_ok", "launches_oom"]] = [0, 1]
    return {diagnosis.variant: diagnosis for diagnosis in diagnosed(plan, summary)}
