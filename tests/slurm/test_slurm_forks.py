"""Forked runs in one job of SLURM: a parent that has imported torch serves all of a repeat."""

from __future__ import annotations

import contextlib
import subprocess
import time
from uuid import uuid4

import psutil
import pytest
from slurm_studies import QUICK, Submitting, small_study

pytestmark = pytest.mark.slow

MARK = "SCALESTUDY_TEST_FORK"


def parents(mark: str) -> set[int]:
    """Process ids of the parents that fork the ranks of a study, without the ranks."""
    found = {}
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            if "scalestudy.launch.forked.parent" in process.cmdline() and process.environ().get(MARK) == mark:
                found[process.pid] = process.ppid()
    return {pid for pid, above in found.items() if above not in found}


def test_one_parent_forks_the_launches_of_a_repeat_that_share_a_job(submitting: Submitting) -> None:
    mark = uuid4().hex
    submitting.configure(
        small_study(repeats=1, host={"device": "cpu", "start": "fork", "environment": {MARK: mark}})
    )
    plan = submitting.plan()
    targets = [f"results/{plan.study.name}/runs/{run}/run.sha256" for run in plan.runs]
    command = ["snakemake", "--profile", "slurm", *QUICK, *targets]
    process = subprocess.Popen(command, env=submitting.environment, cwd=submitting.root)
    seen: set[int] = set()
    while process.poll() is None:
        seen |= parents(mark)
        time.sleep(0.05)
    assert process.returncode == 0
    records = submitting.records()
    assert len(records) > 1
    assert {record.outcome for record in records.values()} == {"ok"}
    assert len({record.environment["slurm_job_id"] for record in records.values()}) == 1
    assert {rank.node for record in records.values() for rank in record.ranks} <= {"node1", "node2"}
    assert len(seen) == 1
