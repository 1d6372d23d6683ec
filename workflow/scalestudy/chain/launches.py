"""What a launch asks of the hosts it runs on, and which launches a rule is for."""

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
"""torch with CUDA, a batch and a copy of a medium-sized model; `--set-resources` has the last word."""


def request(spec: RunSpec, allocation: Allocation | None = None, *, gpu_type: str = "") -> dict[str, int | str]:
    """What the launch of a run asks for, by name: of each of its hosts, but for the number of nodes.

    allocation: the job of a cluster that it shares with others. All of them ask for the whole job, since Snakemake
    refuses to join jobs that ask for different things. gpu_type: SLURM's name of the GPUs, such as 'a100'; '' for
    any.

    `nodes` is also the number of its tasks, one on each. `devices` are GPUs, 0 if the study runs on CPUs; `gres`
    is how SLURM is asked for them, empty for none. `mpi` keeps the SLURM executor from a step of its own around
    ours, which would put two nodes on one.
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
    """The job that is asked for: where it was decided which of its launches are needed, only what these take.

    Snakemake asks again when a job is about to be submitted, and the decision is there by then.
    """
    after = plan.decided_after(allocation.runs[0])
    path = results / DECISIONS.format(repeats=after)
    if not after or not path.exists():
        return allocation
    try:
        needed = json.loads(path.read_text(encoding="utf-8"))[
            "needed"
        ]  # its model is on this floor, and needs pandas
        return needed_part(plan, allocation, needed)
    except (ValueError, LookupError, TypeError):
        return allocation  # of another release, or damaged: it is made again before the launches are


def refuse_what_does_not_fit(plan: Plan, *, cores: int | None, gpus: int | None) -> None:
    """UserError where a scale asks for more than there is: before any job starts, not by a queue or a crash.

    cores, gpus: of this host; None if not known. Devices bind only a study that insists on CUDA, since `auto`
    falls back to the CPU. Of other hosts only their number is known.
    """
    starter, host = make_starter(), plan.study.host
    for index, scale in enumerate(plan.study.scales):
        nodes, ranks = nodes_and_devices(scale)
        if nodes > starter.nodes:
            raise UserError(
                f"scales[{index}]: {scale} needs {nodes} nodes; {starter.nodes} on offer here. Submit it with"
                " `--profile slurm`, run it in an allocation of so many nodes, or name hosts (SCALESTUDY_HOSTS)"
            )
        each = host.cores_per_rank or 1  # unset: as many as the host has for each GPU
        need = ranks * each
        if not starter.remote and cores is not None and host.pin and need > cores:
            raise UserError(
                f"scales[{index}]: {scale} needs {ranks} ranks x {each} cores = {need} cores"
                f" on one host; {cores} are on offer. Use a smaller scale, raise --cores, or lower"
                " host.cores_per_rank"
            )
        if not starter.remote and gpus is not None and host.device == "cuda" and ranks > gpus:
            raise UserError(
                f"scales[{index}]: {scale} needs {ranks} CUDA devices on one host; {gpus} are on offer."
                " Use a smaller scale or host.device: cpu"
            )


def refuse_unequal_requests(
    plan: Plan, allocations: Iterable[Allocation], asked: Mapping[str, Mapping[str, object]]
) -> None:
    """UserError where rules whose launches share a job are given different words for it: no job has both.

    asked: what `--set-resources` says, by rule and name; Snakemake keeps a word as `raw`. Of numbers the largest
    counts.
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
                    has = "none" if said is None else repr(said)
                    raise UserError(
                        f"set-resources: {name} of {rule} is {word!r}, and {other} has {has}; their launches share"
                        " a job, so give both the same, or set `allocations: scales` in the study"
                    )


def rule_of(plan: Plan, run: str) -> str:
    """The rule that makes a launch."""
    of = "baseline" if plan.runs[run].strategy == "single" else "distributed"
    return f"train_{of}{'_reserve' if plan.is_reserve(run) else ''}"


def matching_runs(plan: Plan, *, single: bool, reserve: bool) -> str:
    """Pattern of the runs of one process, or of several; of the planned ones, or of those in reserve."""
    found = [
        run
        for run, spec in plan.runs.items()
        if (spec.strategy == "single") == single and plan.is_reserve(run) == reserve
    ]
    return "|".join(found) or "(?!)"  # an empty pattern would match all runs, this one matches none


def reserve_arguments(plan: Plan, run: str) -> list[str | float]:
    """Arguments with which `scalestudy stage train` first finds out whether a run in reserve is needed."""
    if plan.decided_after(run):
        return ["--after", plan.decided_after(run)]
    return ["--confidence", plan.study.report.confidence, "--reserve-of", *plan.reserve_of(run)]


def allowing(study: Study) -> str:
    """Value of the variable ALLOWED: workloads whose launches may share files, and those that it has already."""
    names = {name for name, workload in study.workloads.items() if getattr(workload, "allow_shared", False)}
    return ",".join(sorted(names | set(filter(None, os.environ.get(ALLOWED, "").split(",")))))
