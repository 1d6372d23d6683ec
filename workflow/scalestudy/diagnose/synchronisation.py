"""What the probes, which measure the cost of synchronisation directly, say about it as a cause.

The overhead of a step contains synchronisation, contention between ranks on the host, and the wrapper. So a large
overhead alone does not show that synchronisation is expensive, and a direct measurement overrules it.
"""

from dataclasses import dataclass
from math import isnan

from scalestudy.analyse.statistics.resolution import SHARE, is_resolved
from scalestudy.diagnose.case import Case
from scalestudy.diagnose.support import beyond, is_possible
from scalestudy.registry.codes import Methods
from scalestudy.registry.words.percent import percent

SYNCHRONISATION = "total cost of synchronisation (blocks with it minus blocks without)"
"""The measured quantity, as evidence."""
ALONE = "this cause rests on the overhead alone"
UNRESOLVED = f"The probes do not resolve whether synchronisation takes {percent(SHARE)} of the step: {ALONE}."
DOUBTED = {
    Methods.DISAGREE: f"The methods of measuring communication disagree: {ALONE}.",
    Methods.NOT_COMPARED_FSDP: f"With FSDP the probes measure the reduce-scatter and no all-gather: {ALONE}.",
}
"""Why the measured cost is not the cost of all synchronisation, in a sentence."""


@dataclass(frozen=True)
class Probed:
    """What the probes say about synchronisation that takes SHARE of the step."""

    excludes: bool = False
    """Whether they exclude it."""
    found: bool = True
    """Whether they leave it possible by their estimate, or do not resolve it."""
    support: float = 1.0
    """Its probability; 1 if they do not resolve it, since only the overhead then counts."""
    doubt: str = ""
    """Why they do not count, in a sentence; '' if they do, or if nothing was probed."""


def probed(case: Case) -> Probed:
    """What the probes of a point say, at the limit SHARE of its step."""
    cost, step_s = case.interval("differential_s"), case.point["step_time_s"]
    if isnan(cost.value):
        return Probed()
    if (methods := case.point["methods"]) in DOUBTED:
        return Probed(doubt=DOUBTED[methods])
    if isnan(cost.low) or isnan(cost.high):
        return Probed(doubt=UNRESOLVED)
    support = beyond(case, cost, SHARE * step_s)
    if not is_possible(support):
        return Probed(excludes=True, found=False, support=support)
    if not is_resolved(cost, step_s):
        return Probed(doubt=UNRESOLVED)
    return Probed(found=bool(cost.value >= SHARE * step_s), support=support)
