"""Waits for a quiet host before a run that repeats a disturbed one."""

import os
import time
from collections.abc import Callable

from scalestudy.launch.guards.host import BUSY, Guard
from scalestudy.launch.slurm.job import job_id
from scalestudy.record.say import say

POLL_S = 5.0
BETTER_MOMENT_S = 120.0


def better_moment_s() -> float:
    """Seconds that a run which repeats a disturbed one may wait for a quiet host.

    0 in a cluster job, whose time is for the runs alone.
    """
    return BETTER_MOMENT_S if job_id(os.environ) is None else 0.0


def look_when_quiet(look: Callable[[], Guard | None], within_s: float) -> Guard | None:
    """The state of the host as soon as it is not busy, or after `within_s` seconds if it stays busy.

    look: checks the host, as `host.look` does. Where it returns None, every node checks itself, and there is no
    waiting.
    """
    end = time.monotonic() + within_s
    guard = look()
    said = False
    while guard and (text := _busy(guard)) and time.monotonic() < end:
        if not said:
            said = True
            say(f"waiting up to {within_s:g} s for a quiet moment: {text}")
        time.sleep(min(POLL_S, max(0.0, end - time.monotonic())))
        guard = look()
    return guard


def _busy(guard: Guard) -> str:
    return next((one["text"] for one in guard.environment["warnings"] if one["kind"] == BUSY), "")
