"""Checks of runs and of the clocks. Pure functions: observations and numbers in, checks out."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from math import isfinite, nan
from statistics import median
from typing import Any

import numpy as np

from scalestudy.accept.disturbed import marks_of, red_unless_disturbed, unless_disturbed
from scalestudy.accept.model import Check, check, near, unproven
from scalestudy.accept.pairs import Row
from scalestudy.record.observation import PART_COLUMNS, RunRecord
from scalestudy.record.tables import Observation
from scalestudy.registry.words.percent import percent

CLOCK, TRACED = 0.02, 0.05
MARKS_S = 1e-4
"""Largest time of the marks of a step, in seconds: 1 % of a step of 10 ms."""
EARLY_STEPS = 20
"""PowerSGD begins at step 10, after the warm-up."""
LOSSES = {"fp32": 1e-4, "tf32": 1e-2, "bf16": 3e-2, "fp16": 3e-2}
"""Largest relative difference between early losses and those of fp32. Source: the precision of the formats, 2^-24,
2^-11 (tf32 and fp16) and 2^-8, with room for sums of many terms."""
HOOK_LOSSES = {"none": 0.0, "fp16": 1e-2, "bf16": 3e-2, "powersgd": 0.1}
METHODS = 0.5
"""Largest relative difference between two measurements of one short step, with other load on the host."""
BANDWIDTH, FASTEST = 0.10, 0.1
END_S = 15.0
"""Seconds beyond the stall limit within which a run with a fault must end, including imports."""


def identity_checks(record: RunRecord, *, device: str, devices: int) -> list[Check]:
    """Return the checks of a plain run: devices, versions, affinity and links."""
    found, ranks = record.environment, record.ranks
    packages = found["packages"]
    checks = [
        check("outcome", record.outcome == "ok", record.outcome, "ok", run_id=record.run_id),
        check("ranks", len(ranks) == devices, f"{len(ranks)} ranks reported", f"{devices} ranks"),
        check("device", found.get("device_type") == device, str(found.get("device")), device),
        _backend(record, device=device),
        check(
            "versions",
            all(packages.get(name) for name in ("torch", "numpy")),
            f"Python {found['python']}, torch {packages.get('torch')}",
            "known versions of Python and torch",
        ),
    ]
    cores = [core for rank in ranks for core in rank.cores]
    checks.append(
        check(
            "affinity",
            len(cores) == len(set(cores)) and all(rank.threads <= len(rank.cores) for rank in ranks),
            "; ".join(f"rank {rank.rank}: cores {', '.join(map(str, rank.cores))}" for rank in ranks),
            "no core shared by two ranks, at most as many threads as cores",
        )
    )
    gpu = found["hardware"]["gpu"]
    if device == "cpu":
        return [*checks, unproven("links", "no GPUs, so there are no links between devices")]
    names = {one["uuid"] for one in gpu["devices"]}
    checks.append(check("devices", len(names) >= devices, f"{len(names)} devices", f"{devices} devices or more"))
    if len(gpu["devices"]) < 2:
        return [*checks, unproven("links", "a single device, so there are no links between devices")]
    said = ", ".join(f"{pair}: {link}" for pair, link in gpu["links"].items())
    unread = any(not link or link == "could not be read" for link in gpu["links"].values())
    return [*checks, check("links", not unread, said, "a known link for every pair of devices")]


def _backend(record: RunRecord, *, device: str) -> Check:
    if record.spec.world_size == 1:
        return unproven("backend", "the record of one process has no backend")
    wanted = "nccl" if device == "cuda" else "gloo"
    found = str(record.environment.get("backend"))
    return check("backend", found == wanted, found, wanted, run_id=record.run_id)


def clock_checks(found: Mapping[str, Any], marks: str = "") -> list[Check]:
    """Return the checks of the output of train/acceptance/clock.py: medians over its steps.

    marks: how the process was disturbed, as codes.
    """

    def off(steps: str, name: str, of: str) -> float:
        return float(median(step[name] / step[of] - 1 for step in found[steps]))

    idle_untraced = median(step["idle_marks_s"] for step in found["untraced"])
    idle_traced = median(step["idle_trace_s"] for step in found["traced"])
    host = "the host's clock"
    checks = [
        near("marks of a busy step", off("untraced", "busy_marks_s", "busy_host_s"), CLOCK, f"{host}, untraced"),
        near("marks of an idle part", off("untraced", "idle_marks_s", "idle_host_s"), CLOCK, f"{host}, untraced"),
        near("marks under the profiler", off("traced", "busy_marks_s", "busy_host_s"), CLOCK, f"{host}, traced"),
        near("profiler's busy step", off("traced", "busy_trace_s", "busy_host_s"), CLOCK, host),
        near("traced against untraced idle", idle_traced / idle_untraced - 1, TRACED, "the untraced idle part"),
    ]
    cost = check(
        "cost of marks",
        found["marks_s"] <= MARKS_S,
        f"{found['marks_s'] * 1e6:.2f} us per step",
        f"at most {MARKS_S * 1e6:.0f} us",
        value=found["marks_s"],
        limit=MARKS_S,
    )
    return [*(unless_disturbed(one, marks) for one in checks), red_unless_disturbed(cost, marks)]


def early_losses(observation: Observation) -> np.ndarray:
    """Return the losses of the first EARLY_STEPS steps of training, mean over ranks: shape (EARLY_STEPS,)."""
    steps = observation.steps
    trained = steps[steps["phase"].isin(["warmup", "measured"])]
    return trained.groupby("step")["loss"].mean().to_numpy()[:EARLY_STEPS]


def combination_checks(
    name: str, row: Row, observation: Observation, reference: np.ndarray | None, *, device: str
) -> list[Check]:
    """Return the checks of a row of the covering array: outcome, backend, steps, parts of a step, early losses.

    reference: early losses of plain DDP in fp32; None if its run failed.
    """
    record = observation.record
    run_id = record.run_id
    if record.outcome != "ok":
        said = f"{record.outcome}: {without_names(record)}"
        return [check(f"{name}: outcome", False, said, "ok", run_id=run_id)]
    backend = _backend(record, device=device)
    parts = observation.steps[list(PART_COLUMNS)].sum(axis=1) - observation.steps["step_time_s"]
    gap_s = float(parts.abs().max())
    timed, wall = record.totals.train_time_s, record.totals.training_wall_time_s or nan
    checks = [
        check(f"{name}: outcome", True, "ok", "ok", run_id=run_id),
        backend.model_copy(update={"name": f"{name}: backend"}),
        check(
            f"{name}: methods agree",
            gap_s < 1e-6 and timed <= wall,
            f"the parts and the step differ by {gap_s * 1e6:.2f} us; {timed:.3f} s of {wall:.3f} s are timed",
            "the parts add up to the step, and the steps fit into the training",
            run_id=run_id,
        ),
    ]
    if reference is None:
        return [*checks, unproven(f"{name}: early losses", "the run to compare with failed")]
    losses = early_losses(observation)
    limit = LOSSES[row["precision"]] + HOOK_LOSSES[row["hook"]]
    off = float(np.max(np.abs(losses / reference - 1))) if len(losses) == len(reference) else nan
    return [
        *checks,
        check(
            f"{name}: early losses",
            isfinite(off) and off <= limit,
            f"{off:.1e} relative difference from plain DDP in fp32",
            f"at most {limit:.1e}",
            value=off,
            limit=limit,
            run_id=run_id,
        ),
    ]


def memory_check(ddp: RunRecord, fsdp: RunRecord) -> Check:
    """Check that FSDP's peak memory per rank is below DDP's, for a model larger than the rest of the process."""
    peaks = []
    for record in (ddp, fsdp):
        if record.outcome != "ok":
            said = f"{record.outcome}: {without_names(record)}"
            return check("FSDP's peak below DDP's", False, said, "ok", run_id=record.run_id)
        memory = [rank.memory for rank in record.ranks]
        peaks.append(max(one.peak_allocated_gib or one.peak_resident_gib for one in memory))
    found = f"{peaks[1]:.3f} GiB with FSDP, {peaks[0]:.3f} GiB with DDP"
    return check("FSDP's peak below DDP's", peaks[1] < peaks[0], found, "less", value=peaks[1], limit=peaks[0])


def probe_checks(observation: Observation) -> list[Check]:
    """Return the checks of a run with probes: all probes, and equal step times from two methods."""
    record, steps = observation.record, observation.steps
    if record.outcome != "ok":
        said = f"{record.outcome}: {without_names(record)}"
        return [check("probes: outcome", False, said, "ok", run_id=record.run_id)]
    of_phase = steps.groupby("phase")["step_time_s"].median()
    phases = ("probe-sync", "probe-no-sync", "probe-arrival")
    missing = [phase for phase in phases if phase not in of_phase]
    checks = [check("probes: all are there", not missing, ", ".join(missing) or "all", "all")]
    if "probe-sync" in of_phase:
        off = float(of_phase["probe-sync"] / of_phase["measured"] - 1)
        equal = near("probes: step time as in training", off, METHODS, "the trained step")
        checks.append(unless_disturbed(equal, marks_of(observation)))
    return checks


def bandwidth_check(observation: Observation, loop: Mapping[str, Any] | None) -> Check:
    """Check that the probe of collectives has the bandwidth of a plain loop at the same message size.

    With gloo, the fastest tenth of the calls is compared: the others wait for cores that other processes use.
    """
    name = "all-reduce against a plain loop"
    record, calls = observation.record, observation.collectives
    if record.outcome != "ok" or not loop:
        return check(name, False, f"{record.outcome}: {without_names(record)}", "within 10 %")
    size = int(loop["bytes"])
    mine = calls[(calls["collective"] == "all-reduce") & (calls["bytes"] == size) & (calls["rank"] == 0)]
    if mine.empty:
        return check(name, False, f"no calls at {size} bytes", "within 10 %")
    at = FASTEST if record.environment["backend"] == "gloo" else 0.5
    probed = size / float(mine["time_s"].quantile(at))
    looped = size / float(np.quantile(loop["times_s"], at))
    off = probed / looped - 1
    of_loop = f"{looped / 1e9:.3g} GB/s by the loop ({percent(off, 1, signed=True)})"
    found = f"{probed / 1e9:.3g} GB/s by the probe, {of_loop}"
    equal = check(name, abs(off) <= BANDWIDTH, found, "within 10 %", value=off, limit=BANDWIDTH)
    return unless_disturbed(equal, marks_of(observation))


def fault_checks(
    name: str,
    observation: Observation,
    *,
    outcome: str,
    blamed: Collection[int],
    kept_steps: int,
    stall_s: float,
) -> list[Check]:
    """Return the checks of a run with a fault: outcome, blamed ranks, kept steps, and time until the run ended.

    blamed: ranks whose own reason must be the reason of the run.
    """
    record = observation.record
    run_id = record.run_id
    noted = [one["text"] for one in record.environment["warnings"] if one["kind"] == "probes failed"]
    own = {rank.rank for rank in record.ranks if rank.reason and rank.reason == record.reason}
    counts = observation.steps.groupby("rank")["step"].nunique()
    least = int(counts.min()) if len(counts) else 0
    taken = record.totals.wall_time_s
    said = without_names(record) or "; ".join(noted)
    checks = [
        check(f"{name}: outcome", record.outcome == outcome, f"{record.outcome}: {said}", outcome, run_id=run_id),
        check(
            f"{name}: kept data",
            least >= kept_steps and len(counts) > 0,
            f"at least {least} steps of each rank that reported",
            f"{kept_steps} steps or more",
            value=least,
            limit=kept_steps,
            run_id=run_id,
        ),
        red_unless_disturbed(
            check(
                f"{name}: time to end",
                taken <= stall_s + END_S,
                f"{taken:.1f} s",
                f"at most {stall_s + END_S:.0f} s",
                value=taken,
                limit=stall_s + END_S,
                run_id=run_id,
            ),
            marks_of(observation),
        ),
    ]
    if outcome == "ok":
        right = len(noted) == 1
        found = "recorded as a warning" if right else "not recorded"
        return [*checks, check(f"{name}: noted", right, found, "a warning that the probes failed", run_id=run_id)]
    found, expected = _ranks(own), _ranks(blamed)
    right = own == set(blamed)
    return [*checks, check(f"{name}: blamed rank", right, found, expected, run_id=run_id)]


def _ranks(numbers: Collection[int]) -> str:
    return f"rank {', '.join(map(str, sorted(numbers)))}" if numbers else "no rank"


def without_names(record: RunRecord) -> str:
    """Return the reason of a run, with `this host` instead of host names."""
    text = record.reason
    for name in {rank.host for rank in record.ranks} | {rank.node for rank in record.ranks}:
        text = text.replace(name, "this host")
    return text
