"""Faults of one run on one host: which process, and when; the record, what is left behind, and the next call.

Each cell is a real run of two ranks. A rank waits at the moment, so that the fault meets it there for certain.
"""

from __future__ import annotations

import itertools
import os
import signal
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from conftest import alive, handlers_kept, wait_for
from faulted import HANG_UP, SOON_S, Faulted
from scalestudy.launch import process
from scalestudy.launch.run import measure_run
from scalestudy.record.tables import read_observation
from scalestudy.study.limits import Limits

EARLY = "start of a rank"
"""A rank has no report yet that it could write."""
IN_TRAINING = ("rendezvous", "warm-up", "block")
IN_RANKS = (*IN_TRAINING, "probe", "writing")
MOMENTS = ("preparing", *IN_RANKS)
SEEDS = itertools.count(1)
BY_A_SIGNAL = {
    signal.SIGTERM: "SIGTERM",
    signal.SIGINT: "SIGINT",
    signal.SIGHUP: "SIGHUP",
    signal.SIGKILL: "SIGKILL",
    signal.SIGSTOP: "SIGSTOP, then SIGCONT",
    HANG_UP: "its terminal hangs up",
}
NAMES = {
    "rank": "a rank",
    "starter": "the process that starts the ranks",
    "supervisor": "the process that monitors the ranks",
    "keeper": "the keeper of a run",
    "launcher": "the launcher",
}
WHOLE, STOPPED, FAILED, NOTHING = "ok", "ok, without its probes", "failed", ""
"""What is recorded: all; the training without its probes; the reason; nothing."""


@dataclass(frozen=True)
class Cell:
    """A fault at a moment, and its outcome."""

    victim: str
    fault: int | str
    moment: str
    recorded: str
    reason: str = ""
    """A part of the reason of what failed."""

    @property
    def mark(self) -> pytest.MarkDecorator:
        kept = {
            WHOLE: "the complete run",
            STOPPED: "the run, with a warning that its probes are missing",
            FAILED: "a record with the reason, and the ranks' measurements so far",
            NOTHING: "nothing of this run; every other run",
        }
        measured = "measures the run; its record says that an earlier attempt was cut off"
        again = measured if self.fault == signal.SIGKILL else "measures the run"
        return pytest.mark.fault(
            fault=f"{BY_A_SIGNAL[self.fault]} to {NAMES[self.victim]}"
            if self.fault != HANG_UP
            else "the terminal of the launcher hangs up",
            moment=self.moment,
            outcome=self.recorded or "not recorded",
            kept=kept[self.recorded],
            next_call=again if self.recorded == NOTHING else "keeps the record and measures nothing",
        )


def cells_of_ranks() -> Iterator[Cell]:
    for moment in IN_RANKS:
        yield Cell("rank", signal.SIGKILL, moment, FAILED, "left no report; ended by SIGKILL")
        yield Cell("rank", signal.SIGSTOP, moment, WHOLE)
    for moment in (EARLY, *IN_TRAINING):
        yield Cell("rank", signal.SIGTERM, moment, FAILED, "was stopped by SIGTERM before any rank had failed")
    yield Cell("rank", signal.SIGTERM, "probe", STOPPED)
    yield Cell("rank", signal.SIGTERM, "writing", WHOLE)


def cells_of_what_starts_ranks() -> Iterator[Cell]:
    reasons = {
        ("starter", signal.SIGKILL): "the process that starts the ranks was ended by SIGKILL",
        ("starter", signal.SIGTERM): "was stopped by SIGTERM before any rank had failed",
        ("keeper", signal.SIGKILL): "the process that starts the ranks was ended by SIGKILL",
    }
    for (victim, fault), reason in reasons.items():
        for moment in (*([EARLY] if fault == signal.SIGTERM else []), *IN_TRAINING):
            yield Cell(victim, fault, moment, FAILED, reason)
        yield Cell(victim, fault, "probe", STOPPED)
        yield Cell(victim, fault, "writing", WHOLE)
    for moment in IN_RANKS:
        yield Cell("starter", signal.SIGSTOP, moment, WHOLE)
        yield Cell("supervisor", signal.SIGKILL, moment, FAILED, "left no report")


def cells_of_launchers() -> Iterator[Cell]:
    for moment in MOMENTS:
        for fault in (signal.SIGKILL, signal.SIGTERM, signal.SIGINT, HANG_UP):
            yield Cell("launcher", fault, moment, NOTHING)
        yield Cell("launcher", signal.SIGSTOP, moment, WHOLE)


QUICK = {("launcher", signal.SIGKILL, "block")}
CELLS = [*cells_of_ranks(), *cells_of_what_starts_ranks(), *cells_of_launchers()]


def parameters() -> list[Any]:
    return [
        pytest.param(
            cell,
            id=f"{cell.victim}-{BY_A_SIGNAL[cell.fault].split(',')[0].replace(' ', '_')}-{cell.moment}",
            marks=[cell.mark] + [pytest.mark.slow] * ((cell.victim, cell.fault, cell.moment) not in QUICK),
        )
        for cell in CELLS
    ]


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One folder for all cells: their ranks are forked from one parent."""
    return tmp_path_factory.mktemp("matrix") / "results"


@pytest.mark.parametrize("cell", parameters())
def test_a_fault_at_a_moment(cell: Cell, results: Path, tmp_path: Path) -> None:
    launch = Faulted(results, tmp_path, cell.moment, seed=next(SEEDS))
    before = {path: path.read_bytes() for path in results.glob("runs/*/run.json")}
    with launch.held_host():
        called = launch.call(terminal=cell.fault == HANG_UP)
        launch.meet(called)
        launch.hit(cell.victim, cell.fault)
        if cell.recorded == WHOLE or cell.moment == EARLY:  # otherwise the rank ends where it waits
            launch.let_go()
        if cell.moment == "preparing" and cell.recorded == NOTHING:
            called.wait(SOON_S)
    said = called.communicate(timeout=SOON_S)[0] or ""
    if cell.recorded == NOTHING:
        signum = signal.SIGHUP if cell.fault == HANG_UP else cell.fault
        assert called.returncode == (-signum if signum == signal.SIGKILL else 128 + signum), said
        assert not launch.run.exists()
        wait_for(lambda: not any(alive(pid) for pid in launch.pids.values()), seconds=SOON_S)
    else:
        assert called.returncode == 0, said
        of_fault(launch, cell)
    launch.let_go()
    record = launch.run / "run.json"
    first = record.read_bytes() if record.exists() else None
    again = launch.call()
    said = again.communicate(timeout=SOON_S)[0]
    assert again.returncode == 0, said
    if cell.recorded == NOTHING:
        assert ": measured: ok" in said
        attempts = read_observation(launch.run).record.environment.get("earlier_attempts", [])
        assert len(attempts) == (cell.fault == signal.SIGKILL)
    else:
        assert ": kept, already measured" in said
        assert record.read_bytes() == first
    assert launch.left_over() == []
    assert {path: path.read_bytes() for path in before} == before, "no finished run is changed"


@pytest.mark.slow
@pytest.mark.fault(
    fault="SIGSTOP to a rank, never continued",
    moment="block",
    outcome="failed",
    kept="a record with the rank and stall_limit_s, and the other rank's measurements",
    next_call="keeps the record and measures nothing",
)
def test_a_rank_that_is_stopped_for_ever_is_named_with_the_limit(results: Path, tmp_path: Path) -> None:
    launch = Faulted(results, tmp_path, "block", seed=next(SEEDS))
    called = launch.call(stall_limit_s=6)
    launch.meet(called)
    os.kill(launch.pids["rank"], signal.SIGSTOP)
    said = called.communicate(timeout=2 * SOON_S)[0]
    assert called.returncode == 0, said
    record = read_observation(launch.run).record
    node = record.ranks[0].node
    assert record.outcome == "failed"
    assert record.reason == (
        f"rank 1 on {node} made no progress: rank 0 on {node} waited 6 s (stall_limit_s) for it; ended by SIGKILL"
    )
    assert launch.left_over() == []


@pytest.mark.fault(
    fault="the time limit is reached",
    moment="probe",
    outcome=STOPPED,
    kept="the run, with a warning that names time_limit_min",
    next_call="keeps the record and measures nothing",
)
def test_complete_steps_with_probes_over_the_time_limit_are_a_run(
    results: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The launcher's clock advances by half an hour as soon as the ranks probe."""
    launch = Faulted(results, tmp_path, "probe", seed=next(SEEDS))
    late = SimpleNamespace(sleep=time.sleep, monotonic=lambda: time.monotonic() + 1800 * launch.is_there)
    monkeypatch.setattr(process, "time", late)
    with handlers_kept():
        measure_run(launch.spec, results, limits=Limits(time_limit_min=30))
    observation = read_observation(launch.run)
    assert (observation.record.outcome, observation.record.reason) == ("ok", "")
    (warning,) = (one for one in observation.record.environment["warnings"] if one["kind"] == "probes failed")
    assert "the time limit of 30 min ended its probes" in warning["text"]
    assert "time_limit_min" in warning["text"]
    assert {len(steps) for _, steps in observation.steps.groupby("rank")} == {observation.record.totals.steps}


def of_fault(launch: Faulted, cell: Cell) -> None:
    """Whether the record has the reason and the measurements. Reading it checks all of its files."""
    observation = read_observation(launch.run)
    record = observation.record
    kinds = {warning["kind"] for warning in record.environment["warnings"]}
    assert record.outcome == ("failed" if cell.recorded == FAILED else "ok"), record.reason
    assert cell.reason in record.reason
    if cell.recorded != FAILED:
        steps = observation.steps.groupby("rank")["step"].count()
        assert list(steps.index) == [0, 1]
        assert steps[0] == steps[1] > 0
    assert ("probes failed" in kinds) == (cell.recorded == STOPPED)
    assert [path.name for path in launch.run.iterdir() if path.name.startswith(("rank-", "probes"))] == []
