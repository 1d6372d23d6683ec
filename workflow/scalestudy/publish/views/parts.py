"""Parts of the steps of a point as documents print them: times, shares, the cost of communication."""

from typing import Any

from scalestudy.publish.numbers.model import Number, NumbersFile
from scalestudy.publish.numbers.withheld import reason, to_resolve
from scalestudy.publish.words.phrases import Phrase
from scalestudy.registry.points import PARTS, SPLIT, WHOLE

COMMUNICATION = (
    ("differential_ms", "total cost of synchronisation", "blocks with synchronisation minus blocks without"),
    ("exposed_span_ms", "exposed (not overlapped) communication", "DDP's logger"),
    ("interference_ms", "interference", "slowdown of backward computation by communication"),
    ("synchronisation_remainder_ms", "remainder", "total minus exposed communication and interference"),
    ("exposed_hook_ms", "exposed communication, second method", "timestamps of every gradient bucket"),
    ("wait_time_ms", "part of it: waiting", "waiting for the slowest rank"),
    ("transfer_time_ms", "part of it: transfer", "from then to the end of the last bucket"),
    ("imbalance_ms", "imbalance of the ranks' own work", "slowest minus mean rank, without synchronisation"),
    ("hook_cost_ms", "overhead of the bucket timestamps", "total cost with timestamps minus without"),
)

NOT_NEGATIVE = ("differential_ms", "hook_cost_ms")
"""Costs: their interval is below zero only if the methods disagree."""


def parts_view(numbers: NumbersFile, point: str) -> list[dict[str, Any]]:
    """Name, prefix of its quantities, ms, share and bar of each part of a step that takes any time.

    bar: length of the bar, in whole percent of the bar of a whole step.
    """
    exposed = numbers.number(f"{point}.exposed_span_ms")
    hidden = (WHOLE,) if exposed and exposed.resolved else SPLIT
    found = []
    for part, (name, _) in PARTS.items():
        time, share = (numbers.number(f"{point}.{part}_{unit}") for unit in ("ms", "share_percent"))
        if part not in hidden and time and share and time.value:
            # A difference of two measurements, such as backward computation, can be negative.
            bar = round(min(max(share.value, 0), 100))
            shown = {"ms": time.shown.value, "share": f"{share.shown} %", "bar": bar}
            found.append({"name": name, "part": part, **shown})
    return found


def communication_view(numbers: NumbersFile, point: str) -> list[dict[str, Any]]:
    """Name, quantity, text, method, and what its interval says, of every probed quantity.

    ms: the number in ms with its limits; shown: the same with its unit. nothing: the note about the interval.
    """
    lines = []
    for quantity, name, how in COMMUNICATION:
        number = numbers.number(f"{point}.{quantity}")
        if number:
            nothing = to_resolve(number) or _of_zero(quantity, number)
            said = {"ms": number.shown, "shown": number.with_unit(), "how": how, "nothing": nothing}
            lines.append({"name": name, "quantity": quantity, **said})
    return lines


def _of_zero(quantity: str, number: Number) -> str:
    if quantity in NOT_NEGATIVE and number.high < 0:
        return "a cost cannot be negative: blocks with and without it differ by something else"
    return "interval includes 0" if number.low <= 0 <= number.high else ""


def overhead_view(numbers: NumbersFile, point: str) -> Phrase:
    """The overhead of a step and its share, or why it is not resolved; '' if it was not measured."""
    overhead = numbers.number(f"{point}.overhead_ms")
    if not overhead:
        return Phrase()
    if not overhead.resolved:
        return Phrase(numbers.piece(f"{point}.overhead_ms"), f": {reason(overhead)}")
    return numbers.phrase(point, "{overhead_ms} ms = {overhead_share_percent} % of the step")


def network_view(numbers: NumbersFile, point: str) -> Phrase:
    """The all-reduce on the idle network, in a sentence; '' if it was not measured."""
    if not numbers.number(f"{point}.all_reduce_bus_gib_per_s"):
        return Phrase()
    fitted = numbers.number(f"{point}.all_reduce_latency_us")
    latency = ", latency {all_reduce_latency_us} us" if fitted else ""
    bandwidth = "bus bandwidth {all_reduce_bus_gib_per_s} GiB/s for the largest message"
    return numbers.phrase(point, f"All-reduce on the idle network: {bandwidth}{latency}")
