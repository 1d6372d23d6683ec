"""A study through `snakemake --profile slurm`: one node and two, to the report."""

from __future__ import annotations

import json
import re
from collections import Counter

import pandas as pd
import pytest
from conftest import make_checkout
from slurm_cluster import Cluster
from slurm_studies import Submitting, small_study


@pytest.fixture(scope="module")
def studied(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> tuple[Submitting, str]:
    """A study of 1, 2 and 4 ranks on one node and on two that was submitted, and the output of Snakemake."""
    root = make_checkout(tmp_path_factory.mktemp("studied") / "checkout").root
    submitting = Submitting(root, cluster)
    study = small_study(scales=["1x2", "2x2"], allocations="blocks")
    submitting.configure(study)
    return submitting, submitting.submit().stdout


def test_every_run_came_up_as_planned(studied: tuple[Submitting, str]) -> None:
    """There are exactly world-size ranks, on the number of nodes of the scale."""
    submitting, _ = studied
    records = submitting.records()
    assert set(records) == set(submitting.plan().runs)
    for record in records.values():
        assert record.outcome == "ok", f"{record.run_id}: {record.reason}\n" + "\n".join(record.log_tail)
        assert [rank.rank for rank in record.ranks] == list(range(record.spec.world_size))
        ranks = Counter(rank.node for rank in record.ranks)
        assert len(ranks) == record.spec.nodes
        assert set(ranks.values()) == {record.spec.devices_per_node}
        assert set(ranks) <= {"node1", "node2"}
        assert record.environment["slurm_job_id"]
        assert [node["name"] for node in record.environment["nodes"]] == sorted(ranks)


def test_a_repeat_is_one_job_in_the_order_of_the_plan(studied: tuple[Submitting, str]) -> None:
    """All scales in the job of the largest: the smaller ones on its first nodes, where the larger ones are too."""
    submitting, output = studied
    records = submitting.records()
    assert len({record.environment["slurm_job_id"] for record in records.values()}) == 1
    assert len(re.findall(r"submitted with SLURM jobid", output)) == 1
    started = sorted(records, key=lambda run: records[run].started_at)
    assert started == list(submitting.plan().runs)
    for record in records.values():
        nodes = [node["name"] for node in record.environment["nodes"]]
        assert nodes == ["node1", "node2"][: record.spec.nodes]
        assert record.environment["held_devices"] == 4


def test_the_plan_says_how_many_jobs_there_will_be(studied: tuple[Submitting, str]) -> None:
    submitting, _ = studied
    said = submitting.run("scalestudy", "plan").stdout
    assert "on a cluster: 1 job" in said
    # Three runs of five minutes on four devices: a single process, two ranks, four ranks.
    assert "of these 1 device-hours, 0.417 idle" in said


def test_idle_devices_are_part_of_what_the_study_took(studied: tuple[Submitting, str]) -> None:
    submitting, _ = studied
    runs = pd.read_csv(submitting.results / "runs.csv")
    hours = 4 * runs["wall_time_s"].sum() / 3600
    numbers = json.loads((submitting.results / "numbers.json").read_text())["numbers"]
    used = (runs["wall_time_s"] * runs["world_size"]).sum() / 3600
    assert numbers["effort.device_hours"]["value"] == pytest.approx(hours)
    assert numbers["effort.idle_device_hours"]["value"] == pytest.approx(hours - used)
    assert " of idle devices: a job runs all scales of a repeat" in " ".join(
        (submitting.results / "performance_report.txt").read_text().split()
    )


def test_it_ends_in_the_report(studied: tuple[Submitting, str]) -> None:
    submitting, _ = studied
    text = (submitting.results / "performance_report.txt").read_text()
    assert "3 runs: 3 ok." in text
    assert "node1, node2" in text
    assert "2 nodes" in text
    assert "does not cancel" not in text
    assert "Nothing to be done" in submitting.submit("-n").stdout


def test_nothing_is_left(studied: tuple[Submitting, str]) -> None:
    submitting, _ = studied
    assert submitting.cluster.jobs() == []
    assert not list(submitting.results.glob("runs/.partial/*/"))
