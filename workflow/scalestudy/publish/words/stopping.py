"""Why a point has as many launches as it has."""

from __future__ import annotations

from scalestudy.registry.codes import Stopped
from scalestudy.registry.column import Row

WORDS = {Stopped.TARGET_REACHED: "target reached", Stopped.BUDGET_ENDED: "budget of launches ended"}


def stopped(row: Row) -> str:
    """'target reached: half-width 0.8% of the step time after 3 launches, target 1.0%'; '' without a launch."""
    if row["stopped_because"] == Stopped.ONE_LAUNCH:
        return "one launch: no interval"
    if row["stopped_because"] == Stopped.NONE:
        return ""
    width, target, launches = row["half_width"], row["half_width_target"], int(row["launches_ok"])
    reached = f"half-width {width:.1%} of the step time after {launches} launches, target {target:.1%}"
    return f"{WORDS[row['stopped_because']]}: {reached}"
