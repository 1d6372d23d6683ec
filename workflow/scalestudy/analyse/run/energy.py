"""Energy of a run's samples, and reasons for limited GPU clocks, from readings at the ends of blocks."""

from collections.abc import Iterator
from math import nan

import numpy as np

from scalestudy.analyse.run.grid import Columns
from scalestudy.study.spec import RunSpec

SHORTEST_S = 2.0
"""Smallest time of steps between two readings. NVML's readings of power are updated every 20 to 100 ms (Yang et
al., 2023, arXiv:2312.02741), and Zeus 0.6.1 has windows in which the energy counter is not updated. Over 2 s that
is an error of at most 5 %."""

# nvml.h, nvmlClocksEventReason*.
SW_POWER_CAP, HW_SLOWDOWN, SW_THERMAL, HW_THERMAL, HW_POWER_BRAKE = 0x04, 0x08, 0x20, 0x40, 0x80
REASONS = {
    "thermal_slowdown_share": SW_THERMAL | HW_THERMAL,
    "power_cap_share": SW_POWER_CAP | HW_POWER_BRAKE,
    "hardware_slowdown_share": HW_SLOWDOWN,
}
"""Column -> bits. NVML sets HW_SLOWDOWN for heat and for power alike, so it does not distinguish them."""
READ = ("gpu_energy_j", "cpu_energy_j", "gpu_slowdown_reasons")
UNKNOWN = {"energy_per_sample_j": nan, "cpu_energy_per_sample_j": nan} | dict.fromkeys(REASONS, nan)


def energy_of(blocks: Columns, steps: Columns, *, spec: RunSpec, warmup_steps: float) -> dict[str, float]:
    """Returns columns of runs.csv: J per sample, of all GPUs and of all hosts' processors; shares of readings.

    A reading counts if its block ended after the warm-up and within the training. Energy is the difference between
    the first and the last reading, divided by the samples of the steps between them. A spec with epochs has a
    validation after each epoch, so each epoch is evaluated separately. Shares are the maximum over ranks. nan if
    one of the GPUs, or one of the hosts, has no reading, or the record is of an earlier release. blocks, steps: of
    one run, with this spec.
    """
    if not (blocks and all(blocks.has(name) for name in READ)):
        return dict(UNKNOWN)
    ends = blocks["first_step"] + blocks["steps"]
    kept = blocks.among("phase", ("warmup", "measured")) & (ends >= warmup_steps)
    epochs = _epochs(blocks, steps) if getattr(spec, "epochs", 0) else np.zeros(len(blocks), dtype=int)
    found = {
        name: _per_step_j(blocks, steps, column, kept, epochs, sources=sources) / spec.global_batch
        for name, column, sources in (
            ("energy_per_sample_j", "gpu_energy_j", spec.world_size),
            ("cpu_energy_per_sample_j", "cpu_energy_j", spec.nodes),
        )
    }
    return found | _reasons(blocks, kept & blocks.among("phase", ("measured",)))


def _epochs(blocks: Columns, steps: Columns) -> np.ndarray:
    """Returns (blocks,): the epoch of each block."""
    numbers, first = np.unique(steps["block"], return_index=True)
    places = np.minimum(np.searchsorted(numbers, blocks["block"]), len(numbers) - 1)
    of_block: np.ndarray = steps["epoch"][first[places]]
    return of_block


def _per_step_j(
    blocks: Columns, steps: Columns, column: str, kept: np.ndarray, epochs: np.ndarray, *, sources: int
) -> float:
    """Returns the energy of a step, sum over ranks with this counter; nan unless there are `sources` of them."""
    values = blocks[column].astype(float)
    known = kept & ~np.isnan(values)
    of_ranks = []
    for rank in np.unique(blocks["rank"][known]):
        mine = known & (blocks["rank"] == rank)
        spans = list(_spans(values[mine], blocks["first_step"][mine] + blocks["steps"][mine], epochs[mine]))
        of_rank = steps["rank"] == rank
        step = steps["step"][of_rank]
        seconds = sum(
            steps["step_time_s"][of_rank][(step >= begin) & (step < end)].sum() for begin, end, _ in spans
        )
        joules, count = sum(j for *_, j in spans), sum(end - begin for begin, end, _ in spans)
        if seconds >= SHORTEST_S and joules > 0:
            of_ranks.append(joules / count)
    return float(sum(of_ranks)) if len(of_ranks) == sources else nan


def _spans(joules: np.ndarray, ends: np.ndarray, epochs: np.ndarray) -> Iterator[tuple[int, int, float]]:
    """Yields (first step, step after last, J) between the first and last reading of each epoch with two."""
    for epoch in np.unique(epochs):
        at = np.flatnonzero(epochs == epoch)
        first, last = at[ends[at].argmin()], at[ends[at].argmax()]
        if ends[last] > ends[first]:
            yield int(ends[first]), int(ends[last]), float(joules[last] - joules[first])


def _reasons(blocks: Columns, kept: np.ndarray) -> dict[str, float]:
    """Returns the share of the readings with a limited GPU clock, for each kind of reason, maximum over ranks."""
    masks = blocks["gpu_slowdown_reasons"].astype(float)
    known = kept & ~np.isnan(masks)
    shares: dict[str, list[float]] = {name: [] for name in REASONS}
    for rank in np.unique(blocks["rank"][known]):
        mine = masks[known & (blocks["rank"] == rank)].astype(int)
        for name, bits in REASONS.items():
            shares[name].append(float(((mine & bits) != 0).mean()))
    return {name: max(of_ranks, default=nan) for name, of_ranks in shares.items()}
