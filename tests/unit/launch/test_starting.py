"""How ranks are started, how their end is judged, and that no process is left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from builders import observation
from conftest import alive
from scalestudy.launch.command import THREAD_VARIABLES, rank_command, rank_environment
from scalestudy.launch.outcome import Evidence, judge
from scalestudy.launch.process import run_group
from scalestudy.record.observation import RankReport
from scalestudy.study.config.load import parse_study
from scalestudy.study.limits import Limits
from scalestudy.study.plan import make_plan
from scalestudy.study.spec import RunSpec


@pytest.fixture
def specs(content: dict[str, Any]) -> dict[int, RunSpec]:
    """A spec by world size."""
    content["host"] = {"cores_per_rank": 3, "environment": {"NCCL_DEBUG": "INFO"}}
    return {spec.world_size: spec for spec in make_plan(parse_study(content, source="x")).runs.values()}


def reports(spec: RunSpec, *outcomes: tuple[str, str]) -> tuple[RankReport, ...]:
    made = observation(spec, [[0.001] * 5] * spec.world_size).record.ranks
    return tuple(
        report.model_copy(update={"outcome": outcome, "reason": reason})
        for report, (outcome, reason) in zip(made, outcomes, strict=False)
    )


def evidence(reports: tuple[RankReport, ...], **changes: Any) -> Evidence:
    return Evidence(**({"reports": reports, "exit_code": 0, "log": "", "limits": Limits()} | changes))


def test_ranks_that_made_different_numbers_of_steps_have_failed(specs: dict[int, RunSpec]) -> None:
    """A step time is the maximum over ranks: if a rank lacks steps, there is no step time."""
    first, second = reports(specs[2], ("ok", ""), ("ok", ""))
    found = judge(specs[2], evidence((first, second.model_copy(update={"steps": 3}))))
    assert found == ("failed", "rank 1 made 3 steps and rank 0 made 5; all must make the same number of steps")


def test_one_process_is_started_plainly_and_several_are_watched(specs: dict[int, RunSpec]) -> None:
    single = rank_command(specs[1], Path("d"), Path("data"))
    assert single[1:3] == ["-m", "scalestudy.train"]
    several = rank_command(specs[2], Path("d"), Path("data"))
    assert several[1:5] == ["-m", "scalestudy.launch.cold", "2", "-m"]


def test_nodes_that_have_to_meet_do_so_by_torchrun(specs: dict[int, RunSpec]) -> None:
    command = rank_command(specs[2], Path("d"), Path("data"), rendezvous=["--nnodes=2"])
    assert command[1:5] == ["-m", "torch.distributed.run", "--nnodes=2", "--nproc_per_node=2"]


def test_threads_are_set_per_rank_whatever_a_scheduler_exported(
    specs: dict[int, RunSpec], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in THREAD_VARIABLES:
        monkeypatch.setenv(name, "64")
    environment = rank_environment(specs[2])
    assert {environment[name] for name in THREAD_VARIABLES} == {"3"}
    assert environment["NCCL_DEBUG"] == "INFO"


JUDGED = [
    ([("ok", ""), ("ok", "")], 0, False, None, "ok", ""),
    (
        [("failed", "peer closed"), ("oom", "rank 1: out of memory")],
        1,
        False,
        None,
        "oom",
        "rank 1: out of memory",
    ),
    ([("failed", "peer closed"), ("diverged", "loss is nan")], 1, False, None, "diverged", "loss is nan"),
    ([("timeout", "stopped"), ("timeout", "stopped")], 1, True, None, "timeout", "time limit of 30 min"),
    ([("ok", ""), ("failed", "rank 1: ValueError: x")], 1, False, None, "failed", "rank 1: ValueError: x"),
    ([("ok", "")], 0, False, None, "failed", "rank 1 left no report; exit code 0"),
    ([], -9, False, None, "failed", "the process that starts the ranks was ended by SIGKILL"),
    ([], 1, False, "2 ranks need 2 CUDA devices", "failed", "2 ranks need 2 CUDA devices"),
    ([("ok", ""), ("ok", "")], 3, False, None, "ok", ""),  # whole: what a process does after its report is a note
    ([("ok", ""), ("ok", "")], -14, True, None, "ok", ""),
]


@pytest.mark.parametrize(("ranks", "exit_code", "timed_out", "refused", "outcome", "words"), JUDGED)
def test_outcome_is_the_first_cause(
    specs: dict[int, RunSpec],
    ranks: list[tuple[str, str]],
    exit_code: int,
    timed_out: bool,
    refused: str | None,
    outcome: str,
    words: str,
) -> None:
    spec = specs[2]
    found, reason = judge(
        spec, evidence(reports(spec, *ranks), exit_code=exit_code, timed_out=timed_out, refused=refused)
    )
    assert found == outcome
    assert words in reason


def wait_until(condition: Any, seconds: float = 60) -> bool:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.05)
    return False


# A parent with a child, as torchrun has; the child's pid is printed.
FAMILY = ["sh", "-c", "sleep 60 & echo $!; wait"]


def test_time_limit_ends_the_whole_group(tmp_path: Path) -> None:
    log = tmp_path / "log.txt"
    code, timed_out = run_group(
        FAMILY, environment=dict(os.environ), log=log, time_limit_s=1.5, watch=lambda: None
    )
    assert timed_out
    assert code == -signal.SIGTERM
    assert not alive(int(log.read_text()))


def test_a_rank_that_will_not_end_is_killed(tmp_path: Path) -> None:
    """A rank hangs in a collective, deaf to SIGTERM and in a session of its own, as torchrun's ranks are."""
    deaf = (
        "import signal, time, os; signal.signal(signal.SIGTERM, signal.SIG_IGN);"
        " print(os.getpid(), flush=True); time.sleep(60)"
    )
    command = [
        sys.executable,
        "-c",
        "import subprocess, sys, time\n"
        f"subprocess.Popen([sys.executable, '-c', {deaf!r}], start_new_session=True)\ntime.sleep(60)",
    ]
    log = tmp_path / "log.txt"

    def interrupt() -> None:
        if log.read_text().strip():
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_group(command, environment=dict(os.environ), log=log, time_limit_s=30, watch=interrupt, grace_s=1)
    assert wait_until(lambda: not alive(int(log.read_text())))


def test_an_interruption_ends_the_whole_group(tmp_path: Path) -> None:
    log = tmp_path / "log.txt"

    def interrupt() -> None:
        if log.read_text().strip():
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_group(FAMILY, environment=dict(os.environ), log=log, time_limit_s=30, watch=interrupt)
    assert not alive(int(log.read_text()))


def test_exit_code_and_output_are_kept(tmp_path: Path) -> None:
    log = tmp_path / "log.txt"
    command = [sys.executable, "-c", "print('hello'); raise SystemExit(3)"]
    result = run_group(command, environment=dict(os.environ), log=log, time_limit_s=30, watch=lambda: None)
    assert result == (3, False)
    assert log.read_text() == "hello\n"


def test_a_killed_launcher_takes_its_process_along(tmp_path: Path) -> None:
    """SIGKILL leaves no time to clean up: the kernel tells the child that its parent died."""
    log = tmp_path / "log.txt"
    code = (
        "import os, sys; from pathlib import Path; from scalestudy.launch.process import run_group\n"
        "sleeper = [sys.executable, '-c', 'import os, time; print(os.getpid(), flush=True); time.sleep(60)']\n"
        f"run_group(sleeper, environment=dict(os.environ), log=Path({str(log)!r}), time_limit_s=60,"
        " watch=lambda: None)"
    )
    launcher = subprocess.Popen([sys.executable, "-c", code])
    assert wait_until(lambda: log.exists() and log.read_text().strip())
    sleeper = int(log.read_text())
    assert alive(sleeper)
    launcher.kill()
    launcher.wait()
    assert wait_until(lambda: not alive(sleeper))
