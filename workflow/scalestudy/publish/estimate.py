"""An estimate as it is printed: quantities with units, and the assumptions."""

from typing import Any

from quantiphy import Quantity

from scalestudy.analyse.costs.collectives import ALGORITHMS
from scalestudy.analyse.costs.strategies import Setting, Traffic, traffic
from scalestudy.publish.numbers.rounding import show


def estimate_view(setting: Setting, *, step_time_s: float | None, target: float) -> dict[str, Any]:
    """Values for report/templates/estimate.txt.

    step_time_s: step time of one process at the batch per rank, if known. target: target efficiency.
    """
    size, ranks, link = setting.size, setting.ranks, setting.link
    return {
        "setting": vars(setting)
        | {
            "parameters": _text(setting.parameters, ""),
            "element_bytes": setting.element_bytes,
            "size": _text(size, "B"),
            "bandwidth": _text(link.bandwidth_bytes_per_s, "B/s"),
            "latency": _text(link.latency_s, "s"),
        },
        "algorithms": [
            {
                "name": algorithm.name,
                "time": _text(algorithm.time_s(size, ranks, link), "s"),
                "complexity": algorithm.complexity,
            }
            for algorithm in ALGORITHMS
        ],
        "strategies": [
            vars(item)
            | {
                "bytes": _text(item.bytes_sent, "B"),
                "time": _text(item.time_s, "s"),
                "state": show(item.state_bytes / 2**30).value,
                **({} if step_time_s is None else _scaling(item, ranks, step_time_s, target)),
            }
            for item in traffic(setting)
        ],
        "step_time": None if step_time_s is None else _text(step_time_s, "s"),
        "target": f"{target:.0%}",
    }


def _scaling(item: Traffic, ranks: int, compute_s: float, target: float) -> dict[str, str]:
    """Ranges of step, speedup and efficiency, and the factor by which the target needs a longer step."""
    best, worst = item.step_limits_s(compute_s)
    needed = [seconds / compute_s for seconds in item.compute_for_s(target)]
    return {
        "step": f"{_text(best, 's')} to {_text(worst, 's')}",
        "speedup": f"{ranks * compute_s / worst:.2f} to {ranks * compute_s / best:.2f}",
        "efficiency": f"{compute_s / worst:.0%} to {compute_s / best:.0%}",
        "needed": f"{needed[0]:.2g} to {needed[1]:.2g}",
    }


def _text(value: float, unit: str) -> str:
    """A quantity with three digits and an SI prefix: 0.701 s is '701 ms'."""
    return Quantity(value, unit).render(prec=2)
