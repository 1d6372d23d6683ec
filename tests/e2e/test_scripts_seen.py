"""What is detected in a script besides its steps: options of its wrapper and loader, memory, and its baseline."""

from __future__ import annotations

import json
from math import isnan
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from builders import diagnosed, facts_of, runs_of
from faulty_scripts import ACCUMULATING, LOOP, Fault, measured, study_of_script
from own_scripts import command_spec, launched_script
from scalestudy.analyse.point.summary import summary_frame
from scalestudy.study.config.load import parse_study
from scalestudy.study.plan import make_plan

MEASURE = {"min_steps": 30, "max_steps": 40, "warmup_steps": 5, "probe_rounds": 3, "probe_steps": 4}
SEEN = {
    "OPTIONS": "find_unused_parameters=True, bucket_cap_mb=1, broadcast_buffers=False",
    "drop_last=True": "drop_last=True, num_workers=1, persistent_workers=True, prefetch_factor=3",
}
NO_SYNC = {
    "(nn.functional.mse_loss(model(inputs), targets) / 4).backward()": """
    from contextlib import nullcontext
    with model.no_sync() if step % 4 < 3 and ranks > 1 else nullcontext():
        (nn.functional.mse_loss(model(inputs), targets) / 4).backward()"""
}


def row_of(fault: Fault, tmp_path: Path, **changes: Any) -> pd.Series:
    """The row of runs.csv of two ranks that run this script."""
    (tmp_path / "train.py").write_text(fault.script, encoding="utf-8")
    given = {"run_to_end": False, "epochs": 0, "measure": MEASURE} | changes
    spec = command_spec("train.py {batch_per_rank} {out}/model", 2, folder=tmp_path, **given)
    found = launched_script(spec, tmp_path / "results")
    assert found.record.outcome == "ok", found.record.reason
    given.pop("measure")
    study = parse_study(
        {
            "study": "own",
            "scales": ["1x2"],
            "variants": {"single": {"strategy": "single"}, "ddp": {"strategy": "ddp"}},
            "workloads": {"own": {"command": "train.py", "batch_size": 8, **given}},
        },
        source="test",
    )
    return runs_of(study, [found]).iloc[0]


def test_options_of_ddp_and_of_the_loader_are_those_of_the_script(tmp_path: Path) -> None:
    row = row_of(Fault(LOOP, (), SEEN), tmp_path)
    seen = json.loads(row["seen"])
    assert row["wrapper"] == "ddp"
    assert seen["ddp"] == {
        "bucket_cap_mb": 1.0,
        "find_unused_parameters": True,
        "broadcast_buffers": False,
        "gradient_as_bucket_view": False,
        "static_graph": False,
    }
    assert seen["input"] == {
        "loader": "dataloader",
        "workers": 1,
        "pin_memory": False,
        "persistent_workers": True,
        "prefetch_factor": 3,
    }
    assert (seen["accumulation_steps"], seen["accumulation_sync"], seen["compile"]) == (1, False, False)
    assert row["unused_parameter_bytes"] == 0
    assert row["buckets"] >= 2, "3 MiB in buckets of 1"
    assert row["synchronised_norms"] == 0
    assert row["late_by"] == "blocks"


@pytest.mark.parametrize(
    ("changes", "synchronises"), [pytest.param({}, True, marks=pytest.mark.slow), (NO_SYNC, False)]
)
def test_it_is_seen_whether_accumulated_batches_are_synchronised(
    changes: dict[str, str], synchronises: bool, tmp_path: Path
) -> None:
    row = row_of(Fault(ACCUMULATING, (), changes), tmp_path, batch_size=32, batches_per_step=4)
    seen = json.loads(row["seen"])
    assert (seen["accumulation_steps"], seen["accumulation_sync"]) == (4, synchronises)
    assert row["late_by"] == "steps", "there are no blocks without synchronisation"
    assert not isnan(row["all_reduce_bus_gib_per_s"]), "collectives are timed all the same"


def test_buffers_and_synchronised_layers_are_seen_and_their_broadcast_is_timed(tmp_path: Path) -> None:
    norm = {"(nn.Linear(width, width), nn.ReLU())": "(nn.Linear(width, width), nn.BatchNorm1d(width))"}
    row = row_of(Fault(LOOP, (), norm), tmp_path)
    assert row["buffer_bytes"] > 4 * 2 * 512 * 3
    assert row["buffer_broadcast_s"] > 0


@pytest.mark.slow
def test_memory_is_read_while_a_script_runs(tmp_path: Path) -> None:
    leak = {"AFTER": "kept = globals().setdefault('kept', []); kept.append(torch.ones(2**17)); time.sleep(0.05)"}
    more = MEASURE | {"min_steps": 200, "max_steps": 200, "block_steps": 10}
    row = row_of(Fault(LOOP, (), leak), tmp_path, measure=more)
    assert row["memory_grows"]
    assert 0.4 < row["memory_growth_gib_per_1000_steps"] < 1.0, "half a MiB is kept at every step"


WRAPPED = {
    "if ranks > 1:\n    torch": 'if "RANK" in os.environ:\n    torch',
    "(model, **options) if ranks > 1 else model": "(model, **options)",
}


@pytest.mark.slow
def test_a_base_case_of_one_rank_names_its_wrapper_and_what_it_takes(tmp_path: Path) -> None:
    """The script cannot do without torchrun's variables: DDP is around the model of its baseline too."""
    fault = Fault(LOOP, (), WRAPPED)
    variants = {"single": {"strategy": "single", "launcher": "torchrun"}, "ddp": {"strategy": "ddp"}}
    measure = MEASURE | {"probe_rounds": 6, "probe_steps": 20}
    content = study_of_script(fault, tmp_path / "script", variants=variants, repeats=2, measure=measure)
    plan, runs = measured(content, tmp_path / "results")
    assert set(runs["outcome"]) == {"ok"}, runs["reason"]
    summary = summary_frame(plan, runs)
    base = summary[summary["is_base"]].iloc[0]
    assert base["wrapper"] == "ddp"
    assert not isnan(base["wrapper_time_s"])
    assert base["wrapper_time_s_low"] <= base["wrapper_time_s"] <= base["wrapper_time_s_high"]
    assert isnan(base["differential_s"]), "one process has no communication"
    facts = facts_of(plan, summary, runs)
    assert facts["study"]["base"] == "one process, which includes the DDP wrapper"
    notes = next(row["notes"] for row in facts["rows"] if row["is_base"])
    assert [note for note in notes if note.startswith("the baseline includes the DDP wrapper")]
    assert diagnosed(plan, summary)


@pytest.mark.slow
def test_a_plain_base_case_has_no_wrapper(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(Fault(LOOP, ()).script, encoding="utf-8")
    content = study_of_script(Fault(LOOP, ()), tmp_path / "script", repeats=1, measure=MEASURE)
    plan = make_plan(parse_study(content, source="x"))
    alone = next(spec for spec in plan.runs.values() if spec.world_size == 1)
    found = launched_script(alone, tmp_path / "results")
    assert runs_of(plan.study, [found])["wrapper"].tolist() == ["none"]
    assert not found.steps["phase"].str.startswith("probe").any()
