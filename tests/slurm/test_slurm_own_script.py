"""A script of one's own in jobs of SLURM: on one node, and on two that meet by torchrun."""

from __future__ import annotations

import contextlib
import os
import signal
from pathlib import Path
from typing import Any

import pytest
from conftest import wait_for
from own_scripts import scripts_in
from scalestudy.record.tables import read_observation
from slurm_studies import QUICK, Submitting

pytestmark = pytest.mark.slow


def study_of(directory: Path, *, epochs: int, scales: list[str], **measure: Any) -> dict[str, Any]:
    return {
        "study": "own",
        "repeats": 1,
        "time_limit_min": 3,
        "scales": scales,
        "variants": {"single": {"strategy": "single"}, "ddp": {"strategy": "ddp"}},
        "workloads": {
            "tutorial": {
                "command": f"ddp_tutorial.py --epochs {epochs} --batch-size {{batch_per_rank}}",
                "directory": str(scripts_in(directory)),
                "batch_size": 32,
                "scaling": ["weak"],
                "allow_shared": True,  # it saves checkpoint.pt where it is started
            }
        },
        "host": {"device": "cpu"},
        "measure": {"probe_rounds": 2, "probe_steps": 3, **measure},
    }


def test_a_script_runs_on_one_node_and_on_two(submitting: Submitting, tmp_path: Path) -> None:
    submitting.configure(study_of(tmp_path, epochs=50, scales=["1x2", "2x1"], min_steps=20, max_steps=20))
    plan = submitting.plan()
    submitting.submit(*[f"results/own/runs/{run}/run.sha256" for run in plan.runs])
    records = submitting.records()
    assert len(records) == 3
    for record in records.values():
        assert record.outcome == "ok", record.reason
        assert record.totals.steps >= 20
        assert len(record.ranks) == record.spec.world_size
    two = next(record for record in records.values() if record.spec.nodes == 2)
    assert two.environment["backend"] == "gloo"


@pytest.mark.fault(
    fault="SIGKILL of all processes of a script's job, and its node down",
    moment="training",
    outcome="failed; Snakemake queries SLURM when it ends, and records the reason",
    kept="the steps that the script had made",
    next_call="the record is kept; `scalestudy retry` sets it aside",
)
def test_the_steps_of_a_script_outlive_its_job(submitting: Submitting, both_nodes: None, tmp_path: Path) -> None:
    submitting.configure(study_of(tmp_path, epochs=100_000, scales=["1x2"], min_steps=10**6, max_steps=10**6))
    run = next(run for run, spec in submitting.plan().runs.items() if spec.variant == "ddp")
    target = f"results/own/runs/{run}/run.sha256"
    calling = submitting.start("snakemake", "--profile", "slurm", *QUICK, "--slurm-no-requeue", "--", target)
    wait_for(lambda: submitting.partial("progress.json"), seconds=180)
    ((job, *_),) = (line.split() for line in submitting.cluster.jobs())
    node = submitting.cluster.run("squeue", "--noheader", "--format=%N").strip()
    for pid in submitting.cluster.processes_of(job):
        with contextlib.suppress(ProcessLookupError):  # some of them end when others do
            os.kill(pid, signal.SIGKILL)
    submitting.cluster.run("scontrol", "update", f"nodename={node}", "state=down", "reason=test")
    assert calling.wait(timeout=240) != 0
    record = submitting.records()[run]
    made = read_observation(submitting.results / "runs" / run).steps
    assert record.outcome == "failed"
    assert len(made) > 0
    assert f"after {len(made) // 2} steps" in record.reason
