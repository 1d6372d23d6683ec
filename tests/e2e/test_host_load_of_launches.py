"""What else a host did while a run was measured is in its record, as the host's counters have it."""

from __future__ import annotations

import contextlib
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
from launches import spec_of, succeeded

STEPS: dict[str, Any] = {"min_steps": 3000, "max_steps": 3000}


@contextlib.contextmanager
def neighbour() -> Iterator[psutil.Process]:
    """A process that computes beside a run, on whichever CPU it gets."""
    process = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    try:
        yield psutil.Process(process.pid)
    finally:
        process.kill()
        process.wait()


@pytest.mark.parametrize("start", ["cold", pytest.param("fork", marks=pytest.mark.slow)])
def test_a_neighbour_is_in_the_record_and_what_the_ranks_take_is_not_counted_as_one(
    start: str, tmp_path: Path
) -> None:
    """Beside whatever else runs here. The neighbour has a fair share of the CPUs all the time, so what it took of
    the whole run says about what it took of the training."""
    host = {"start": start, "cores_per_rank": 1}
    with neighbour() as process:
        begun, at = sum(process.cpu_times()[:2]), time.monotonic()
        observation = succeeded(spec_of({"strategy": "ddp"}, {"epochs": 0}, measure=STEPS, host=host), tmp_path)
        took_cores = (sum(process.cpu_times()[:2]) - begun) / (time.monotonic() - at)
    environment = observation.record.environment
    assert "measured_between" not in environment
    (load,) = environment["host_load"]["training"]
    assert load["cpus"] == 2
    assert load["span_s"] >= observation.record.totals.training_wall_time_s
    assert load["others_cores"] >= took_cores / 2
    assert load["own_cores"] > 0.2, "two ranks compute all the time"
    assert load["own_cores"] + load["others_cores"] <= 2.2, "nobody's time is counted twice"
    assert {path.name for path in (tmp_path / "runs" / observation.record.run_id).iterdir()} == {
        *("run.json", "run.sha256", "log.txt", "epochs.csv"),
        *(f"{name}.parquet" for name in ("steps", "blocks", "buckets", "collectives")),
    }
