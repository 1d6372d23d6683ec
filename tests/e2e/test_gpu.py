"""The same study on a GPU: what can only be seen where there is one."""

from __future__ import annotations

import os
import shutil

import pytest
from conftest import Checkout, tiny_study
from scalestudy.record.host.gpus import gpu_facts
from scalestudy.record.host.sensors import Sensors
from scalestudy.record.observation import read_record
from scalestudy.record.tables import read_observation
from scalestudy.study.config.load import parse_study
from scalestudy.study.plan import make_plan

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(shutil.which("nvidia-smi") is None, reason="no NVIDIA GPU here"),
]


def test_auto_takes_the_gpu_and_times_it_with_events(checkout: Checkout) -> None:
    study = tiny_study() | {"host": {"device": "auto"}, "scales": ["1x1"]}
    del study["report"]  # its key is for studies of several ranks
    checkout.configure(study)
    checkout.run("snakemake", "--show-failed-logs")  # a lent machine takes its logs with it
    found = [read_observation(path.parent) for path in checkout.root.glob("results/tiny/runs/*/run.json")]
    assert len(found) == 4, "the plain model and DDP at one rank, two workloads"
    for observation in found:
        record = observation.record
        assert record.outcome == "ok", record.reason
        assert record.environment["device_type"] == "cuda"
        assert "-> cuda" in record.environment["device_choice"]
        assert record.ranks[0].memory.peak_allocated_gib > 0
        assert (observation.steps["step_time_s"] > 0).all()
        training = observation.blocks[observation.blocks["phase"] == "measured"]
        assert (training["enqueue_first_step_s"] > 0).all()
        gpu = record.environment["hardware"]["gpu"]
        assert gpu["note"] == ""
        assert gpu["devices"][0]["name"] == record.ranks[0].device
        assert "GPUs not checked" not in {warning["kind"] for warning in record.environment["warnings"]}


def test_a_real_device_is_described_and_its_sensors_read() -> None:
    gpu = gpu_facts(os.environ)
    assert gpu["note"] == ""
    device = gpu["devices"][0]
    assert device["uuid"].startswith(("GPU-", "MIG-"))
    assert device["driver"]
    assert device["memory_gib"] > 0
    assert device["compute_capability"]
    count = len(gpu["devices"])
    assert len(gpu["links"]) == count * (count - 1) // 2
    assert "could not be read" not in gpu["links"].values()
    readings = Sensors(0).read()
    assert readings["gpu_temperature_c"] > 0
    assert readings["gpu_sm_clock_mhz"] > 0


def test_more_ranks_than_devices_are_refused_before_anything_starts(checkout: Checkout) -> None:
    study = tiny_study() | {"host": {"device": "cuda"}, "scales": ["1x64"]}
    for workload in study["workloads"].values():
        workload["batch_size"] = 64
    runs = make_plan(parse_study(study, source="x")).runs
    name = next(run for run, spec in runs.items() if spec.world_size == 64)
    checkout.configure(study)
    checkout.run("scalestudy", "stage", "train", "--run", name)
    record = read_record(checkout.root / "results/tiny/runs" / name)
    assert record.outcome == "failed"
    assert "64 rank(s) need 64 CUDA device(s) on this host" in record.reason
    assert record.ranks == ()
