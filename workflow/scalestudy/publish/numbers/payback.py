"""Numbers of the cost of trying advice, in device-hours and in device-seconds: a short study takes seconds."""

from collections.abc import Iterator
from math import isnan, nan

from scalestudy.analyse.statistics.intervals import Interval
from scalestudy.diagnose.findings import Recommendation
from scalestudy.publish.numbers.model import Number
from scalestudy.publish.numbers.rounding import show

TIMES = {
    "least_device": "least device-time of a trial",
    "most_device": "most device-time of a trial",
    "saved_device": "predicted device-time saved per training",
}
"""Name in a key without its unit -> meaning. Payback has it in hours."""
UNITS = {"hours": ("h", 1.0), "s": ("s", 3600.0)}
"""End of a key -> (unit, number of them in an hour)."""
TRAININGS = "trainings until the most device-hours of a trial are repaid"


def payback_numbers(advice: Recommendation, key: str, point: str) -> Iterator[tuple[str, Number]]:
    """The cost of trying advice and the number of trainings until it is repaid, as far as known."""
    if advice.payback is None:
        return
    for name, what in TIMES.items():
        found = getattr(advice.payback, f"{name}_hours")
        for end, (unit, factor) in UNITS.items():
            yield from _number(
                f"{key}.payback.{name}_{end}", found, factor, unit, f"{what}: {advice.change}", point
            )
    yield from _number(
        f"{key}.payback.trainings", advice.payback.trainings, 1.0, "", f"{TRAININGS}: {advice.change}", point
    )


def _number(
    key: str, found: Interval | float, factor: float, unit: str, what: str, point: str
) -> Iterator[tuple[str, Number]]:
    limits = tuple(vars(found).values()) if isinstance(found, Interval) else (found, nan, nan)
    values = (limits[0] * factor, limits[1] * factor, limits[2] * factor)
    if not isnan(values[0]):
        yield key, Number.of(show(*values), values, unit, what, point=point)
