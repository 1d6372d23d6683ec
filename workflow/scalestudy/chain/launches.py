"""The resources that a run requests from its hosts, and the runs that a rule is for."""

import json
import os
from collections.abc import Iterable, Mapping
from itertools import permutations
from pathlib import Path

from scalestudy.errors import UserError
from scalestudy.launch.foreign.shared import ALLOWED
from scalestudy.launch.starters import make_starter
from scalestudy.registry.results import DECISIONS
from scalestudy.study.allocations import Allocation, needed_part
from scalestudy.study.config.scales import nodes_and_devices
from scalestudy.study.config.study import Study
from scalestudy.study.plan import Plan
from scalestudy.study.spec import RunSpec

MEMORY_PER_RANK_MB = 8000
"""For torch with CUDA, a batch and a copy of a medium-sized model; `--set-resources` overrides it."""


def request(spec: RunSpec, allocation: Allocation | None = None, *, gpu_type: str = "") -> dict[str, int | str]:
    """Resources that a run requests, by name. All but `nodes` are per host.

    allocation: the cluster job that the run shares with others. All of them request the whole job, since Snakemake
    refuses to group jobs with different requests. gpu_type: SLURM's name of the GPUs, such as 'a100'; '' for any.

    `nodes` is also the number of tasks, one on each node. `devices` are GPUs, 0 if the study runs on CPUs; `gres`
    is SLURM's request for them, empty for none. `mpi` keeps the SLURM executor from starting its own step around
    ours, which would place two nodes' tasks on one node.
    """
    place = allocation or spec
    ranks = place.devices_per_node
    devices = 0 if spec.host.device == "cpu" else ranks
    return {
        "nodes": place.nodes,
        "cores": ranks * spec.host.cores_asked,
        "devices": devices,
        "gres": ":".join(filter(None, ("gpu", gpu_type, str(devices)))) if devices else "",
        "memory_mb": ranks * MEMORY_PER_RANK_MB,
        "mpi": "srun" if place.nodes > 1 else "",
    }


def allocation_now(plan: Plan, allocation: Allocation, results: Path) -> Allocation:
    """The job to request. Once it is decided which of its runs are needed, only the resources of these.

    Snakemake evaluates this again just before it submits a job. By then the decision has been made.
    """
    after = plan.decided_after(allocation.runs[0])
    path = results / DECISIONS.format(repeats=after)
    if not after or not path.exists():
        return allocation
    try:
        needed = json.loads(path.read_text(encoding="utf-8"))[
            "needed"
        ]  # the model of this file cannot be imported here, and needs pandas
        return needed_part(plan, allocation, needed)
    except (ValueError, LookupError, TypeError):
        return allocation  # from another release, or damaged: it is written again before the runs start


def usable_cores() -> int:
    """Return the number of cores of this host that this process may use."""
    return len(os.sched_getaffinity(0))


def refuse_what_does_not_fit(plan: Plan, *, cores: int | None, gpus: int | None) -> None:
    """Raise UserError where a scale needs more than is available, before any job starts.

    cores, gpus: of this host; None if not known. GPUs are checked only for `device: cuda`, since `auto` falls back
    to the CPU. For other hosts only their number is known.
    """
    starter, host = make_starter(), plan.study.host
    for index, scale in enumerate(plan.study.scales):
        nodes, ranks = nodes_and_devices(scale)
        if nodes > starter.nodes:
            raise UserError(
                f"scales[{index}]: {scale} needs {nodes} nodes; available here: {starter.nodes}. Submit it with"
                f" `--profile slurm`, run it in an allocation of {nodes} nodes, or list hosts in SCALESTUDY_HOSTS"
            )
        each = host.cores_per_rank or 1  # unset: as many as the host has for each GPU
        need = ranks * each
        if not starter.remote and cores is not None and host.pin and need > cores:
            instead = ["Use a smaller scale"]
            instead += ["lower host.cores_per_rank"] * (each > 1)
            instead += ["raise --cores"] * (usable_cores() > cores)
            raise UserError(
                f"scales[{index}]: {scale} needs {ranks} ranks x {each} core{'s' * (each > 1)} = {need} cores"
                f" on one host; available: {cores}. {' or '.join(instead)}"
            )
        if not starter.remote and gpus is not None and host.device == "cuda" and ranks > gpus:
            raise UserError(
                f"scales[{index}]: {scale} needs {ranks} CUDA devices on one host; available: {gpus}."
                " Use a smaller scale or host.device: cpu"
            )


def refuse_unequal_requests(
    plan: Plan, allocations: Iterable[Allocation], asked: Mapping[str, Mapping[str, object]]
) -> None:
    """Raise UserError where rules whose runs share a job get different words for a resource.

    A job cannot have both. asked: the values of `--set-resources`, by rule and name; Snakemake keeps a word as
    `raw`. Of numbers, the largest is used.
    """
    words = {
        rule: {name: getattr(value, "raw", value) for name, value in values.items()}
        for rule, values in asked.items()
    }
    for allocation in allocations:
        rules = list(dict.fromkeys(rule_of(plan, run) for run in allocation.runs))
        for rule, other in permutations(rules, 2):
            for name, word in words.get(rule, {}).items():
                said = words.get(other, {}).get(name)
                if isinstance(word, str) and said != word:
                    has = "not set" if said is None else repr(said)
                    raise UserError(
                        f"set-resources: {name} of {rule} is {word!r}, but of {other} it is {has}; their runs"
                        " share a job, so set both to the same value, or set `allocations: scales` in the study"
                    )


def rule_of(plan: Plan, run: str) -> str:
    """The name of the rule that measures a run."""
    of = "baseline" if plan.runs[run].strategy == "single" else "distributed"
    return f"train_{of}{'_reserve' if plan.is_reserve(run) else ''}"


def matching_runs(plan: Plan, *, single: bool, reserve: bool) -> str:
    """Pattern of the ids of single-process or of distributed runs, either planned or in reserve."""
    found = [
        run
        for run, spec in plan.runs.items()
        if (spec.strategy == "single") == single and plan.is_reserve(run) == reserve
    ]
    return "|".join(found) or "(?!)"  # an empty pattern would match all runs, this one matches none


def reserve_arguments(plan: Plan, run: str) -> list[str | float]:
    """Arguments with which `scalestudy stage train` first checks whether a run in reserve is needed."""
    if plan.decided_after(run):
        return ["--after", plan.decided_after(run)]
    return ["--confidence", plan.study.report.confidence, "--reserve-of", *plan.reserve_of(run)]


def allowing(study: Study) -> str:
    """Value of the variable ALLOWED: workloads whose runs may share files, and those already in the variable."""
    names = {name for name, workload in study.workloads.items() if getattr(workload, "allow_shared", False)}
    return ",".join(sorted(names | set(filter(None, os.environ.get(ALLOWED, "").split(",")))))
