"""Cost of communication in a step of one run, by independent methods.

differential  block with gradient synchronisation minus block without, neighbours in shuffled rounds: the total
              cost, waiting and interference included.
exposed span  communication after the end of the backward computation, by DDP's logger.
interference  slowdown of the backward computation while communication is under way. Users pay this cost, but
              no span shows it.
remainder     differential - exposed span - interference. It does not differ significantly from zero if the
              methods agree.

exposed hook  the exposed span again, from timestamps of the buckets in a communication hook; split into waiting
              and transfer.
hook cost     the differential of the blocks with the hook, minus the differential: the overhead of the hook.

All are means over ranks, so that they add up; `imbalance` is the excess of the slowest rank's own work.
"""

from math import nan
from typing import Any

import numpy as np
import pandas as pd

from scalestudy.analyse.communication.arrivals import WAITS, waits_by_round
from scalestudy.analyse.communication.collectives import BANDWIDTHS, BUS_BANDWIDTH, LARGEST, SMALL_SHARE, TIMES
from scalestudy.analyse.run.grid import Columns, Grid, firsts, means
from scalestudy.analyse.statistics.intervals import NOTHING, difference, mean
from scalestudy.analyse.statistics.medians import median
from scalestudy.measure.stopping import probe_looks
from scalestudy.record.observation import DDP_COLUMNS, PROBE_PHASES
from scalestudy.record.tables import Observation, Table
from scalestudy.registry.codes import Methods
from scalestudy.study.looks import level_of_a_look

QUANTITIES = ("differential", "exposed_span", "interference", "remainder", "imbalance", "hook_cost", *WAITS)
HOOK_DIFFERENCE = "hook_difference"
COSTS = ("differential", "hook_cost")
"""Quantities that are not negative: an additional piece of work takes time."""
LIMITS = ("", "_low", "_high")


def probe_rounds(steps: Table | Columns, buckets: Table | Grid, *, strategy: str = "ddp") -> dict[str, np.ndarray]:
    """Returns QUANTITIES in seconds per step, one value per round of probes; nan if a kind of block is missing.

    steps, buckets: of one run. The n-th block of each kind belongs to the n-th round.
    """
    steps = Columns(steps)
    probes = Grid.of(steps, steps.among("phase", PROBE_PHASES))
    if not len(probes):
        return dict.fromkeys(QUANTITIES, np.empty(0))
    blocks = firsts(probes.of_step("block"))
    kinds = probes.of_step("phase")[blocks]
    places = {kind: np.flatnonzero(kinds == kind) for kind in PROBE_PHASES}
    rounds = max(map(len, places.values()))

    def by_round(times_s: np.ndarray) -> dict[str, np.ndarray]:
        """Returns values of blocks by their kind: one value per round, nan if there is none."""
        return {kind: np.append(times_s[at], np.full(rounds - len(at), nan)) for kind, at in places.items()}

    def rounds_of(times_s: np.ndarray) -> dict[str, np.ndarray]:
        return by_round(means(times_s, blocks).mean(axis=0))

    step_s = probes["step_time_s"]
    if strategy == "fsdp":  # without synchronisation its optimizer has no gradients and does nothing
        step_s = step_s - probes["optimizer_time_s"]
    step, slowest = rounds_of(step_s), by_round(means(step_s, blocks).max(axis=0))
    backward = rounds_of(probes["backward_time_s"])
    compute, span, overlap = (rounds_of(probes[column])["probe-logger"] for column in DDP_COLUMNS)
    differential = step["probe-sync"] - step["probe-no-sync"]
    exposed_span, interference = span - overlap, compute - backward["probe-no-sync"]
    return {
        "differential": differential,
        "exposed_span": exposed_span,
        "interference": interference,
        "remainder": differential - exposed_span - interference,
        "imbalance": slowest["probe-no-sync"] - step["probe-no-sync"],
        "hook_cost": step["probe-arrival"] - step["probe-arrival-no-sync"] - differential,
        **waits_by_round(buckets),
    }


def communication_of(
    observation: Observation, *, confidence: float, steps: Columns | None = None, buckets: Grid | None = None
) -> dict[str, Any]:
    """Returns columns of runs.csv: each quantity with its interval over rounds, and how the methods compare.

    A run checks several times whether it has enough rounds; the error probability is shared among these looks.
    steps, buckets: of the observation, if they were read before.
    """
    rounds = probe_rounds(
        observation.tables["steps"] if steps is None else steps,
        observation.tables["buckets"] if buckets is None else buckets,
        strategy=observation.record.spec.strategy,
    )
    values = {name: rounds[name][~np.isnan(rounds[name])] for name in QUANTITIES}
    looks = probe_looks(observation.record.spec.measure.probe_rounds)
    return _columns(values, level_of_a_look(confidence, looks))


def communication_row(good: pd.DataFrame, *, confidence: float) -> dict[str, Any]:
    """Returns columns of the summary: each quantity over the runs of a point, the comparison, and the late rank.

    good: rows of runs.csv. A single run has the interval over its rounds, since there is no interval over runs.
    """
    if len(good) == 1:
        first = good.iloc[0]
        names = (*QUANTITIES, HOOK_DIFFERENCE)
        columns = {f"{name}_s{limit}": first[f"{name}_s{limit}"] for name in names for limit in LIMITS}
        columns["methods"] = first["methods"]
    else:
        values = {name: good[f"{name}_s"].dropna().to_numpy(dtype=float) for name in QUANTITIES}
        columns = _columns(values, confidence)
    return columns | _lateness(good, confidence) | _network(good, confidence)


def _columns(values: dict[str, np.ndarray], confidence: float) -> dict[str, Any]:
    """Returns each quantity with its interval over rounds or runs, and how the methods compare."""
    columns: dict[str, Any] = {}
    for name, found in values.items():
        columns |= mean(found, confidence=confidence).columns(f"{name}_s")
    return columns | compare_methods(values, confidence=confidence)


def _lateness(good: pd.DataFrame, confidence: float) -> dict[str, Any]:
    """Returns LATE of the rank that was last most often over all runs.

    Runs in which another rank was last count as zero for it: a rank that is late in only one run is an effect of
    chance, or of the place of that run.
    """
    known = good.dropna(subset=["late_rank", "late_share"])
    if known.empty:
        return {"late_rank": nan, "late_share": nan} | NOTHING.columns("lateness_s")
    rank = known.groupby("late_rank")["late_share"].sum().idxmax()
    shares, lateness_s = (
        known[name].where(known["late_rank"] == rank, 0.0) for name in ("late_share", "lateness_s")
    )
    interval = mean(lateness_s.to_numpy(dtype=float), confidence=confidence)
    return {"late_rank": rank, "late_share": shares.mean()} | interval.columns("lateness_s")


def _network(good: pd.DataFrame, confidence: float) -> dict[str, Any]:
    """Returns results of the idle network over runs: times by their mean with its interval, the others by the
    median.

    It includes the largest bus bandwidth of a run, because other work on a host can only reduce a link's
    bandwidth.
    """
    columns: dict[str, Any] = {name: median(good[name]) for name in (*BANDWIDTHS, LARGEST, SMALL_SHARE)}
    columns[f"{BUS_BANDWIDTH}_max"] = good[BUS_BANDWIDTH].max()
    for name in TIMES:
        columns |= mean(good[name].dropna().to_numpy(dtype=float), confidence=confidence).columns(name)
    return columns


def compare_methods(values: dict[str, np.ndarray], *, confidence: float) -> dict[str, Any]:
    """Returns whether the methods agree, from QUANTITIES of rounds or of runs: `methods`, hook_difference_s.

    FSDP has only the differential, which is the cost of the reduce-scatter alone: the all-gathers are in both
    kinds of block.

    There are four checks: the remainder; the difference between the exposed span by hook, less the hook's own
    overhead, and by logger (hook_difference); and COSTS, which are not negative. The methods disagree if the
    interval of one of the first two excludes zero, or if the whole interval of a cost is below zero: blocks then
    differ by more than their noise, and not by this cost.
    """
    nothing = NOTHING.columns(f"{HOOK_DIFFERENCE}_s")
    if not len(values["differential"]) or len(values["exposed_hook"]) != len(values["exposed_span"]):
        return nothing | {"methods": Methods.NONE}
    if not len(values["remainder"]):
        return nothing | {"methods": Methods.NOT_COMPARED_FSDP}
    if len(values["remainder"]) < 2:
        return nothing | {"methods": Methods.NOT_COMPARED_ONE_ROUND}
    remainder = mean(values["remainder"], confidence=confidence)
    calibrated = values["exposed_hook"] - values["hook_cost"]
    by_hook = difference(calibrated, values["exposed_span"], confidence=confidence)
    costs = [mean(values[name], confidence=confidence) for name in COSTS]
    differ = remainder.leaves_out(0) or by_hook.leaves_out(0) or any(cost.high < 0 for cost in costs)
    return by_hook.columns(f"{HOOK_DIFFERENCE}_s") | {"methods": Methods.DISAGREE if differ else Methods.AGREE}
