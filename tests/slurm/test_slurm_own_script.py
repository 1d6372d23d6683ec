"""A script of one's own in jobs of SLURM: on one node, and on two that meet by torchrun."""

from __future__ import annotations

from pathlib import Path

import pytest
from own_scripts import scripts_in
from slurm_studies import Submitting

pytestmark = pytest.mark.slow


def test_a_script_runs_on_one_node_and_on_two(submitting: Submitting, tmp_path: Path) -> None:
    study = {
        "study": "own",
        "repeats": 1,
        "time_limit_min": 3,
        "scales": ["1x2", "2x1"],
        "variants": {"single": {"strategy": "single"}, "ddp": {"strategy": "ddp"}},
        "workloads": {
            "tutorial": {
                "command": "ddp_tutorial.py --epochs 50 --batch-size {batch_per_rank}",
                "directory": str(scripts_in(tmp_path)),
                "batch_size": 32,
                "scaling": ["weak"],
                "allow_shared": True,  # it saves checkpoint.pt where it is started
            }
        },
        "host": {"device": "cpu"},
        "measure": {"probe_rounds": 2, "probe_steps": 3, "min_steps": 20, "max_steps": 20},
    }
    submitting.configure(study)
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
