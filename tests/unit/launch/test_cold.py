"""Ranks of one node as fresh interpreters: their settings, and that all of them end if one fails."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import alive, wait_for
from scalestudy.launch.ranks import PORTS

# Rank 1 does what it is told; rank 0 says how it was ended, as a rank that writes its part does.
WORKER = """
import json, os, signal, sys, time
rank, what = int(os.environ["RANK"]), sys.argv[1]
names = ("RANK", "LOCAL_RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT", "ASKED")
if what == "tell":
    told = {name: os.environ[name] for name in names} | {"pid": os.getpid()}
    open(f"told-{rank}.json", "w").write(json.dumps(told))
    sys.exit(0)
def ended(*_):
    open(f"ended-{rank}", "w").close()
    os._exit(1)
signal.signal(signal.SIGTERM, ended)
open(f"up-{rank}", "w").write(str(os.getpid()))
while rank and not os.path.exists("up-0"):
    time.sleep(0.01)
if rank and what == "fail":
    sys.exit(3)
if rank and what == "die":
    os.kill(os.getpid(), signal.SIGKILL)
time.sleep(100)
"""


@pytest.fixture
def worker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a module `worker`, from which it is started."""
    (tmp_path / "worker.py").write_text(WORKER)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def start(what: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "scalestudy.launch.cold", "2", "-m", "worker", what]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=os.environ | {"ASKED": "for"})


def test_every_rank_is_told_its_place_and_where_to_meet(worker: Path) -> None:
    assert start("tell").wait(60) == 0
    told = [json.loads((worker / f"told-{rank}.json").read_text()) for rank in (0, 1)]
    assert [(one["RANK"], one["LOCAL_RANK"]) for one in told] == [("0", "0"), ("1", "1")]
    assert {(one["WORLD_SIZE"], one["LOCAL_WORLD_SIZE"], one["ASKED"]) for one in told} == {("2", "2", "for")}
    assert len({one["pid"] for one in told}) == 2
    (port,) = {int(one["MASTER_PORT"]) for one in told}
    assert port in PORTS


@pytest.mark.parametrize(("what", "code"), [("fail", 3), ("die", -signal.SIGKILL)])
def test_a_rank_that_fails_ends_the_others_and_is_named_first(worker: Path, what: str, code: int) -> None:
    process = start(what)
    said, _ = process.communicate(timeout=60)
    assert process.returncode == 1
    assert (worker / "ended-0").exists()
    ends = re.findall(r"rank +: (\d) \(local_rank: \d\)\n +exitcode +: (-?\d+)", said)
    assert ends == [("1", str(int(code))), ("0", "1")]


@pytest.mark.parametrize("signum", [signal.SIGTERM, signal.SIGINT])
def test_whoever_is_told_to_end_tells_the_ranks(worker: Path, signum: signal.Signals) -> None:
    process = start("wait")
    wait_for(lambda: (worker / "up-0").exists() and (worker / "up-1").exists())
    process.send_signal(signum)
    process.communicate(timeout=60)
    assert process.returncode == 1
    assert (worker / "ended-0").exists()
    assert (worker / "ended-1").exists()


def test_no_rank_outlives_whoever_watches_it(worker: Path) -> None:
    process = start("wait")
    up = [worker / "up-0", worker / "up-1"]
    wait_for(lambda: all(path.exists() and path.read_text() for path in up))
    process.kill()
    process.communicate(timeout=60)
    wait_for(lambda: not any(alive(int(path.read_text())) for path in up))


AFTERWARDS = """
import os, signal, socket
from scalestudy.launch.ranks import run_ranks
def start(rank, _):
    pid = os.fork()
    if pid == 0:
        os._exit(0)
    return pid
print(run_ranks(socket.socketpair()[0], 2, start))
for signum in (signal.SIGCHLD, signal.SIGTERM):
    os.kill(os.getpid(), signum)
"""


def test_signals_after_the_ranks_have_ended_are_no_error() -> None:
    """A process that a rank left behind ends later, which sends SIGCHLD to the process that started the rank."""
    done = subprocess.run([sys.executable, "-c", AFTERWARDS], capture_output=True, text=True, check=True)
    assert sorted(done.stdout) == sorted("{0: 0, 1: 0}\n")
    assert done.stderr == ""
