"""Names under which the other load of a host during a run is recorded."""

import platform
import time
from collections.abc import Sequence
from typing import Any

KEY = "host_load"
"""Key of the entry in `environment` of run.json; records of earlier releases lack it."""
MEASURED = "measured_between"
"""Key under which rank 0 passes `measured_between` to the launcher; not recorded."""


def measured_between(moments_s: Sequence[float]) -> dict[str, Any]:
    """Return when the training began and ended, and when the probes ended, by CLOCK_MONOTONIC of this host.

    `wall_ahead_s` is wall-clock time minus CLOCK_MONOTONIC, for comparison with readings of other hosts.
    """
    ahead_s = time.time() - time.monotonic()
    return {"host": platform.node(), "moments_s": list(moments_s), "wall_ahead_s": ahead_s}
