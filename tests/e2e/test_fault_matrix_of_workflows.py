"""Faults of Snakemake while a run trains: no finished run is lost or repeated, and the next call ends it."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import select
import signal
import subprocess
import sys
import termios
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import pytest
from conftest import BIN, Checkout, alive, tiny_study, wait_for
from faulted import HANG_UP, SOON_S
from moment_rank import FOLDER, MOMENT
from scalestudy.record.tables import read_observation
from scalestudy.study.spec import WORKER

TARGET = ("snakemake", "results/tiny/comprehensive_summary.csv")
FAULTS: dict[str, int | str] = {
    "SIGKILL": signal.SIGKILL,
    "SIGTERM": signal.SIGTERM,
    "SIGINT": signal.SIGINT,
    "SIGSTOP, then SIGCONT": signal.SIGSTOP,
    "hang-up of its terminal": HANG_UP,
}


def cells() -> list[Any]:
    return [
        pytest.param(
            fault,
            id=name.replace(" ", "_"),
            marks=pytest.mark.fault(
                fault=f"{name} to snakemake" if fault != HANG_UP else "the terminal of snakemake hangs up",
                moment="block",
                outcome="ok",
                kept="every finished run; the current run ends by itself or is not recorded",
                next_call="measures the missing runs",
            ),
        )
        for name, fault in FAULTS.items()
    ]


def study(folder: Path) -> dict[str, Any]:
    content = tiny_study()
    del content["workloads"]["second"]
    environment = {WORKER: "moment_rank", MOMENT: "block", FOLDER: str(folder)}
    environment["PYTHONPATH"] = os.pathsep.join([str(Path(__file__).parents[1]), *filter(None, sys.path)])
    content["host"] |= {"start": "fork", "environment": environment}
    return content | {"measure": {"probe_rounds": 0, "block_steps": 4}}


def start(checkout: Checkout, temporary: Path) -> tuple[subprocess.Popen[str], Callable[[], None]]:
    """Snakemake on a terminal of its own: (the process, what hangs up the terminal)."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [str(BIN / TARGET[0]), *TARGET[1:]],
        cwd=checkout.root,
        env=checkout.environment | {"TMPDIR": str(temporary)},
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        text=True,
        start_new_session=True,
        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
    )
    os.close(theirs)
    over = threading.Event()

    def read() -> None:
        with contextlib.suppress(OSError):  # EIO: nobody has the terminal any more
            while not over.is_set():
                if select.select([ours], [], [], 0.05)[0]:
                    os.read(ours, 4096)
        os.close(ours)

    reader = threading.Thread(target=read)
    reader.start()

    def hang_up() -> None:
        over.set()
        reader.join()

    return process, hang_up


@pytest.mark.slow
@pytest.mark.parametrize("fault", cells())
def test_a_fault_of_snakemake(fault: int | str, checkout: Checkout, tmp_path: Path) -> None:
    folder, temporary = tmp_path / "moment", tmp_path / "tmp"
    for path in (folder, temporary):
        path.mkdir()
    checkout.configure(study(folder))
    (folder / "go").touch()
    names = {spec.world_size: name for name, spec in checkout.plan().runs.items()}
    checkout.run("scalestudy", "stage", "train", "--run", names[1])
    finished = checkout.root / "results/tiny/runs" / names[1] / "run.json"
    before = (finished.stat().st_mtime_ns, finished.read_bytes())
    for name in ("go", "at"):
        (folder / name).unlink()
    process, hang_up = start(checkout, temporary)
    wait_for((folder / "at").exists)
    rank = int((folder / "at").read_text())
    family = psutil.Process(process.pid).children(recursive=True)
    if fault == HANG_UP:
        hang_up()
    else:
        assert isinstance(fault, int)
        os.kill(process.pid, fault)
    if fault == signal.SIGSTOP:
        wait_for(lambda: psutil.Process(process.pid).status() == psutil.STATUS_STOPPED)
        os.kill(process.pid, signal.SIGCONT)
    (folder / "go").touch()
    process.wait(SOON_S)
    hang_up()
    wait_for(lambda: not any(alive(one.pid) for one in family), seconds=SOON_S)
    assert not alive(rank)
    checkout.run(*TARGET)
    assert (finished.stat().st_mtime_ns, finished.read_bytes()) == before
    for name in names.values():
        assert read_observation(finished.parents[1] / name).record.outcome == "ok"
    assert not list(checkout.root.glob("results/tiny/superseded/*"))
    assert list(checkout.root.glob("results/tiny/runs/.partial/*")) == []
    assert [path.name for path in temporary.iterdir() if path.name.startswith("scalestudy-")] == []
