"""Runs until decided on a cluster: jobs wait for a decision, and runs that are not needed end in seconds."""

from __future__ import annotations

import json
from collections import Counter

import pytest
from slurm_studies import Submitting, small_study


@pytest.mark.slow
def test_a_decision_is_made_between_jobs(submitting: Submitting) -> None:
    # At 51 % and two looks two ratios are known to 99 % as long as they differ by less than 2.2 times.
    submitting.configure(
        small_study(
            repeats=2,
            max_repeats=3,
            measure={"half_width": 0.99, "probe_rounds": 0, "replace_spoiled": False},
            report={"confidence": 0.51, "overhead_reference": False},
        )
    )
    assert "on a cluster: 2 jobs" in submitting.run("scalestudy", "plan").stdout
    submitting.submit(str((submitting.results / "comprehensive_summary.csv").relative_to(submitting.root)))
    decision = json.loads((submitting.results / "decisions/after_2.json").read_text())
    assert {comparison["settled"] for comparison in decision["comparisons"]} <= {"decided", "precise"}
    assert not decision["needed"]
    jobs = submitting.cluster.run("scontrol", "--oneliner", "show", "jobs").splitlines()
    (later,) = (line for line in jobs if f"{submitting.root}/" in line and "group_n1g2-blocks-after2-1" in line)
    assert " NumCPUs=1 " in later, "nobody holds devices that no launch needs"
    found = Counter((record.spec.repeat, record.outcome) for record in submitting.records().values())
    assert found == {(1, "ok"): 2, (2, "ok"): 2, (3, "unneeded"): 2}
    jobs = {record.environment.get("slurm_job_id") for record in submitting.records().values()}
    assert len(jobs - {None}) == 1, "repeats up to a decision share a job"
