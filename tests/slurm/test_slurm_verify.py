"""Advice is tried on a cluster as it is locally: by jobs, once, and scored from what they measured."""

from __future__ import annotations

import pytest
from scalestudy.diagnose.findings import FindingsFile
from scalestudy.record.document import read_document, write_document
from scalestudy.record.observation import read_record
from scalestudy.verify.model import VerificationFile
from slurm_studies import Submitting, small_study
from tried_advice import only_seldom


@pytest.mark.slow
def test_a_trial_is_submitted_scored_and_not_submitted_again(submitting: Submitting) -> None:
    study = small_study(repeats=2, max_repeats=2, host={"device": "cpu", "start": "fork"})
    study["workloads"]["mlp"]["model"]["hidden_dim"] = 512
    study["variants"]["ddp"]["checkpoint_every_steps"] = 1
    submitting.configure(study)
    submitting.submit("results/small/findings.json")
    path = submitting.results / "findings.json"
    found = read_document(path, FindingsFile)
    write_document(path, found.model_copy(update={"diagnoses": only_seldom(found.diagnoses)}))
    of_the_study = set(submitting.records())

    command = ("scalestudy", "verify", "--results", "results/small", "--profile", "slurm")
    submitting.run(*command)
    runs = sorted(submitting.root.glob("results/small-mlp-ddp-save-less-often/runs/*/run.json"))
    records = [read_record(path.parent) for path in runs]
    measured = [record for record in records if record.outcome != "unneeded"]
    assert {record.outcome for record in measured} == {"ok"}
    assert {record.spec.variant for record in measured} == {"single", "ddp", "ddp-after"}
    assert all(record.environment.get("slurm_job_id") for record in measured)
    assert {rank.node for record in measured for rank in record.ranks} <= {"node1", "node2"}
    (scored,) = read_document(submitting.results / "verification.json", VerificationFile).verified
    assert scored.gain.low < scored.gain.value < scored.gain.high, scored.reason  # other load may hide the gain
    assert set(scored.after.runs) <= {record.run_id for record in records}
    assert set(submitting.records()) == of_the_study

    written = {path: path.stat().st_mtime_ns for path in runs}
    submitting.run(*command)
    assert not submitting.cluster.jobs()
    assert {path: path.stat().st_mtime_ns for path in runs} == written
