"""The same study on a GPU: what can only be seen where there is one."""

from __future__ import annotations

import shutil

import pytest
from conftest import Checkout, tiny_study
from scalestudy.record.observation import read_observation

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(shutil.which("nvidia-smi") is None, reason="no NVIDIA GPU here"),
]


def test_auto_takes_the_gpu_and_times_it_with_events(checkout: Checkout) -> None:
    study = tiny_study() | {"host": {"device": "auto"}, "scales": ["1x1"]}
    checkout.configure(study)
    checkout.run("snakemake")
    found = [read_observation(path.parent) for path in checkout.root.glob("results/tiny/runs/*/run.json")]
    assert len(found) == 4, "the plain model and DDP at one rank, two workloads"
    for observation in found:
        record = observation.record
        assert record.outcome == "ok", record.reason
        assert record.environment["device_type"] == "cuda"
        assert "-> cuda" in record.environment["device_choice"]
        assert record.ranks[0].memory.peak_allocated_gib > 0
        assert (observation.steps["step_time_s"] > 0).all()
