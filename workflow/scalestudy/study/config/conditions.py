"""What a run is measured under: how long, what a rank gets of the machine, and how many threads it may start."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Literal

from pydantic import Field, model_validator

from scalestudy.study.config.entry import Entry, refuse
from scalestudy.study.config.environment import Environment

# Every library that starts threads of its own. Snakemake exports a rule's `threads` into all of them and torchrun
# keeps what is set, so each is set by the launcher, to what one rank is meant to have.
THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "MKL_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "GOTO_NUM_THREADS",
)


CORES_OF_A_GPU = 8
"""Cores that a rank on a GPU gets if the study names no number and the host has that many for each of its GPUs."""
LEAST_CORES = 4
"""Cores for each GPU below which a launch is warned of: for Python, the backward pass, NCCL and the loader."""


class Measure(Entry):
    """How long is measured, and in what portions."""

    warmup_steps: int = Field(10, ge=0)
    """Steps dropped from the start of every run at the least; the steady-state test may drop more."""
    max_warmup_steps: int = Field(50, ge=0)
    """Steps that the steady-state test may drop at the most while a launch decides whether to go on."""
    min_steps: int = Field(50, ge=10)
    """Steady steps of a launch before its precision is looked at."""
    max_steps: int = Field(200, ge=10)
    """Budget of a launch without epochs: it ends after so many steady steps whatever its precision."""
    half_width: float = Field(0.01, gt=0, lt=1)
    """Target for the half-width of an interval, as a fraction of its value: of a speedup with `until: decided`, of
    the step time of a point with `until: precise`. Launches end where it is reached."""
    launch_half_width: float | None = Field(None, gt=0, lt=1)
    """Target for the mean step time of a single launch: one without epochs ends when its own steps reach it. If
    unset, 1.5 times `half_width`: over five launches that averages out to two thirds of it, which leaves the rest
    to how launches scatter. More steps in a launch would buy less than more launches."""
    block_steps: int = Field(50, ge=1)
    """Steps between two synchronisations of device and ranks; the portions that are timed as a whole."""
    probe_rounds: int = Field(4, ge=0)
    """After a distributed launch has been measured, what communication costs is probed in rounds of blocks in
    shuffled order, with and without synchronisation of gradients: with ddp at most 5 x probe_rounds x probe_steps
    steps. They end after three rounds or more where the difference is known to `half_width` of a step. 0 leaves
    that out; 2 at least give intervals. Where it is not 0, a launch of one process or with ddp also measures the
    gradient noise scale, for about 2 s."""
    batch_trial_share: float = Field(0.2, ge=0, le=0.5)
    """The first launch of each point with ddp that trains for `epochs` tries larger batches when all else was
    measured: from a checkpoint at 40 % of the training it goes on at its batch, twice and four times that, each
    for this share of the training's samples, and losses are compared. 0.2 takes 60 % of one training. 0 leaves
    that out, and so do `probe_rounds: 0` and trainings with few steps."""
    probe_steps: int = Field(10, ge=2)
    """Steps of a block of these probes; fewer, but three at least, where they take longer than 0.15 s."""
    profile_steps: int = Field(5, ge=1)
    """Extra steps that are traced in the first launch of a configuration where `profile` is set."""

    @property
    def step_rule(self) -> dict[str, Any]:
        """When a launch has enough steps: the arguments of measure/stopping.py's StepRule."""
        counts = ("max_warmup_steps", "min_steps", "max_steps")
        found: dict[str, Any] = {name: getattr(self, name) for name in counts}
        return found | {"half_width": self.launch_target, "min_warmup_steps": self.warmup_steps}

    @property
    def launch_target(self) -> float:
        """Relative half-width at which a launch without epochs has enough steps."""
        return self.launch_half_width or 1.5 * self.half_width

    @model_validator(mode="after")
    def _in_order(self) -> Measure:
        pairs = (("warmup_steps", "max_warmup_steps"), ("min_steps", "max_steps"), ("warmup_steps", "max_steps"))
        values = ((least, getattr(self, least), most, getattr(self, most)) for least, most in pairs)
        refuse(f"{least}: {low} is more than {most}: {high}" for least, low, most, high in values if low > high)
        return self


class Host(Entry):
    """What a rank gets of the machine. The same for every run, the base case included."""

    device: Literal["auto", "cpu", "cuda"] = "auto"
    """`auto` takes CUDA where a CUDA device is visible, else the CPU; the run's log says which."""
    cores_per_rank: int | None = Field(None, ge=1)
    """CPU cores, and threads, of every rank: one process and each of N ranks get the same. If unset it is 1 on a
    CPU. On CUDA it is then the smallest of 8, the host's physical cores / its GPUs, and the job's physical cores /
    the job's GPUs, found on the node where the ranks start. On CUDA a rank is bound to cores near its GPU."""
    pin: bool = True
    """Bind every rank to cores of its own, and fail where there are too few. Without it the ranks share what there
    is, and the report says so when they are more threads than cores."""
    memory_limit_gib: float | None = Field(None, gt=0)
    """Memory that a rank may use: resident memory on a CPU, the allocator's share of the device on CUDA. A run
    that wants more ends as `oom`, so that a small machine can stand for a small GPU. No limit of ours if unset."""
    start: Literal["cold", "fork"] = "cold"
    """How the processes of a launch start. `cold`: fresh interpreters. `fork`: from a process that has imported
    torch already, one for each repeat; a launch then starts in a second or two instead of ten. On one node only.
    Runs of the two are different runs and are never averaged."""
    environment: Environment = Field(default_factory=dict)
    """Environment variables set for every rank, recorded with the run (`NCCL_DEBUG: INFO`). A number of threads
    (`OMP_NUM_THREADS`) may not be above `cores_per_rank` while `pin` is true."""

    @model_validator(mode="before")
    @classmethod
    def _one_core_on_a_cpu(cls, content: Any) -> Any:
        """On a CPU an unset number is 1: no node has to be asked, and the ids of runs stay the same."""
        if isinstance(content, dict) and content.get("device") == "cpu" and content.get("cores_per_rank") is None:
            return content | {"cores_per_rank": 1}
        return content

    @property
    def cores_asked(self) -> int:
        """CPU cores that a scheduler is asked for, for each rank. GPUs are asked for unless `device` is cpu."""
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
    """The most threads that one pool of a rank has: torch's own, or a library's that the study set higher."""
    return max(cores_per_rank, *(int(environment.get(name, 1)) for name in THREAD_VARIABLES))
