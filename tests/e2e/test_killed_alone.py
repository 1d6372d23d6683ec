"""A command is killed, and nothing else: what it started ends with it, and the next call goes on.

`test_killed.py` kills whole groups of processes, as a terminal does; the kernel's OOM killer kills one process.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from conftest import Checkout, small_content, tiny_study, wait_for
from killed import MARK, kill_alone, left_in_temporary, nothing_left, of_place, ranks, start
from own_scripts import HEAD
from scalestudy.chain.callers import CALLERS, POLL_S, callers
from scalestudy.record.observation import read_record

SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGHUP)
LONG = {"warmup_steps": 2, "max_warmup_steps": 2, "min_steps": 100_000, "max_steps": 100_000}


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Path]:
    """A folder in which commands are started; whatever they leave is ended."""
    (tmp_path / "tmp").mkdir()
    yield tmp_path
    for pid in of_place(tmp_path):
        os.kill(pid, signal.SIGKILL)


def long_study(**more: Any) -> dict[str, Any]:
    """A study whose runs would take minutes."""
    study = small_content(host={"device": "cpu"}, measure=LONG, time_limit_min=5, scales=["1x2"], **more)
    study["workloads"]["mlp"] |= {"epochs": 0}
    return study


@pytest.mark.parametrize(
    "signum",
    [
        pytest.param(
            signum,
            id=signum.name,
            marks=[
                pytest.mark.fault(
                    fault=f"{signum.name} to snakemake alone",
                    moment="block",
                    outcome="not recorded",
                    kept="every finished run",
                    next_call="measures the missing runs",
                ),
                pytest.mark.slow,  # `demo` below is killed alone too
            ],
        )
        for signum in (signal.SIGKILL, signal.SIGHUP)
    ],
)
def test_a_run_ends_with_its_snakemake_alone(checkout: Checkout, place: Path, signum: signal.Signals) -> None:
    """SIGTERM is not among the signals: on it Snakemake waits for its jobs."""
    study = tiny_study()
    del study["workloads"]["second"]
    study["workloads"]["first"]["epochs"] = 5000
    checkout.configure(study)
    process = start(place, "run", at=checkout.root, PYTHONPATH=str(checkout.root / "workflow"))
    wait_for(lambda: ranks(place) and list(checkout.root.glob("results/tiny/runs/.partial/*/progress.json")))
    kill_alone(process, signum)
    wait_for(lambda: nothing_left(place), seconds=60)
    assert left_in_temporary(place) == []
    assert not list(checkout.root.glob("results/tiny/runs/*/run.json"))
    study["workloads"]["first"]["epochs"] = 2
    study["host"]["start"] = "fork"
    checkout.configure(study)
    checkout.run("snakemake", "results/tiny/comprehensive_summary.csv")
    records = [read_record(path.parent) for path in checkout.root.glob("results/tiny/runs/*/run.json")]
    assert {(record.outcome, record.reason) for record in records} == {("ok", "")}


@pytest.mark.parametrize(
    "command", ["demo", *(pytest.param(one, marks=pytest.mark.slow) for one in ("tune", "guard", "accept"))]
)
def test_a_command_that_measures_leaves_nothing_when_it_is_killed_alone(place: Path, command: str) -> None:
    (place / "study.yaml").write_text(yaml.safe_dump(long_study(repeats=1)))
    (place / "train.py").write_text(
        HEAD.replace("SAMPLES", "4096") + "\ntrain(after=lambda step: time.sleep(0.1))\n"
    )
    words = {
        "tune": ["tune", "study.yaml", "--goal", "epoch_time", "--budget", "0.2", "--hold", "batch_size"],
        "guard": [
            "guard",
            "--fail-if",
            "step_time > +3%",
            "--launches",
            "4",
            "--batch-size",
            "8",
            "--device",
            "cpu",
        ],
        "demo": ["demo", "--fault", "slow-loader"],
        "accept": ["accept", "--device", "cpu", "--devices", "2", "--stages", "3", "--short"],
    }[command]
    if command == "guard":
        words += ["--results", "guarded", "--against", "HEAD", "--", "train.py", "8"]
        for git in (
            ["init", "-q"],
            ["add", "train.py"],
            ["-c", "user.name=x", "-c", "user.email=x@x", "commit", "-qm", "x"],
        ):
            subprocess.run(["git", *git], cwd=place, check=True)
    process = start(place, *words)
    wait_for(lambda: ranks(place) or process.poll() is not None)
    assert process.poll() is None, (place / "said.txt").read_text()
    kill_alone(process, signal.SIGKILL)
    wait_for(lambda: nothing_left(place), seconds=60)
    left = left_in_temporary(place)
    if command == "guard":
        (folder,) = left  # the next call removes it (test_guard_command.py)
        assert folder.startswith("scalestudy-guard-")
    else:
        assert left == []
    assert not list(place.glob("**/runs/.partial/*.lock"))


def test_the_clock_of_an_acceptance_ends_with_it(place: Path) -> None:
    process = start(place, "accept", "--device", "cpu", "--devices", "2", "--stages", "2")
    wait_for(lambda: any("acceptance.clock" in words for words in of_place(place).values()))
    kill_alone(process, signal.SIGKILL)
    wait_for(lambda: nothing_left(place), seconds=10)


WATCHES = """
import signal, subprocess, sys, time
from scalestudy.chain.callers import add_caller, end_with_callers
if sys.argv[1:] == ["below"]:
    end_with_callers(signal.SIGINT)
    print("below", flush=True)
else:
    add_caller()
    subprocess.Popen(["bash", "-c", f"{sys.executable} {__file__} below; true"])
time.sleep(600)
"""


@pytest.mark.parametrize("signum", SIGNALS, ids=lambda signum: signum.name)
@pytest.mark.parametrize("background", [False, True], ids=["foreground", "background"])
def test_a_process_below_a_shell_ends_with_the_one_above_it(
    place: Path, signum: signal.Signals, background: bool
) -> None:
    """A shell starts what is in its background with SIGINT ignored."""
    (place / "watches.py").write_text(WATCHES)
    process = subprocess.Popen(
        [sys.executable, str(place / "watches.py")],
        env=os.environ | {MARK: str(place)},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        preexec_fn=(lambda: signal.signal(signal.SIGINT, signal.SIG_IGN)) if background else None,
    )
    with process:
        assert process.stdout is not None and process.stdout.readline() == b"below\n"
        kill_alone(process, signum)
        wait_for(lambda: not of_place(place), seconds=20 * POLL_S)


def test_callers_of_other_namespaces_and_this_process_are_not_watched(monkeypatch: pytest.MonkeyPatch) -> None:
    assert callers({}) == {}
    assert callers({CALLERS: "1.2.3 nonsense"}) == {}
