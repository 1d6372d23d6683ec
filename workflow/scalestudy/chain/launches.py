"""What a launch asks of the hosts it runs on, and which launches a rule is for."""

from __future__ import annotations

import json
from dataclasses import dataclass

from scalestudy.launch.starters import Here, make_starter
from scalestudy.study.capacity import check_capacity
from scalestudy.study.config.datasets import Dataset
from scalestudy.study.plan import Plan
from scalestudy.study.spec import RunSpec

MEMORY_PER_RANK_MB = 8000
"""torch with CUDA, a batch and a copy of a medium-sized model; `--set-resources` has the last word."""


@dataclass(frozen=True)
class Request:
    """What a launch asks for: of each of its hosts, but for the number of nodes."""

    nodes: int
    """Also its tasks: one on each node."""
    cores: int
    devices: int
    """GPUs; 0 if the study runs on CPUs."""
    memory_mb: int

    @property
    def gres(self) -> str:
        """GPUs of each node as SLURM is asked for them; empty for none."""
        return f"gpu:{self.devices}" if self.devices else ""

    @property
    def mpi(self) -> str:
        """Keeps the SLURM executor from a step of its own around ours, which would put two nodes on one."""
        return "srun" if self.nodes > 1 else ""


def request(spec: RunSpec) -> Request:
    """What the launch of a run asks for."""
    ranks = spec.devices_per_node
    return Request(
        nodes=spec.nodes,
        cores=ranks * spec.host.cores_per_rank,
        devices=0 if spec.host.device == "cpu" else ranks,
        memory_mb=ranks * MEMORY_PER_RANK_MB,
    )


def refuse_what_does_not_fit(plan: Plan, *, cores: int | None, gpus: int | None) -> None:
    """UserError where a scale asks for more than there is. cores, gpus: of this host; None if not known."""
    starter = make_starter()
    here = isinstance(starter, Here)
    check_capacity(plan, nodes=starter.nodes, cores=cores if here else None, gpus=gpus if here else None)


def matching_runs(plan: Plan, *, single: bool, reserve: bool) -> str:
    """Pattern of the runs of one process, or of several; of the planned ones, or of those in reserve."""
    found = [
        run
        for run, spec in plan.runs.items()
        if (spec.strategy == "single") == single and bool(plan.reserve_of(run)) == reserve
    ]
    return "|".join(found) or "(?!)"  # an empty pattern would match all runs, this one matches none


def reserve_arguments(plan: Plan, run: str) -> list[str | float]:
    """Arguments with which `scalestudy stage train` first decides whether a run in reserve is needed."""
    return ["--confidence", plan.study.report.confidence, "--reserve-of", *plan.reserve_of(run)]


def datasets(plan: Plan) -> dict[str, Dataset]:
    """Data that come in files, by the folder that they are prepared in; workloads may share them."""
    found = (workload.data for workload in plan.study.workloads.values())
    return {data.store_name: data for data in found if data.prepared}


def data_json(data: Dataset) -> str:
    """An entry of data as one line of JSON, as a job carries it."""
    return json.dumps(data.model_dump(mode="json"), sort_keys=True)
