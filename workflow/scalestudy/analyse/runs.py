"""One row a run: what a launch measured once its warm-up is dropped."""

from __future__ import annotations

from math import nan
from typing import Any

import numpy as np
import pandas as pd

from scalestudy.analyse.accuracy import time_to_accuracy
from scalestudy.analyse.steady import mser5
from scalestudy.record.observation import Observation
from scalestudy.study.model import Study


def runs_frame(study: Study, observations: list[Observation]) -> pd.DataFrame:
    """A row per observation, in the order given; measured columns are nan where nothing steady was measured."""
    return pd.DataFrame([_identity(o) | _measured(o) | _learned(study, o) for o in observations])


def epochs_frame(observations: list[Observation]) -> pd.DataFrame:
    """All epochs of all runs, a row each, with what tells the runs apart."""
    frames = []
    for observation in observations:
        record = observation.record
        epochs = observation.epochs.assign(
            run_id=record.run_id,
            workload=record.spec.workload,
            variant=record.spec.variant,
            world_size=record.spec.world_size,
            global_batch=record.spec.global_batch,
            repeat=record.spec.repeat,
        )
        frames.append(epochs)
    first = ["run_id", "workload", "variant", "world_size", "global_batch", "repeat"]
    together = pd.concat(frames, ignore_index=True)
    return together[first + [name for name in together if name not in first]]


def _identity(observation: Observation) -> dict[str, Any]:
    """What was asked, what became of it, and where it ran."""
    record, spec = observation.record, observation.record.spec
    environment = record.environment
    return {
        "run_id": record.run_id,
        "workload": spec.workload,
        "variant": spec.variant,
        "strategy": spec.strategy,
        "precision": spec.precision,
        "nodes": spec.nodes,
        "devices_per_node": spec.devices_per_node,
        "world_size": spec.world_size,
        "batch_per_rank": spec.batch_per_rank,
        "global_batch": spec.global_batch,
        "repeat": spec.repeat,
        "outcome": record.outcome,
        "reason": record.reason,
        "device": environment.get("device"),
        "hosts": " ".join(sorted({rank.host for rank in record.ranks})),
        "torch": (environment.get("packages") or {}).get("torch"),
        "threads_per_rank": max((rank.threads for rank in record.ranks), default=nan),
        "threads_per_core": _threads_per_core(observation),
        "parameters": record.totals.parameters,
        "gradient_bytes": record.totals.gradient_bytes,
        "peak_resident_gib": max((r.memory.peak_resident_gib for r in record.ranks), default=nan),
        "peak_allocated_gib": max((r.memory.peak_allocated_gib or nan for r in record.ranks), default=nan),
        "wall_time_s": record.totals.wall_time_s,
        "fingerprint": record.fingerprint,
        "commit": environment.get("commit"),
        "dirty": environment.get("dirty"),
        "started_at": record.started_at,
    }


def _threads_per_core(observation: Observation) -> float:
    """Compute threads of all ranks on a host over the cores they may use, the largest over hosts."""
    ratios = [0.0]
    for host in {rank.host for rank in observation.record.ranks}:
        ranks = [rank for rank in observation.record.ranks if rank.host == host]
        cores = {core for rank in ranks for core in rank.cores}
        ratios.append(sum(rank.threads for rank in ranks) / len(cores))
    return max(ratios) or nan


def _measured(observation: Observation) -> dict[str, Any]:
    """Steady step time, its distribution and parts, throughput, accuracy.

    The mean step time comes from whole blocks: seconds of the block, the largest over ranks, summed and divided
    by steps. Taking the maximum over ranks step by step instead would count one hiccup twice: the late rank's
    long step, and the next step of the others, who wait for it. The distribution (p50, p95, p99) is of single
    steps, the maximum over ranks.
    """
    record, steps = observation.record, observation.steps
    nothing = {
        "steps": record.totals.steps,
        "warmup_steps": nan,
        "step_time_s": nan,
        "step_time_p50_s": nan,
        "step_time_p95_s": nan,
        "step_time_p99_s": nan,
        "step_time_cv": nan,
        "data_time_s": nan,
        "forward_time_s": nan,
        "backward_time_s": nan,
        "optimizer_time_s": nan,
        "throughput_samples_per_s": nan,
    }
    complete = record.outcome == "ok" and len(steps)
    if not complete:
        return nothing
    slowest = steps.groupby("step")["step_time_s"].max().to_numpy()
    cut = max(mser5(slowest), record.spec.measure.warmup_steps)
    steady = _whole_blocks_after(steps, cut)
    if steady.empty:
        return nothing
    blocks = steady.groupby(["epoch", "block", "rank"])["step_time_s"].sum()
    count = steady["step"].nunique()
    step_time = blocks.groupby(["epoch", "block"]).max().sum() / count
    kept = slowest[int(steady["step"].min()) :]
    parts = ("data_time_s", "forward_time_s", "backward_time_s", "optimizer_time_s")
    return nothing | {
        "warmup_steps": int(steady["step"].min()),
        "step_time_s": float(step_time),
        "step_time_p50_s": float(np.quantile(kept, 0.50)),
        "step_time_p95_s": float(np.quantile(kept, 0.95)),
        "step_time_p99_s": float(np.quantile(kept, 0.99)),
        "step_time_cv": float(kept.std(ddof=1) / kept.mean()) if len(kept) > 1 else nan,
        **{part: float(steady[part].mean()) for part in parts},
        "throughput_samples_per_s": record.spec.global_batch / float(step_time),
    }


def _learned(study: Study, observation: Observation) -> dict[str, Any]:
    """Final accuracy, and the training time to the accuracy that the study asks for."""
    epochs = observation.epochs
    target = study.workloads[observation.record.spec.workload].target_accuracy
    return {
        "validation_accuracy": float(epochs["validation_accuracy"].iloc[-1]) if len(epochs) else nan,
        "time_to_accuracy_s": time_to_accuracy(epochs, target),
    }


def _whole_blocks_after(steps: pd.DataFrame, cut: int) -> pd.DataFrame:
    """The steps of the blocks that begin at step `cut` or later."""
    first = steps.groupby(["epoch", "block"])["step"].transform("min")
    return steps[first >= cut]
