"""Ranks that are forked from a process that has imported torch: they train as cold ones do, and end as they do."""

from __future__ import annotations

import contextlib
import os
import re
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import psutil
import pytest
from conftest import Checkout, mlp_workload, wait_for
from launches import spec_of, step_losses, succeeded
from scalestudy.errors import UserError
from scalestudy.launch.forked import client, parent
from scalestudy.record.observation import read_record
from scalestudy.record.tables import Observation
from scalestudy.study.config.load import parse_study
from scalestudy.study.plan import make_plan
from scalestudy.study.spec import RunSpec

DDP = {"strategy": "ddp"}
MARK = "SCALESTUDY_TEST_FORK"


def family(mark: str) -> list[psutil.Process]:
    """Processes that were started, or forked, with a mark in their environment; those that wait for them left
    out."""
    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            forked = any(word.startswith("scalestudy.launch.forked.parent") for word in process.cmdline())
            if forked and process.environ().get(MARK) == mark and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
    return found


def oldest(mark: str) -> list[int]:
    """Process ids of those in the family that were not forked by one of it."""
    processes = family(mark)
    ids = {process.pid for process in processes}
    return [process.pid for process in processes if process.ppid() not in ids]


@pytest.fixture
def mark() -> Iterator[str]:
    """A mark for the parents of a test, which are ended after it."""
    made = uuid4().hex
    yield made
    for process in family(made):
        with contextlib.suppress(psutil.Error):
            process.kill()


def forked(mark: str, variant: dict[str, Any], **study: Any) -> RunSpec:
    return spec_of(variant, host={"start": "fork", "environment": {MARK: mark}}, **study)


def losses(observation: Observation) -> list[float]:
    return step_losses(observation.steps).tolist()


def test_forked_ranks_train_as_cold_ones_do_and_share_a_parent(mark: str, tmp_path: Path) -> None:
    variants = ({"strategy": "single"}, DDP)
    parents, warm = [], []
    for variant in variants:  # first: the parent would not wait forever while others start cold
        warm.append(succeeded(forked(mark, variant, report={"overhead_reference": False}), tmp_path))
        parents.append(oldest(mark))
    assert len(parents[0]) == 1
    assert parents[0] == parents[1]
    wait_for(lambda: len(family(mark)) <= 1)
    for variant, of_fork in zip(variants, warm, strict=True):
        cold = succeeded(spec_of(variant, host={"environment": {MARK: mark}}), tmp_path / "cold")
        assert losses(of_fork) == losses(cold)
        assert of_fork.record.run_id != cold.record.run_id, "they are different runs"
        assert [rank.cores for rank in of_fork.record.ranks] == [rank.cores for rank in cold.record.ranks]
        assert {rank.threads for rank in of_fork.record.ranks} == {1}
        seen = [record.record.environment["variables"] for record in (of_fork, cold)]
        assert seen[0] == seen[1]


@pytest.mark.slow
def test_another_repeat_has_another_parent(mark: str, tmp_path: Path) -> None:
    first = forked(mark, {"strategy": "single"})
    second = first.model_copy(update={"repeat": 2})
    for spec in (first, second):
        succeeded(spec, tmp_path)
    assert len(oldest(mark)) == 2


def endless(checkout: Checkout, mark: str) -> str:
    """The id of a run of two forked ranks that does not end by itself, in the study of a checkout."""
    workload = mlp_workload(epochs=5000, scaling=["strong"])
    study = {
        "study": "tiny",
        "repeats": 1,
        "scales": ["1x2"],
        "variants": {"single": {"strategy": "single"}, "ddp": DDP},
        "workloads": {"first": workload},
        "host": {"device": "cpu", "start": "fork", "environment": {MARK: mark}},
    }
    checkout.configure(study)
    return next(name for name, spec in checkout.plan().runs.items() if spec.world_size == 2)


def ranks(mark: str) -> list[psutil.Process]:
    """The two ranks of a run that is under way, in the order of their process ids."""
    ids = oldest(mark)
    supervisors = [process.pid for process in family(mark) if process.ppid() in ids]
    return sorted((p for p in family(mark) if p.ppid() in supervisors), key=lambda process: process.pid)


@pytest.mark.parametrize("signum", [pytest.param(signal.SIGTERM, marks=pytest.mark.slow), signal.SIGKILL])
def test_an_ended_launch_leaves_no_run_and_no_rank(checkout: Checkout, mark: str, signum: signal.Signals) -> None:
    name = endless(checkout, mark)
    process = checkout.start("scalestudy", "stage", "train", "--run", name)
    wait_for((checkout.root / "results/tiny/runs/.partial" / name / "progress.json").exists)
    assert len(ranks(mark)) == 2
    process.send_signal(signum)
    process.wait(timeout=180)
    wait_for(lambda: len(family(mark)) <= 1)  # the parent may wait for another run
    assert not (checkout.root / "results/tiny/runs" / name).exists()


@pytest.mark.parametrize(
    "who", [*(pytest.param(who, marks=pytest.mark.slow) for who in ("rank", "supervisor")), "parent"]
)
def test_a_process_that_is_killed(checkout: Checkout, mark: str, who: str) -> None:
    """A rank is named; without a supervisor the run fails; without its parent it continues."""
    name = endless(checkout, mark)
    process = checkout.start("scalestudy", "stage", "train", "--run", name)
    progress = checkout.root / "results/tiny/runs/.partial" / name / "progress.json"
    wait_for(progress.exists)
    found = ranks(mark)
    victims = {"rank": found[1].pid, "supervisor": found[1].ppid(), "parent": oldest(mark)[0]}
    os.kill(victims[who], signal.SIGKILL)
    if who == "parent":
        wait_for(lambda: len(family(mark)) == 3)
        before = progress.read_text()
        wait_for(lambda: progress.read_text() != before)
        process.terminate()
        process.wait(timeout=180)
        wait_for(lambda: not family(mark))
        return
    process.wait(timeout=180)
    wait_for(lambda: len(family(mark)) <= 1)
    record = read_record(checkout.root / "results/tiny/runs" / name)
    assert record.outcome == "failed"
    if who == "rank":
        assert re.match(r"rank 1 on \S+ left no report; ended by SIGKILL", record.reason)
    else:
        assert "left no report" in record.reason


@pytest.fixture
def idle(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A parent in this process ends at once, and its handlers are removed after it."""
    monkeypatch.setattr(parent, "IDLE_S", 0.01)
    before = signal.getsignal(signal.SIGCHLD)
    yield
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, before)


@pytest.mark.usefixtures("idle")
def test_a_parent_ends_when_nobody_asks() -> None:
    with client.socket.socket(client.socket.AF_UNIX) as listener:
        listener.bind(client.address(uuid4().hex))
        listener.listen()
        parent.serve(listener)


@pytest.mark.usefixtures("idle")
def test_a_request_in_the_last_moment_of_a_parent_is_served(monkeypatch: pytest.MonkeyPatch) -> None:
    """It came after the parent had decided to end, and before its address was closed."""
    place, asking = client.address(uuid4().hex), client.socket.socket(client.socket.AF_UNIX)

    class Listener(client.socket.socket):  # type: ignore[misc,name-defined]
        def shutdown(self, how: int) -> None:
            asking.connect(place)
            super().shutdown(how)

    def answer(connection: client.socket.socket) -> int:  # type: ignore[name-defined]
        connection.sendall(b"served")
        return 0

    monkeypatch.setattr(parent, "supervise", answer)
    monkeypatch.setattr(parent, "unfit", lambda: "")
    with asking, Listener(client.socket.AF_UNIX) as listener:
        listener.bind(place)
        listener.listen()
        parent.serve(listener)
        assert asking.recv(6) == b"served"
        with client.socket.socket(client.socket.AF_UNIX) as late, pytest.raises(ConnectionRefusedError):
            late.connect(place)  # and another parent is started for it


def test_a_process_with_threads_forks_no_ranks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parent.threading, "active_count", lambda: 2)
    assert parent.unfit() == "2 threads are running in it"


def test_several_nodes_start_cold(content: dict[str, Any]) -> None:
    content |= {"scales": ["2x1"], "host": {"start": "fork"}}
    with pytest.raises(UserError, match=r"host\.start: fork works on one node, and scale 2x1 has several"):
        parse_study(content, source="x")


def test_what_starts_cold_keeps_the_id_of_its_run(content: dict[str, Any]) -> None:
    ids = {start: set(make_plan(parse_study(content | given, source="x")).runs) for start, given in GIVEN.items()}
    assert ids["unset"] == ids["cold"]
    assert not ids["cold"] & ids["fork"]


GIVEN: dict[str, dict[str, Any]] = {
    "unset": {},
    "cold": {"host": {"start": "cold"}},
    "fork": {"host": {"start": "fork"}},
}


def test_a_variant_may_start_otherwise_with_a_base_case_that_starts_alike(content: dict[str, Any]) -> None:
    variants = {
        "single": {"strategy": "single"},
        "ddp": {"strategy": "ddp", "base": "single"},
        "single-cold": {"strategy": "single", "start": "cold"},
        "ddp-cold": {"strategy": "ddp", "start": "cold", "base": "single-cold"},
    }
    plan = make_plan(parse_study(content | GIVEN["fork"] | {"variants": variants}, source="x"))
    starts = {spec.variant: spec.host.start for spec in plan.runs.values()}
    assert starts == {"single": "fork", "ddp": "fork", "single-cold": "cold", "ddp-cold": "cold"}
    forked = set(make_plan(parse_study(content | GIVEN["fork"], source="x")).runs)
    assert {run for run, spec in plan.runs.items() if spec.variant in ("single", "ddp")} == forked


def test_a_speedup_is_never_of_two_starts(content: dict[str, Any]) -> None:
    variants = {"single": {"strategy": "single"}, "ddp": {"strategy": "ddp", "start": "fork"}}
    with pytest.raises(UserError, match=r"variants\.ddp\.base: ddp starts by fork and single does not"):
        parse_study(content | {"variants": variants}, source="x")
