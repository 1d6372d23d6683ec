"""What fails on one rank has the same outcome, reason and kept steps on a backend as strict as NCCL as on gloo."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest
from conftest import handlers_kept
from failing_rank import BACKEND, FAILS
from launches import spec_of
from scalestudy.launch.run import measure_run
from scalestudy.record.tables import Observation, read_observation
from scalestudy.study.limits import Limits
from scalestudy.study.spec import WORKER

STALL_S = 6
QUICK = {("memory", "strict"), ("probe", "strict")}


def failed(fails: str, backend: str, results: Path, strategy: str = "ddp") -> Observation:
    environment = {WORKER: "failing_rank", FAILS: fails, BACKEND: backend}
    environment["PYTHONPATH"] = str(Path(__file__).parents[1])
    host = {"device": "cpu", "start": "fork", "environment": environment}
    probes = {"probe_rounds": 2, "probe_steps": 3, "block_steps": 4}
    spec = spec_of({"strategy": strategy}, host=host, measure=probes)
    with handlers_kept():
        record, _ = measure_run(spec, results, limits=Limits(time_limit_min=3, stall_limit_s=STALL_S))
    return read_observation(results / "runs" / record.run_id)


def cases() -> list[Any]:
    """Of each fault both backends; what takes longest to run here twice is left to the slow tests."""
    return [
        pytest.param(*fault, backend, marks=() if (fault[0], backend) in QUICK else pytest.mark.slow)
        for fault in FAULTS
        for backend in ("gloo", "strict")
    ]


FAULTS = [
    ("nothing", "ok", ""),
    ("memory", "oom", "rank 1: out of memory"),
    ("diverged", "diverged", "loss is nan at step 7 on rank 1"),
    ("exception", "failed", "rank 1: ValueError: of the user's own"),
    ("hang", "failed", f"rank 1 on {{node}} did not move on for {STALL_S} s"),
    ("killed", "failed", "rank 1 on {node} left no report; ended by SIGKILL"),
    ("probe", "ok", ""),
]


@pytest.mark.parametrize(("fails", "outcome", "reason", "backend"), cases())
def test_a_fault_of_one_rank(fails: str, outcome: str, reason: str, backend: str, tmp_path: Path) -> None:
    begin = time.monotonic()
    observation = failed(fails, backend, tmp_path)
    record = observation.record
    assert record.outcome == outcome, record.log_tail
    node = next(rank.node for rank in record.ranks)
    assert record.reason.startswith(reason.format(node=node))
    steps = observation.steps.groupby("rank")["step"].count()
    assert (steps >= 10 + 2 * 4).all(), "the warm-up and two blocks before it are kept, of each rank that reported"
    noted = [one["text"] for one in record.environment["warnings"] if one["kind"] == "probes failed"]
    assert [text.rpartition(": ")[2] for text in noted] == (["out of memory"] if fails == "probe" else [])
    assert time.monotonic() - begin < 60, "no rank waits for one that is gone"


@pytest.mark.slow
def test_sharded_training_over_it(tmp_path: Path) -> None:
    assert failed("nothing", "strict", tmp_path, "fsdp").record.outcome == "ok"
