"""Names under which it is recorded what else a host did while a launch was measured."""

import platform
import time
from collections.abc import Sequence
from typing import Any

KEY = "host_load"
"""Of the entry in `environment` of run.json; records of releases before it lack it."""
MEASURED = "measured_between"
"""Of what rank 0 tells the launcher; not recorded."""


def measured_between(moments_s: Sequence[float]) -> dict[str, Any]:
    """When the training began and ended, and when what follows it ended: moments of CLOCK_MONOTONIC on this host.

    `wall_ahead_s` is what the clock of the day is ahead of it, for readings of other hosts.
    """
    ahead_s = time.time() - time.monotonic()
    return {"host": platform.node(), "moments_s": list(moments_s), "wall_ahead_s": ahead_s}
