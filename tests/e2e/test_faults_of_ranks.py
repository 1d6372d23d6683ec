"""A fault of one rank has the same outcome, reason and kept steps on gloo and on a backend as strict as NCCL.

Whatever fails, each rank that can writes its report, and no rank waits for one that is gone.
"""

from __future__ import annotations

import re
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
QUICK = {("memory", "strict")}


LARGE = {"model": {"type": "mlp", "hidden_dim": 2048, "num_layers": 4}}


def failed(
    fails: str,
    backend: str,
    results: Path,
    *,
    strategy: str = "ddp",
    start: str = "fork",
    workload: dict[str, Any] | None = None,
) -> Observation:
    environment = {WORKER: "failing_rank", FAILS: fails, BACKEND: backend}
    environment["PYTHONPATH"] = str(Path(__file__).parents[1])
    host = {"device": "cpu", "start": start, "environment": environment}
    probes = {"probe_rounds": 2, "probe_steps": 3, "block_steps": 4}
    spec = spec_of({"strategy": strategy}, workload, host=host, measure=probes)
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
    ("hang", "failed", f"rank 1 on {{node}} made no progress for {STALL_S} s"),
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
    if fails == "hang":
        (log,) = tmp_path.rglob("log.txt")
        assert log.read_text().count("\nThread 0x") >= 2, "not only the thread that hangs is dumped"
    noted = [one["text"] for one in record.environment["warnings"] if one["kind"] == "probes failed"]
    assert [text.rpartition(": ")[2] for text in noted] == (["out of memory"] if fails == "probe" else [])
    assert time.monotonic() - begin < 60, "no rank waits for one that is gone"


@pytest.mark.slow
def test_sharded_training_over_it(tmp_path: Path) -> None:
    assert failed("nothing", "strict", tmp_path, strategy="fsdp").record.outcome == "ok"


STARTS = ["fork", pytest.param("cold", marks=pytest.mark.slow)]


@pytest.mark.parametrize("start", STARTS)
def test_a_group_that_never_ends_costs_no_measurement(start: str, tmp_path: Path) -> None:
    observation = failed("lingering", "gloo", tmp_path, start=start)
    record = observation.record
    assert (record.outcome, record.reason) == ("ok", "")
    assert {len(steps) for _, steps in observation.steps.groupby("rank")} == {record.ranks[0].steps}
    (warning,) = (one for one in record.environment["warnings"] if one["kind"] == "slow end")
    assert warning["text"].startswith(
        "all ranks had written their reports, but some of them did not exit normally"
    )


@pytest.mark.parametrize("start", STARTS)
def test_a_probe_that_fails_on_one_rank_is_a_note(start: str, tmp_path: Path) -> None:
    observation = failed("probe", "strict", tmp_path, start=start)
    record = observation.record
    assert (record.outcome, record.reason) == ("ok", "")
    assert {rank.steps for rank in record.ranks} == {record.totals.steps}
    assert not observation.steps["phase"].str.startswith("probe").any()
    (warning,) = (one for one in record.environment["warnings"] if one["kind"] == "probes failed")
    assert warning["text"].endswith("so their results are missing: rank 1: out of memory")


@pytest.mark.slow
def test_a_rank_without_memory_for_whole_gradients_leaves_the_others_no_collective(tmp_path: Path) -> None:
    """All ranks leave out the steps that do not synchronise, and run the other probes.

    Over gloo alone: the strict backend has a thread for each collective, for which this rank has no memory.
    """
    observation = failed("little memory", "gloo", tmp_path, strategy="fsdp", workload=LARGE)
    record = observation.record
    assert (record.outcome, record.reason) == ("ok", "")
    (warning,) = (one for one in record.environment["warnings"] if one["kind"].startswith("probe"))
    assert warning["kind"] == "probe left out"
    said = re.search(r"rank 1 needs (\S+) GiB more and has (\S+) GiB left$", warning["text"])
    assert said, warning["text"]
    half_gib = (record.totals.gradient_bytes or 0) / 2 / 2**30
    assert float(said[1]) - float(said[2]) == pytest.approx(half_gib, abs=0.02)
    assert not observation.steps["phase"].str.startswith("probe").any()
    assert set(observation.tables["collectives"]["rank"].to_pylist()) == {0, 1}


def test_a_device_that_is_lost_while_training_is_the_cause_and_not_a_peer_that_is_gone(tmp_path: Path) -> None:
    """NCCL's error is the same for both. The other rank waits in a collective, and reports this."""
    record = failed("lost device", "strict", tmp_path).record
    assert record.outcome == "failed"
    assert record.reason.startswith("rank 1: DistBackendError: NCCL error in: ")
    assert "Cuda failure 999 'unknown error'; NVML reports for its GPU: GPU is lost." in record.reason
    assert "Restart the node, or use another one" in record.reason


@pytest.mark.slow
def test_the_rank_that_ran_out_of_memory_is_named_and_the_other_does_not_wait_for_it(tmp_path: Path) -> None:
    """The other is in a collective that never ends, where no signal handler runs."""
    begin = time.monotonic()
    record = failed("memory", "strict", tmp_path, start="cold").record
    assert record.outcome == "oom"
    assert record.reason.startswith("rank 1: out of memory")
    assert {rank.rank: rank.outcome for rank in record.ranks} == {0: "timeout", 1: "oom"}
    assert time.monotonic() - begin < 60
