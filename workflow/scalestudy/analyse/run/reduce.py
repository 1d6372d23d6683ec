"""One row per run: its measurements after the warm-up."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import nan
from typing import Any

import numpy as np
import pandas as pd

from scalestudy.analyse.communication.arrivals import buckets_grid, late_rank
from scalestudy.analyse.communication.collectives import collectives_of, enqueue_of, network_of
from scalestudy.analyse.communication.links import links_of
from scalestudy.analyse.communication.probes import communication_of
from scalestudy.analyse.point.accuracy import time_to_accuracy
from scalestudy.analyse.run.alternation import alternation_of
from scalestudy.analyse.run.batch_trial import trial_of
from scalestudy.analyse.run.energy import energy_of
from scalestudy.analyse.run.enqueued import enqueue_share
from scalestudy.analyse.run.grid import Columns
from scalestudy.analyse.run.imported import as_imported, limits_of, shows_single_steps
from scalestudy.analyse.run.memory import growth_of
from scalestudy.analyse.run.noise import noise_of
from scalestudy.analyse.run.ranks import numa_of_ranks, samples_of_ranks
from scalestudy.analyse.run.scripts import script_columns
from scalestudy.analyse.run.spoiled import spoiled_columns
from scalestudy.analyse.run.steady import clock_change
from scalestudy.analyse.run.steps import block_step_times, describe, steady_steps, step_quantiles
from scalestudy.record.observation import HELD_DEVICES, Memory, RankReport
from scalestudy.record.tables import Observation
from scalestudy.study.config.study import Study
from scalestudy.study.spec import RunSpec

OF_THE_SPEC = (
    *("workload", "variant", "strategy", "precision"),
    *("nodes", "devices_per_node", "world_size", "batch_per_rank", "global_batch", "micro_batch"),
    *("accumulation_steps", "compile", "activation_checkpointing", "settings", "repeat"),
)
MAY_LACK = (
    *("unused_parameter_bytes", "buffer_bytes", "synchronised_norms", "bytes_sent_per_step", "flops_per_sample"),
    *("training_wall_time_s", "probe_wall_time_s"),
)
"""Totals that records of earlier releases may lack."""
TELL_APART = ("run_id", "workload", "variant", "world_size", "global_batch", "repeat")


@dataclass(frozen=True)
class Reduced:
    """The data that are kept of a run's tables."""

    row: dict[str, Any]
    """A row of runs.csv."""
    block_step_times_s: list[float]
    """Step times of its steady blocks."""
    collectives: dict[str, np.ndarray]
    """From collectives_of."""
    quantiles: dict[str, np.ndarray]
    """Quantiles of its step times."""


def reduce_run(study: Study, observation: Observation) -> Reduced:
    """Reduces one run; its steps and calls are read once."""
    confidence = study.report.confidence
    tables = observation.tables
    all_steps, blocks, buckets = (
        Columns(tables["steps"]),
        Columns(tables["blocks"]),
        buckets_grid(tables["buckets"]),
    )
    steady, collectives = steady_steps(observation, all_steps), collectives_of(tables["collectives"])
    spec, epochs = observation.record.spec, observation.epochs
    steps = describe(steady, global_batch=spec.global_batch, confidence=confidence)
    steps = as_imported(observation, steps)
    communication = communication_of(observation, confidence=confidence, steps=all_steps, buckets=buckets)
    energy = energy_of(blocks, all_steps, spec=spec, warmup_steps=steps["warmup_steps"])
    row = {
        **_identity(observation),
        "limits": limits_of(observation),
        **steps,
        # DDP synchronises within the backward pass; its logger measures the part that is only communication.
        "backward_compute_time_s": steps["backward_time_s"] - communication["exposed_span_s"],
        **communication,
        "buckets": len(np.unique(buckets.table["bucket"])) or nan,
        **script_columns(observation, all_steps, late_rank(buckets)),
        **network_of(collectives),
        **links_of(observation.record),
        "all_reduce_enqueue_s": enqueue_of(tables["collectives"]),
        **samples_of_ranks(steady),
        **numa_of_ranks(observation.record, steady),
        **growth_of(blocks, warmup_steps=steps["warmup_steps"], confidence=confidence),
        "clock_change": clock_change(blocks, steps["level_changed_at_step"]),
        "enqueue_share": enqueue_share(blocks, all_steps),
        **energy,
        **spoiled_columns(observation.record.environment, energy, study.report.spoiled),
        **alternation_of(observation, all_steps),
        **noise_of(observation.record, confidence=confidence),
        **trial_of(observation.record),
        "validation_accuracy": float(epochs["validation_accuracy"].iloc[-1]) if len(epochs) else nan,
        "time_to_accuracy_s": time_to_accuracy(epochs, study.workloads[spec.workload].target_accuracy),
    }
    return Reduced(
        row=row,
        block_step_times_s=block_step_times(steady),
        collectives=collectives,
        quantiles=step_quantiles(
            steady if shows_single_steps(observation) else steady.where(np.zeros(len(steady), bool))
        ),
    )


def epochs_frame(epochs: Sequence[tuple[RunSpec, pd.DataFrame]]) -> pd.DataFrame:
    """Returns all epochs of all runs, a row each; columns that identify the run precede the measured ones."""
    counts = [len(of_run) for _, of_run in epochs]
    told = {name: np.repeat([getattr(spec, name) for spec, _ in epochs], counts) for name in TELL_APART}
    measured = pd.concat([of_run for _, of_run in epochs], ignore_index=True)
    return pd.concat([pd.DataFrame(told), measured], axis=1)


def columns_together(columns: Mapping[str, Mapping[str, np.ndarray]]) -> pd.DataFrame:
    """Returns columns of several runs as one table, with a column run_id; a run without entries has no row."""
    some = {run: of_run for run, of_run in columns.items() if len(next(iter(of_run.values())))}
    if not some:
        return pd.DataFrame(columns=[*next(iter(columns.values())), "run_id"])
    names = next(iter(some.values()))
    table = {name: np.concatenate([of_run[name] for of_run in some.values()]) for name in names}
    counts = [len(next(iter(of_run.values()))) for of_run in some.values()]
    return pd.DataFrame(table | {"run_id": np.repeat(np.array(list(some), dtype=object), counts)})


def _identity(observation: Observation) -> dict[str, Any]:
    """Returns the settings of a run, its outcome, and where it ran."""
    record, totals, environment = observation.record, observation.record.totals, observation.record.environment
    return {
        "run_id": record.run_id,
        **{name: getattr(record.spec, name) for name in OF_THE_SPEC},
        "outcome": record.outcome,
        "reason": record.reason,
        "device": environment.get("device"),
        "hosts": " ".join(sorted({rank.host for rank in record.ranks})),
        "node_names": " ".join(sorted({rank.node for rank in record.ranks})),
        "slurm_job": environment.get("slurm_job_id") or "",
        "held_devices": environment.get(HELD_DEVICES, nan),
        "torch": (environment.get("packages") or {}).get("torch"),
        "threads_per_rank": max((rank.threads for rank in record.ranks), default=nan),
        "threads_per_core": _threads_per_core(observation),
        "parameters": totals.parameters,
        "gradient_bytes": totals.gradient_bytes,
        **{name: float(nan if (total := getattr(totals, name)) is None else total) for name in MAY_LACK},
        "steps": totals.steps,
        "stopped_because": record.stopping.reason if record.stopping else "",
        **_memory(record.ranks),
        "wall_time_s": totals.wall_time_s,
        "protocol": record.protocol,
        "fingerprint": record.fingerprint,
        "commit": environment.get("commit"),
        "dirty": environment.get("dirty"),
        "started_at": record.started_at,
    }


def _threads_per_core(observation: Observation) -> float:
    """Returns compute threads of all ranks on a host over the cores that they may use, maximum over hosts."""
    ratios = [0.0]
    for host in {rank.host for rank in observation.record.ranks}:
        ranks = [rank for rank in observation.record.ranks if rank.host == host]
        cores = {core for rank in ranks for core in rank.cores}
        ratios.append(sum(rank.threads for rank in ranks) / len(cores))
    return max(ratios) or nan


def _memory(ranks: tuple[RankReport, ...]) -> dict[str, float]:
    """Returns each value of a rank's memory, maximum over ranks; nan if the device does not have it."""
    figures = {name: [getattr(rank.memory, name) for rank in ranks] for name in Memory.model_fields}
    return {name: max((x for x in values if x is not None), default=nan) for name, values in figures.items()}
