"""A limit on submitted jobs is reached: the study waits for room, says so, and loses nothing."""

from __future__ import annotations

import pytest
from slurm_studies import Submitting, small_study

TARGET = ("--", "results/small/comprehensive_summary.csv")
POLICY = "Job violates accounting/QOS policy (job submit limit, user's size and/or time limits)"


@pytest.mark.slow
@pytest.mark.parametrize(
    "limit",
    [
        pytest.param(
            limit,
            marks=pytest.mark.fault(
                fault=f"the limit on submitted jobs of {whose} is reached",
                moment="submission",
                outcome="the study waits; the terminal shows the limit, SLURM's message and the key to change",
                kept="every run",
                next_call="nothing is left to do",
            ),
        )
        for limit, whose in {
            "AssocMaxSubmitJobLimit": "an account",
            "QOSMaxSubmitJobPerUserLimit": "a quality of service",
        }.items()
    ],
)
def test_a_study_waits_for_the_jobs_of_its_account(submitting: Submitting, limit: str) -> None:
    """sbatch prints SLURM's own words: the cluster of the tests lacks the accounting that these limits need."""
    submitting.configure(small_study())
    says = f"echo 'sbatch: error: {limit}' >&2; echo \"sbatch: error: Batch job submission failed: {POLICY}\" >&2"
    refused = submitting.break_command("sbatch", f"{says}; exit 1")
    refused.touch()
    driver = submitting.drive(*TARGET)
    driver.wait_until_it_says(f": a limit on submitted jobs is reached ({limit}; ")
    refused.unlink()
    assert driver.end() == 0, driver.said
    assert "SLURM accepts jobs again after " in driver.said
    assert {record.outcome for record in submitting.records().values()} == {"ok"}
