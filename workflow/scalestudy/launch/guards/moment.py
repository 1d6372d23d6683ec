"""A better moment for a launch that is made because others were spoiled: one in which nobody else computes."""

import time
from collections.abc import Callable

from scalestudy.launch.guards.host import BUSY, Guard
from scalestudy.record.say import say

POLL_S = 5.0


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
