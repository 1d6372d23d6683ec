"""A script's ranks are bound to the cores that the launcher assigned, with all threads that they have."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest
from scalestudy.attach.portions import PORTIONS

CORES = sorted(os.sched_getaffinity(0))

# Threads that end all the time, as those of a data loader or a download do.
SCRIPT = """
import os, threading, time
from scalestudy.attach.portions import pin
stop = threading.Event()
def short_threads():
    while not stop.is_set():
        threading.Thread(target=lambda: None).start()
threading.Thread(target=short_threads).start()
waiting = threading.Thread(target=stop.wait)
waiting.start()
try:
    until = time.monotonic() + 3
    while time.monotonic() < until:
        pin(0)
    print(sorted(os.sched_getaffinity(0)), sorted(os.sched_getaffinity(waiting.native_id)))
finally:
    stop.set()
"""


@pytest.mark.skipif(len(CORES) < 2, reason="needs two cores")
def test_threads_that_end_meanwhile_do_not_keep_others_from_being_bound() -> None:
    mine = [CORES[0]]
    assigned = json.dumps({"cores_per_rank": 1, "cpus": [mine]})
    ran = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        env=os.environ | {PORTIONS: assigned},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ran.stderr, ran.stdout.strip()) == ("", f"{mine} {mine}")
