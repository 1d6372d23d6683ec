"""What is wrong with the steps of a launch that no single mean describes."""

from __future__ import annotations

from scalestudy.registry.codes import Steadiness
from scalestudy.registry.column import Row


def steadiness(row: Row) -> str:
    """'two modes: 3 ms and 6 ms (40% of the steps)'; '' where the steps are steady, or there are none."""
    if row["steadiness"] == Steadiness.LEVEL_CHANGE:
        steps = int(row["level_changed_after_steps"])
        return f"no steady state: the step time changed by {row['level_change']:+.0%} after {steps} steady steps"
    if row["steadiness"] == Steadiness.TWO_MODES:
        fast, slow = row["fast_mode_s"] * 1e3, row["slow_mode_s"] * 1e3
        return f"two modes: {fast:.3g} ms and {slow:.3g} ms ({row['slow_mode_share']:.0%} of the steps)"
    return ""


def unsteady(row: Row) -> str:
    """Of how many launches that holds, and what was seen in the first of them; of a row of the summary."""
    if not row["launches_unsteady"]:
        return ""
    return f"{int(row['launches_unsteady'])} of {int(row['launches_ok'])} launches: {steadiness(row)}"
