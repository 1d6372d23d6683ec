"""Columns of comprehensive_summary.csv that estimate a part of a step as a difference of measurements."""

import json

from scalestudy.registry.column import Row

ESTIMATES = (
    "overhead_s",
    "exposed_span_s",
    "differential_s",
    "wrapper_time_s",
    "interference_s",
    "remainder_s",
    "exposed_hook_s",
    "wait_time_s",
    "transfer_time_s",
    "imbalance_s",
    "hook_cost_s",
)
"""Documents print such a part only if it is resolved (`analyse/statistics/resolution.py`)."""
FOLLOW_FROM = {
    "overhead_share": "overhead_s",
    "wrapper_share": "wrapper_time_s",
    "exposed_span_share": "exposed_span_s",
    "backward_compute_time_s": "exposed_span_s",
    "backward_compute_time_share": "exposed_span_s",
}
"""Column that is calculated from an estimate -> that estimate. It is printed if the estimate is."""
BY_DIFFERENCE = ("communication", "compute")
"""Shares of a step that follow from the cost of communication: it, and the rest."""


def unresolved(row: Row) -> dict[str, int | None]:
    """Each column of the summary that a row has not resolved -> the repeats that would resolve it.

    Tables of earlier releases lack the column.
    """
    known = row.get("unresolved", "{}")
    found: dict[str, int | None] = json.loads(known if isinstance(known, str) else "{}")
    return found | {column: found[source] for column, source in FOLLOW_FROM.items() if source in found}


def communication_column(row: Row) -> str:
    """The column from which the share of communication in a step follows: the probed cost, or all overhead."""
    return "overhead_s" if row["differential_s"] != row["differential_s"] else "differential_s"
