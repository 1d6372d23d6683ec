"""A study of any number of runs, written as observations without training anything: what the later stages read.

The numbers are simulated, of a plausible size. The content of a column follows from its name, so a new column is
filled too.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow
from scalestudy.launch.place import put_in_place
from scalestudy.record.files import write_json
from scalestudy.record.fingerprint import measuring_fingerprint
from scalestudy.record.host.environment import host_environment
from scalestudy.record.observation import (
    EPOCH_COLUMNS,
    PART_COLUMNS,
    PROBE_PHASES,
    TABLES,
    Memory,
    RankReport,
    RunRecord,
    Stopping,
)
from scalestudy.record.parts import Parts, complete, summarise, write_data
from scalestudy.record.protocol import CURRENT
from scalestudy.study.config.load import parse_study
from scalestudy.study.plan import Plan, make_plan
from scalestudy.study.spec import RunSpec

STEPS, EPOCHS = 200, 4
STEP_S = 0.010  # of one process at the workload's batch

# A device that is not there and a method that was not used leave their columns empty, as on a CPU.
EMPTY = ("gpu_", "allocat", "reserved", "peak_allocated")


@dataclass(frozen=True)
class Shape:
    """Each workload in one process, and at each scale with ddp in fp32 and in bf16, strong and weak."""

    workloads: int
    scales: tuple[str, ...]
    repeats: int

    @property
    def runs(self) -> int:
        return self.workloads * self.repeats * (1 + 4 * len(self.scales))


SIX = ("1x2", "1x4", "1x8", "2x1", "2x2", "2x4")

# A thousand runs twice: of many workloads, each at one scale, and of few, each at several. Ten thousand are what a
# large collection of models makes of it: five times as many points as the largest of a thousand, and twice the
# repeats.
SHAPES = {
    "10": Shape(workloads=1, scales=("1x8",), repeats=2),
    "100": Shape(workloads=2, scales=("1x8",), repeats=10),
    "1000": Shape(workloads=10, scales=("1x8",), repeats=20),
    "1000-scales": Shape(workloads=4, scales=SIX, repeats=10),
    "10000": Shape(workloads=20, scales=SIX, repeats=20),
}


def make_study(name: str) -> Plan:
    """A plan of one of SHAPES."""
    shape = SHAPES[name]
    workload = {
        "model": {"type": "mlp", "hidden_dim": 256, "num_layers": 3},
        "data": {"type": "digits"},
        "optimizer": {"type": "sgd", "learning_rate": 0.05},
        "batch_size": 64,
        "epochs": EPOCHS,
        "target_accuracy": 0.8,
        "scaling": ["strong", "weak"],
    }
    study = {
        "study": f"synthetic-{name}",
        "repeats": shape.repeats,
        "scales": list(shape.scales),
        "variants": {
            "single": {"strategy": "single"},
            "ddp": {"strategy": "ddp"},
            "ddp-bf16": {"strategy": "ddp", "precision": "bf16"},
        },
        "workloads": {f"workload-{index}": workload for index in range(shape.workloads)},
        "host": {"device": "cpu"},
        "report": {"overhead_reference": False},
    }
    plan = make_plan(parse_study(study, source="synthetic"))
    assert len(plan.runs) == shape.runs, f"{len(plan.runs)} runs were planned; {shape.runs} were meant"
    return plan


def write_study(plan: Plan, results: Path) -> None:
    """plan.json and all run directories, as if they had been measured here and now."""
    write_json(results / "plan.json", plan.model_dump(mode="json"))
    environment = host_environment() | {"device": "cpu", "device_type": "cpu", "threads_per_rank": 1}
    code = measuring_fingerprint()
    for number, spec in enumerate(plan.runs.values()):
        _write_run(spec, results / "runs", np.random.default_rng(number), environment, code)


def _write_run(
    spec: RunSpec, runs: Path, rng: np.random.Generator, environment: dict[str, Any], code: str
) -> None:
    partial = runs / ".partial" / spec.run_id
    partial.mkdir(parents=True)
    steps = _steps(spec, rng)
    keys = {
        "blocks": steps.drop_duplicates(["rank", "block"]).assign(first_step=lambda f: f["step"]),
        "buckets": _buckets(steps),
        "collectives": _collectives(spec),
    }
    tables = {name: steps if name == "steps" else _fill(keys[name], TABLES[name], rng) for name in TABLES}
    parts = Parts(
        reports=tuple(_report(rank) for rank in range(spec.world_size)),
        environment={"parameters": 150_000, "gradient_bytes": 600_000 if spec.world_size > 1 else None},
        stopping=Stopping(steps=STEPS, warmup_steps=20, half_width=0.01, reason="made up"),
        tables={name: pyarrow.Table.from_pandas(frame, preserve_index=False) for name, frame in tables.items()},
        epochs=_epochs(rng).to_dict("records"),
    )
    write_data(partial, parts)
    (partial / "log.txt").write_text("made up\n", encoding="utf-8")
    record = RunRecord(
        run_id=spec.run_id,
        protocol=CURRENT,
        fingerprint=code,
        spec=spec,
        outcome="ok",
        reason="",
        log_tail=(),
        started_at="2026-01-01T00:00:00+00:00",
        environment=environment | parts.environment,
        stopping=parts.stopping,
        ranks=parts.reports,
        totals=summarise(parts, wall_time_s=10.0),
        files={},
    )
    complete(partial, record)
    put_in_place(partial, runs / spec.run_id, runs.parent)


def _steps(spec: RunSpec, rng: np.random.Generator) -> pd.DataFrame:
    """Steps of training, slow at first; and, where there are several ranks, of the probes after them."""
    measure, ranks = spec.measure, spec.world_size
    size = measure.block_steps
    training = pd.DataFrame({"step": np.arange(STEPS)})
    training["epoch"] = 1 + training["step"] * EPOCHS // STEPS
    training["block"] = training["step"] // size
    training["phase"] = np.where(training["step"] < measure.warmup_steps, "warmup", "measured")
    frames = [training]
    if ranks > 1:
        kinds = np.tile(PROBE_PHASES, measure.probe_rounds)
        probes = pd.DataFrame({"phase": np.repeat(kinds, measure.probe_steps), "epoch": 0})
        probes["step"] = STEPS + np.arange(len(probes))
        probes["block"] = training["block"].max() + 1 + np.arange(len(probes)) // measure.probe_steps
        frames.append(probes)
    one = pd.concat(frames, ignore_index=True)
    steps = pd.concat([one.assign(rank=rank) for rank in range(ranks)], ignore_index=True)
    steps = _fill(steps.assign(samples=spec.batch_per_rank, loss=1.0), TABLES["steps"], rng)
    # Each run and each rank is a little faster or slower than the others, and every step starts cold.
    mean_s = STEP_S * spec.batch_per_rank / 64 + (0.002 if ranks > 1 else 0.0)
    mean_s *= rng.lognormal(0, 0.01) * (1 + 0.5 * np.exp(-steps["step"] / 4))
    shares = steps[list(PART_COLUMNS)].div(steps[list(PART_COLUMNS)].sum(axis=1), axis=0)
    steps[list(PART_COLUMNS)] = shares.mul(mean_s * rng.lognormal(0, 0.05, len(steps)), axis=0)
    return steps.assign(step_time_s=steps[list(PART_COLUMNS)].sum(axis=1))[list(TABLES["steps"])]


def _buckets(steps: pd.DataFrame) -> pd.DataFrame:
    """Two buckets of every step of the probe that records them."""
    seen = steps.loc[steps["phase"] == "probe-arrival", ["rank", "block", "step"]]
    buckets = pd.concat([seen.assign(bucket=bucket, bytes=300_000) for bucket in (0, 1)], ignore_index=True)
    ready_s = 1000 + buckets["step"] * STEP_S + buckets["bucket"] * 0.001 + buckets["rank"] * 1e-5
    return buckets.assign(ready_s=ready_s, done_s=ready_s + 0.001)


def _collectives(spec: RunSpec) -> pd.DataFrame:
    """Twenty calls of three collectives at four sizes."""
    ranks = range(spec.world_size) if spec.world_size > 1 else ()
    names = ("all-reduce", "all-gather", "reduce-scatter")
    sizes = (32, 1024, 16_384, 300_000)
    rows = [(rank, name, size, call) for rank in ranks for name in names for size in sizes for call in range(20)]
    return pd.DataFrame(rows, columns=["rank", "collective", "bytes", "call"])


def _epochs(rng: np.random.Generator) -> pd.DataFrame:
    epoch = np.arange(1, EPOCHS + 1)
    known = {"epoch": epoch, "samples": 1408, "validation_accuracy": 0.95 - 0.5 / (1 + epoch)}
    known["elapsed_s"] = epoch * STEPS / EPOCHS * STEP_S
    return _fill(pd.DataFrame(known), EPOCH_COLUMNS, rng)


def _fill(known: pd.DataFrame, columns: tuple[str, ...], rng: np.random.Generator) -> pd.DataFrame:
    """These columns: what is known, and for the rest noise about a size that the name suggests."""
    filled = {}
    for name in columns:
        if name in known:
            filled[name] = known[name].to_numpy()
        elif name.startswith(EMPTY):
            filled[name] = np.full(len(known), np.nan)
        else:
            filled[name] = (1e-3 if name.endswith("_s") else 1.0) * rng.lognormal(0, 0.1, len(known))
    return pd.DataFrame(filled)


def _report(rank: int) -> RankReport:
    sizes = dict.fromkeys(Memory.model_fields) | {"peak_resident_gib": 0.5, "mean_resident_gib": 0.4}
    return RankReport(
        rank=rank,
        host="here",
        node="here",
        device="cpu",
        cores=(rank,),
        threads=1,
        outcome="ok",
        reason="",
        waited=False,
        steps=STEPS,
        memory=Memory(**sizes),
    )
