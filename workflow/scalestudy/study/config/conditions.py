"""The conditions of a run: how long it measures, and the cores, threads and memory of a rank."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Literal

from pydantic import Field, model_validator

from scalestudy.study.config.entry import Entry, refuse
from scalestudy.study.config.environment import Environment

# The variables of all libraries that start threads. Snakemake exports a rule's `threads` into all of them and
# torchrun keeps values that are set, so the launcher sets each to the number for one rank.
THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "MKL_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "GOTO_NUM_THREADS",
)


CORES_OF_A_GPU = 8
"""Cores of a rank on a GPU if `cores_per_rank` is unset and the host has that many for each of its GPUs."""
LEAST_CORES = 4
"""A run with fewer cores per GPU gets a warning: Python, the backward pass, NCCL and the loader need them."""


class Measure(Entry):
    """How long a run measures, and in blocks of how many steps."""

    warmup_steps: int = Field(10, ge=0)
    """Smallest number of steps dropped from the start of every run. The steady-state test may drop more."""
    max_warmup_steps: int = Field(50, ge=0)
    """Largest number of steps that the steady-state test may drop while a run decides whether to continue."""
    min_steps: int = Field(50, ge=10)
    """Steady steps of a run before its precision is first checked."""
    max_steps: int = Field(200, ge=10)
    """Limit of a run without epochs: it ends after this number of steady steps, whatever its precision."""
    half_width: float = Field(0.01, gt=0, lt=1)
    """Target half-width of an interval, as a fraction of its value: of a speedup with `until: decided`, of the
    step time of a point with `until: precise`. No further repeats are run once it is reached."""
    launch_half_width: float | None = Field(None, gt=0, lt=1)
    """Target half-width of the mean step time of one run, as a fraction: a run without epochs ends when its mean
    step time is known to this half-width. If unset, 1.5 times `half_width`: averaged over five runs that is two
    thirds of `half_width`, which leaves room for the spread between runs. More runs are worth more than longer
    runs."""
    block_steps: int = Field(50, ge=1)
    """Steps between two synchronisations of device and ranks. Each such block is timed as a whole."""
    probe_rounds: int = Field(4, ge=0)
    """Rounds in which a distributed run, after it was measured, probes the cost of communication: blocks with and
    without synchronisation of gradients, in shuffled order. With ddp these are at most 5 x probe_rounds x
    probe_steps steps. The probes end after three or more rounds if the difference is known to `half_width` of a
    step. 0 switches them off; intervals need at least 2. Unless it is 0, a run of one process or with ddp also
    measures the gradient noise scale, which takes about 2 s."""
    batch_trial_share: float = Field(0.2, ge=0, le=0.5)
    """Share of the training's samples for each trial of a larger batch. The first run of each ddp point that
    trains for `epochs` runs these trials at its end: it continues from a checkpoint at 40 % of the training with
    its own batch, twice and four times that batch, and compares the losses. 0.2 takes 60 % of one training. 0
    switches the trials off, and so does `probe_rounds: 0`; trainings with few steps have no trials."""
    probe_steps: int = Field(10, ge=2)
    """Steps of a block of these probes; fewer, but at least three, where they take longer than 0.15 s."""
    profile_steps: int = Field(5, ge=1)
    """Extra steps that are traced in the first run of every point with `profile: true`."""

    @property
    def step_rule(self) -> dict[str, Any]:
        """The arguments of measure/stopping.py's StepRule, which ends a run."""
        counts = ("max_warmup_steps", "min_steps", "max_steps")
        found: dict[str, Any] = {name: getattr(self, name) for name in counts}
        return found | {"half_width": self.launch_target, "min_warmup_steps": self.warmup_steps}

    @property
    def launch_target(self) -> float:
        """Relative half-width at which a run without epochs ends."""
        return self.launch_half_width or 1.5 * self.half_width

    @model_validator(mode="after")
    def _in_order(self) -> Measure:
        pairs = (("warmup_steps", "max_warmup_steps"), ("min_steps", "max_steps"), ("warmup_steps", "max_steps"))
        values = ((least, getattr(self, least), most, getattr(self, most)) for least, most in pairs)
        refuse(f"{least}: {low} is more than {most}: {high}" for least, low, most, high in values if low > high)
        return self


class Host(Entry):
    """The share of the machine that a rank gets. It is the same for every run, the baseline included."""

    device: Literal["auto", "cpu", "cuda"] = "auto"
    """`auto` uses CUDA if a CUDA device is visible, else the CPU; the run's log names the device."""
    cores_per_rank: int | None = Field(None, ge=1)
    """CPU cores, and threads, of every rank: one process and each of N ranks get the same number. If unset it is 1
    on a CPU. On CUDA it is then the smallest of 8, the host's physical cores / its GPUs, and the job's physical
    cores / the job's GPUs, counted on the node where the ranks start. On CUDA a rank is bound to cores near its
    GPU."""
    pin: bool = True
    """Bind every rank to cores of its own, and fail if there are too few. `false` lets the ranks share all cores,
    and the report notes if there are more threads than cores."""
    memory_limit_gib: float | None = Field(None, gt=0)
    """Memory limit of a rank: resident memory on a CPU, the allocator's share of the device on CUDA. A run that
    needs more ends as `oom`, so that a small machine can represent a small GPU. No limit if unset. It does not
    apply to commands."""
    start: Literal["cold", "fork"] = "cold"
    """How the processes of a run start. `cold`: as fresh interpreters. `fork`: from a process that has already
    imported torch, one for each repeat; a run then starts in a second or two instead of ten. `fork` works on one
    node only. Cold and forked runs are never averaged."""
    environment: Environment = Field(default_factory=dict)
    """Environment variables of every rank, recorded with the run (`NCCL_DEBUG: INFO`). A number of threads
    (`OMP_NUM_THREADS`) must not exceed `cores_per_rank` while `pin` is true."""

    @model_validator(mode="before")
    @classmethod
    def _one_core_on_a_cpu(cls, content: Any) -> Any:
        """On a CPU an unset number is 1: the node is not needed to find it, and the ids of runs stay the same."""
        if isinstance(content, dict) and content.get("device") == "cpu" and content.get("cores_per_rank") is None:
            return content | {"cores_per_rank": 1}
        return content

    @property
    def cores_asked(self) -> int:
        """CPU cores for each rank in the request to a scheduler."""
        return self.cores_per_rank or CORES_OF_A_GPU


def wrong_threads(host: Host) -> Iterator[str]:
    """What is wrong with the numbers of threads in the environment, a line for each variable.

    A rank that is bound to its cores gains nothing from more threads than cores. Where `cores_per_rank` is unset,
    each node finds it; it is at most CORES_OF_A_GPU then.
    """
    for name in THREAD_VARIABLES:
        if name not in host.environment:
            continue
        path, value = f"host.environment.{name}", host.environment[name]
        if not (value.isascii() and value.isdigit() and int(value) > 0):
            yield f"{path}: '{value}' is not a number of threads; a whole number of 1 or more is expected"
            continue
        cores = host.cores_asked
        if host.pin and int(value) > cores:
            known = f"unset, so at most {cores}" if host.cores_per_rank is None else cores
            yield (
                f"{path}: {value} threads are more than the cores that a rank is bound to"
                f" (host.cores_per_rank: {known}); use {cores} or fewer, or set host.cores_per_rank: {value}"
            )


def threads_per_rank(environment: Mapping[str, str], *, cores_per_rank: int) -> int:
    """Largest number of threads in one pool of a rank: torch's own, or a library's that the study set higher."""
    return max(cores_per_rank, *(int(environment.get(name, 1)) for name in THREAD_VARIABLES))
