"""An estimate as it is printed: quantities with units, and the assumptions."""

from typing import Any

from quantiphy import Quantity

from scalestudy.analyse.costs.collectives import ALGORITHMS
from scalestudy.analyse.costs.strategies import Setting, Traffic, traffic
from scalestudy.publish.numbers.rounding import show
from scalestudy.registry.words.counts import in_words


def estimate_view(setting: Setting, *, step_time_s: float | None, target: float) -> dict[str, Any]:
    """Values for report/templates/estimate.txt.

    step_time_s: step time of one process at the batch per rank, if known. target: target efficiency.
    """
    size, ranks, link = setting.size, setting.ranks, setting.link
    return {
        "setting": vars(setting)
        | {
            "parameters": in_words(setting.parameters),
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
        "speedup": f"{_ratio(ranks * compute_s / worst)} to {_ratio(ranks * compute_s / best)}",
        "efficiency": f"{_percent(compute_s / worst)} to {_percent(compute_s / best)}",
        "needed": f"{_two_digits(needed[0])} to {_two_digits(needed[1])}",
    }


def _two_digits(factor: float) -> str:
    """'7.6', '110': two digits without an exponent."""
    return f"{float(f'{factor:.2g}'):.10g}"


def _ratio(value: float) -> str:
    """'7.61', '0.019': two decimals, or two digits of a small ratio."""
    return f"{value:.2f}" if value >= 0.1 else f"{value:.2g}"


def _percent(share: float) -> str:
    """'87%', '0.12%': whole per cent, or two digits of less than one."""
    return f"{share:.0%}" if share >= 0.01 else f"{100 * share:.2g}%"


def _text(value: float, unit: str) -> str:
    """A quantity with three digits and an SI prefix: 0.701 s is '701 ms'. Long times are in s, not in ks."""
    if unit == "s" and value >= 1000:
        return f"{value:.0f} s"
    return Quantity(value, unit).render(prec=2)
