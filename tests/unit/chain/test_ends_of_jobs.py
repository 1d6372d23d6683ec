"""What a state of SLURM means for a job whose runs are measured, or are not."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

plugin = pytest.importorskip("snakemake_executor_plugin_slurm")


def ended(tmp_path: Path, state: str, *, measured: bool) -> list[str]:
    """Return what is reported of a job that has ended. Only the reports to Snakemake are replaced."""
    from scalestudy.chain.slurm.executor import PatientExecutor
    from scalestudy.chain.slurm.queue import Status
    from snakemake_interface_executor_plugins.executors.base import SubmittedJobInfo

    said: list[str] = []

    class Executor(PatientExecutor):
        def __init__(self) -> None:
            self.logger = SimpleNamespace(info=said.append)
            self.workflow = SimpleNamespace(executor_settings=SimpleNamespace(keep_successful_logs=True))
            self._forgotten_since = {}
            self._failed_nodes = set()

        def report_job_success(self, job_info: SubmittedJobInfo) -> None:
            said.append("success")

        def report_job_error(self, job_info: SubmittedJobInfo, msg: str | None = None, **more: Any) -> None:
            said.append(msg or "")

    output = tmp_path / "run.sha256"
    if measured:
        output.touch()
    part = SimpleNamespace(output=[str(output)], is_group=lambda: False)
    job = SubmittedJobInfo(part, external_jobid="26", aux={"slurm_logfile": tmp_path / "26.log"})
    assert Executor()._has_ended(job, Status(state, "TimeLimit" if state == "TIMEOUT" else ""))
    return said


@pytest.mark.parametrize("state", ["TIMEOUT", "NODE_FAIL", "PREEMPTED", "FAILED"])
def test_a_job_whose_runs_are_all_measured_has_succeeded_whatever_slurm_says(tmp_path: Path, state: str) -> None:
    """A controller that was away at its end counts the job as one without an end."""
    said = ended(tmp_path, state, measured=True)
    assert said == [f"SLURM job 26 ended as {state}, but all of its runs are measured.", "success"]


def test_a_job_without_its_runs_has_failed(tmp_path: Path) -> None:
    assert ended(tmp_path, "TIMEOUT", measured=False) == ["SLURM job 26 ended as TIMEOUT (TimeLimit)"]


def test_a_job_that_somebody_cancelled_has_not_succeeded(tmp_path: Path) -> None:
    assert ended(tmp_path, "CANCELLED", measured=True) == ["SLURM job 26 ended as CANCELLED"]
