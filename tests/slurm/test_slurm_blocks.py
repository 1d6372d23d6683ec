"""Runs of a repeat in one job of SLURM, and the notes where they are in several."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from scalestudy.record.observation import RunRecord
from slurm_studies import Submitting, small_study

pytestmark = pytest.mark.slow


def jobs_of(records: dict[str, RunRecord]) -> Counter[tuple[str, str]]:
    """Launches by (variant, job)."""
    return Counter((record.spec.variant, record.environment["slurm_job_id"]) for record in records.values())


def submitted(submitting: Submitting, **changes: Any) -> tuple[dict[str, RunRecord], str]:
    """(records, text report as one line) of a study of 1x1 and 1x2, two repeats."""
    submitting.configure(small_study(repeats=2, **changes))
    submitting.submit(str((submitting.results / "performance_report.txt").relative_to(submitting.root)))
    records = submitting.records()
    assert {record.outcome for record in records.values()} == {"ok"}
    return records, " ".join((submitting.results / "performance_report.txt").read_text().split())


def test_unless_told_otherwise_repeats_of_one_node_share_a_job(submitting: Submitting) -> None:
    records, text = submitted(submitting)
    assert set(jobs_of(records).values()) == {2}
    assert len({job for _, job in jobs_of(records)}) == 1
    started = sorted(records, key=lambda run: records[run].started_at)
    assert started == list(submitting.plan().runs)
    assert [record.environment["held_devices"] for record in records.values()] == [2, 2, 2, 2]
    assert "does not cancel" not in text


def test_jobs_by_scale_are_said_to_be_apart(submitting: Submitting) -> None:
    records, text = submitted(submitting, allocations="scales")
    assert len({job for _, job in jobs_of(records)}) == 2
    assert {(record.spec.world_size, record.environment["held_devices"]) for record in records.values()} == {
        (1, 1),
        (2, 2),
    }
    assert "in 2 of 2 repeats the runs of this point and of its baseline were in different SLURM jobs" in text


def test_each_repeat_that_fills_a_job_has_one_of_its_own(submitting: Submitting) -> None:
    records, text = submitted(submitting, allocation_limit_min=12)
    by_repeat: dict[int, set[str]] = {}
    for record in records.values():
        by_repeat.setdefault(record.spec.repeat, set()).add(record.environment["slurm_job_id"])
    assert [len(jobs) for jobs in by_repeat.values()] == [1, 1]
    assert len(set.union(*by_repeat.values())) == 2
    assert "does not cancel" not in text


def test_words_for_one_rule_alone_are_refused_before_anything_is_submitted(submitting: Submitting) -> None:
    submitting.configure(small_study())
    output = submitting.submit("--set-resources", "train_distributed:slurm_extra='--exclusive'", check=False)
    assert output.returncode != 0
    assert "slurm_extra of train_distributed is" in output.stdout
    assert "their runs share a job" in output.stdout
    assert not submitting.records()
