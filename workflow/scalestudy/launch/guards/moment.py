"""A better moment for a launch that is made because others were spoiled: one in which nobody else computes."""

import os
import time
from collections.abc import Callable

from scalestudy.launch.guards.host import BUSY, Guard
from scalestudy.launch.slurm.job import job_id
from scalestudy.record.say import say

POLL_S = 5.0
BETTER_MOMENT_S = 120.0


def better_moment_s() -> float:
    """How long a launch that replaces a spoiled one waits for a quiet host.

    0 in a job of a cluster, whose time is for the launches alone.
    """
    return BETTER_MOMENT_S if job_id(os.environ) is None else 0.0


def look_when_quiet(look: Callable[[], Guard | None], within_s: float) -> Guard | None:
    """What is found in the first moment in which the host is not busy, or in the last one where it is all along.

    look: looks at the host, as `host.look`; None where every node looks at itself, which is then not waited for.
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
