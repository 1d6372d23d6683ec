"""Estimates that are not resolved: documents print the reason instead of the number."""

from math import nan

from scalestudy.analyse.statistics.intervals import Interval
from scalestudy.analyse.statistics.resolution import SHARE, is_resolved
from scalestudy.diagnose.findings import Evidence
from scalestudy.publish.numbers.model import Number
from scalestudy.registry.words.percent import percent

RULE = f"its interval includes both no effect and one of {percent(SHARE)}"
"""Why an estimate is not resolved."""


def evidence_is_resolved(item: Evidence, step_time_s: float) -> bool:
    """Whether a time or a share that a finding rests on is resolved; other evidence always is."""
    whole = {"ms": 1e3 * step_time_s, "ms per step": 1e3 * step_time_s, "%": 100.0}.get(item.unit, nan)
    return whole != whole or is_resolved(Interval(item.value, item.low, item.high), whole)


def reason(number: Number) -> str:
    """Why a number is withheld, and the number of repeats that would resolve it; '' if it is resolved."""
    return f"{RULE}; {to_resolve(number)}" if not number.resolved else ""


def to_resolve(number: Number) -> str:
    """How many repeats would resolve a number, for sections that print the rule once; '' if it is resolved."""
    if number.resolved:
        return ""
    if number.repeats_to_resolve is None:
        return "more repeats would narrow it"
    return f"about {_rounded(number.repeats_to_resolve)} repeats would resolve it"


def _rounded(count: int) -> int:
    """A count with two significant digits."""
    return round(count, 2 - len(str(count)))
