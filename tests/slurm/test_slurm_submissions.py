"""Submissions do not disturb each other, and editing a config does not disturb them."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
import yaml
from conftest import wait_for
from slurm_studies import QUICK, Submitting, small_study

pytestmark = pytest.mark.slow


def test_two_studies_at_once_do_not_meet(submitting: Submitting) -> None:
    """Both on two nodes, at the same time: ports, locks and directories are each their own."""
    studies = []
    for name in ("left", "right"):
        path = submitting.root / f"{name}.yaml"
        path.write_text(yaml.safe_dump(small_study(study=name, epochs=30, scales=["2x1"])))
        call = ["snakemake", "--profile", "slurm", *QUICK, "--configfile", path.name]
        studies.append(submitting.start(*call, "--", f"results/{name}/comprehensive_summary.csv"))
    wait_for(lambda: sum("RUNNING" in job for job in submitting.cluster.jobs()) >= 2, seconds=90)
    assert [study.wait(timeout=240) for study in studies] == [0, 0]
    for name in ("left", "right"):
        summary = pd.read_csv(submitting.root / f"results/{name}/comprehensive_summary.csv")
        assert summary["launches_ok"].tolist() == summary["launches"].tolist() == [1, 1]


def test_jobs_find_the_config_they_were_submitted_with(submitting: Submitting) -> None:
    """An edit between submission and start would make a job look for runs that are not there."""
    submitting.configure(small_study(study="kept"))
    cluster, results = submitting.cluster, Path(submitting.root / "results/kept")
    cluster.run("scontrol", "update", "partition=main", "state=down")  # jobs wait
    try:
        target = "results/kept/comprehensive_summary.csv"
        process = submitting.start("snakemake", "--profile", "slurm", *QUICK, "--", target)
        wait_for(lambda: len(cluster.jobs()) == 1, seconds=90)
        edited = small_study(study="kept")
        edited["workloads"]["mlp"]["batch_size"] = 64
        (submitting.root / "config/config.yaml").write_text(yaml.safe_dump(edited))
    finally:
        cluster.run("scontrol", "update", "partition=main", "state=up")
    assert process.wait(timeout=180) == 0
    assert {path.name.split("-")[2] for path in results.glob("runs/*-*")} == {"b32", "b16"}


def test_inside_an_allocation_launches_are_its_steps(submitting: Submitting) -> None:
    """`salloc`, then plain `snakemake`: no job is submitted, and the ranks are on both nodes of the allocation."""
    submitting.configure(small_study(scales=["2x1"]))
    target = submitting.results / "performance_report.txt"
    command = ["snakemake", "--quiet", "host", "--", str(target.relative_to(submitting.root))]
    submitting.run_in_cluster("salloc", "--nodes=2", "--ntasks-per-node=1", "--cpus-per-task=1", *command)
    records = submitting.records().values()
    assert {record.outcome for record in records} == {"ok"}
    assert len({record.environment["slurm_job_id"] for record in records}) == 1
    two = next(record for record in records if record.spec.nodes == 2)
    assert sorted(rank.node for rank in two.ranks) == ["node1", "node2"]
