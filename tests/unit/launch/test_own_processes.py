"""What a run's own processes take is counted, and what others take is not."""

from __future__ import annotations

import secrets
import subprocess
import sys
import time

import pytest
from scalestudy.launch.beside.own import OwnProcesses

BURN = "import time\nwhile time.process_time() < {seconds}: pass\n"
BURN_AND_STAY = BURN + "print('done', flush=True)\ntime.sleep(60)\n"
CHILD_BURNS = f"import subprocess, sys, time\nsubprocess.run([sys.executable, '-c', '''{BURN}'''])\n"
CHILD_BURNS += "print('done', flush=True)\ntime.sleep(60)\n"
TICKS_S = 0.05
"""Clock ticks that several processes are off by."""
HALF_S = 0.2
"""Half of what a process burns here. Further children of this process may take some time meanwhile."""


def burned(code: str, own: OwnProcesses, *words: str, session: bool, seconds: float = 0.4) -> tuple[float, float]:
    """(seconds counted as own while a process burned `seconds`, seconds that this process took meanwhile)."""
    before, mine = own.cpu_s(), time.process_time()
    command = [sys.executable, "-c", code.format(seconds=seconds), *words]
    process = subprocess.Popen(command, start_new_session=session, stdout=subprocess.PIPE)
    try:
        assert process.stdout and process.stdout.readline()
        return own.cpu_s() - before, time.process_time() - mine
    finally:
        process.kill()
        process.wait()


@pytest.mark.parametrize("code", [BURN_AND_STAY, CHILD_BURNS], ids=["itself", "a child that has ended"])
def test_processes_that_a_launch_starts_are_its_own(code: str) -> None:
    counted, _ = burned(code, OwnProcesses(), session=True)
    assert counted >= 0.4 - TICKS_S


def test_another_process_of_the_same_user_is_not() -> None:
    counted, mine = burned(BURN_AND_STAY, OwnProcesses(), session=False)
    assert counted <= mine + HALF_S, "a neighbour, although we started it: it has no session of its own"


def test_a_parent_of_forks_is_known_by_its_command() -> None:
    words = ("scalestudy.launch.forked.parent", secrets.token_hex(8))  # two runs of this test may be at once
    counted, _ = burned(BURN_AND_STAY, OwnProcesses(words), *words, session=False)
    assert counted >= 0.4 - TICKS_S
    counted, mine = burned(BURN_AND_STAY, OwnProcesses((words[0], "another")), *words, session=False)
    assert counted <= mine + HALF_S, "the parent of another study's launches"


def test_a_process_that_becomes_the_ranks_is_watched_from_beside() -> None:
    command = [sys.executable, "-c", BURN_AND_STAY.format(seconds=0.4)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE)
    own = OwnProcesses(root=process.pid)
    try:
        assert process.stdout and process.stdout.readline()
        assert own.cpu_s() >= 0.4 - TICKS_S
        assert own.pids() == {process.pid}
    finally:
        process.kill()
        process.wait()
