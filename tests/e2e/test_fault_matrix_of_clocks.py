"""A system clock that is wrong or jumps while ranks train: no step time is affected, and it is reported."""

from __future__ import annotations

import itertools
import shutil
import subprocess
from pathlib import Path

import pytest
from faulted import SOON_S, Faulted
from scalestudy.record.host.load import KEY
from scalestudy.record.tables import read_observation

SHIFTED = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>

static long shift_s(void) {
    long seconds = 0;
    FILE *file = fopen(getenv("CLOCK_SHIFT"), "r");
    if (file) {
        if (fscanf(file, "%ld", &seconds) != 1) seconds = 0;
        fclose(file);
    }
    return seconds;
}

int clock_gettime(clockid_t clock, struct timespec *at) {
    static int (*real)(clockid_t, struct timespec *);
    if (!real) real = dlsym(RTLD_NEXT, "clock_gettime");
    int status = real(clock, at);
    if (!status && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) at->tv_sec += shift_s();
    return status;
}

time_t time(time_t *at) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (at) *at = now.tv_sec;
    return now.tv_sec;
}

int gettimeofday(struct timeval *at, void *zone) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    at->tv_sec = now.tv_sec;
    at->tv_usec = now.tv_nsec / 1000;
    return 0;
}
"""
"""It moves the clock of the day, and no other, of the processes that load it, by the seconds in a file.

The clock of the host itself is not moved: other tests, and whoever works on it, go by it.
"""
SEEDS = itertools.count(1)
YEAR_S, HOUR_S = 365 * 24 * 3600, 3600
CELLS = {
    ("is three years behind", "preparing"): -3 * YEAR_S,
    ("is a year ahead", "preparing"): YEAR_S,
    ("jumps an hour ahead", "rendezvous"): HOUR_S,
    ("jumps an hour ahead", "block"): HOUR_S,
    ("jumps an hour back", "block"): -HOUR_S,
    ("jumps an hour ahead", "probe"): HOUR_S,
    ("jumps an hour back", "writing"): -HOUR_S,
}
SAID = {"block": "ok; the run is marked as disturbed, since its clock jumped"}


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler; on Debian: apt-get install gcc libc6-dev")
    folder = tmp_path_factory.mktemp("clock")
    (folder / "shifted.c").write_text(SHIFTED)
    command = [compiler, "-shared", "-fPIC", "-O1", "-o", "shifted.so", "shifted.c", "-ldl"]
    subprocess.run(command, cwd=folder, check=True)
    return folder / "shifted.so"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("how", "moment"),
    [
        pytest.param(
            how,
            moment,
            id=f"{how}-{moment}".replace(" ", "-"),
            marks=pytest.mark.fault(
                fault=f"the wall clock {how}",
                moment=moment,
                outcome=SAID.get(moment, "ok"),
                kept="the complete run",
                next_call="keeps the record and measures nothing",
            ),
        )
        for how, moment in CELLS
    ],
)
def test_a_wrong_clock_spoils_no_time(how: str, moment: str, library: Path, tmp_path: Path) -> None:
    shift = tmp_path / "shift"
    moves_at = moment if how.startswith("jumps") else "rendezvous"
    environment = {"LD_PRELOAD": str(library), "CLOCK_SHIFT": str(shift)}
    launch = Faulted(tmp_path / "results", tmp_path, moves_at, seed=next(SEEDS), environment=environment)
    if moment == "preparing":
        shift.write_text(f"{CELLS[how, moment]}\n")
    called = launch.call()
    launch.meet(called)
    shift.write_text(f"{CELLS[how, moment]}\n")
    launch.let_go()
    said = called.communicate(timeout=SOON_S)[0]
    assert called.returncode == 0, said
    observation = read_observation(launch.run)
    assert observation.record.outcome == "ok", observation.record.reason
    assert 0 < observation.steps["step_time_s"].sum() < SOON_S
    (load,) = observation.record.environment[KEY]["training"]
    jumped = abs(load["clock_jump_s"]) > HOUR_S - 60
    # Samples are taken about once a second, so those of the training begin before it and end after it.
    assert jumped or moment != "block"
    assert not jumped or moment in ("rendezvous", "block", "probe")
    first = (launch.run / "run.json").read_bytes()
    again = launch.call()
    said = again.communicate(timeout=SOON_S)[0]
    assert again.returncode == 0, said
    assert ": kept, already measured" in said
    assert (launch.run / "run.json").read_bytes() == first
    assert launch.left_over() == []
