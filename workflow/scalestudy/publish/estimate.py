"""An estimate as it is printed: quantities with units, and the assumptions."""

from math import exp, isinf
from typing import Any

from quantiphy import Quantity

from scalestudy.analyse.costs.calibrated import RING_ONLY, compute_for, step_interval_s
from scalestudy.analyse.costs.collectives import ALGORITHMS
from scalestudy.analyse.costs.links import KINDS, SHARES, Z95, family_of
from scalestudy.analyse.costs.strategies import Setting, Traffic, reduced_at_least_s, traffic
from scalestudy.publish.numbers.rounding import show
from scalestudy.registry.words.counts import in_words
from scalestudy.registry.words.percent import percent, percent_digits

FEW = 8  # sources of a share below which the page says that they are few


def estimate_view(
    setting: Setting, *, kind: str | None, measured: bool, step_time_s: float | None, target: float
) -> dict[str, Any]:
    """Values for report/templates/estimate.txt.

    kind: of the link, if it was named. measured: the bandwidth of the link is a bus bandwidth that was measured.
    step_time_s: step time of one process at the batch per rank, if known. target: target efficiency.
    """
    size, ranks, link = setting.size, setting.ranks, setting.link
    family = "measured" if measured else KINDS[kind].family if kind else family_of(link.bandwidth_bytes_per_s)
    known = step_time_s is not None and ranks > 1
    # A least time has no latency that was not given. A time at a measured bandwidth is an estimate, and has.
    timed = setting if measured else setting.surely
    strategies = [
        vars(item)
        | {
            "bytes": _text(item.bytes_sent, "B"),
            "time": _text(shown.time_s, "s"),
            "state": show(item.state_bytes / 2**30).value,
            **(_scaling(setting, item, step_time_s, target, family) if known and step_time_s else {}),
        }
        for item, shown in zip(traffic(setting), traffic(timed), strict=True)
    ]
    return {
        "setting": vars(setting)
        | {
            "parameters": in_words(setting.parameters),
            "element_bytes": setting.element_bytes,
            "size": _text(size, "B"),
            "bandwidth": _text(link.bandwidth_bytes_per_s, "B/s"),
            "latency": _text(link.latency_s, "s"),
        },
        "link": _link(kind, family, link.bandwidth_bytes_per_s),
        "algorithms": [
            {
                "name": algorithm.name,
                "time": _text(algorithm.time_s(size, ranks, timed.link), "s"),
                "complexity": algorithm.complexity,
            }
            for algorithm in ALGORITHMS
        ],
        "strategies": strategies,
        "reduced": _text(reduced_at_least_s(setting), "s") if ranks > 2 and family not in RING_ONLY else None,
        "longer": any(item.get("needed") and not item["reached"] for item in strategies),
        "step_time": _text(step_time_s, "s") if known and step_time_s else None,
        "alone": _text(step_time_s, "s") if step_time_s and ranks == 1 else None,
        "target": percent(target),
    }


def _link(kind: str | None, family: str, bandwidth: float) -> dict[str, Any]:
    """Words for the share of the bandwidth that all-reduces reach."""
    share = SHARES[family]
    low, high = share.limits
    return {
        "kind": KINDS[kind].label if kind else None,
        "family": family,
        "bandwidth": _text(bandwidth, "B/s"),
        "share": _percent(share.median),
        "limits": f"{_percent(low)} to {_percent(high)}",
        "sources": share.sources,
        "few": share.sources < FEW,
        "known_to": _percent(exp(Z95 * share.spread) - 1),
    }


def _scaling(setting: Setting, item: Traffic, compute_s: float, target: float, family: str) -> dict[str, Any]:
    """Rows of step, speedup and efficiency, and the factor by which the target needs a longer step."""
    share = SHARES[family]
    step = step_interval_s(setting, item, compute_s, share=share, family=family)
    named = {"median": step.median, "90 %: from": step.low, "to": step.high}
    least, median = compute_for(setting, item, target, share=share, family=family)
    return {
        "rows": [
            {
                "what": what,
                "step": _text(value, "s"),
                "speedup": _ratio(setting.ranks * compute_s / value),
                "efficiency": _percent(compute_s / value),
            }
            for what, value in named.items()
        ],
        "reached": median <= compute_s,
        "needed": None if isinf(median) else _two_digits(median / compute_s),
        "needed_least": _two_digits(least / compute_s) if least > compute_s else None,
    }


def _two_digits(factor: float) -> str:
    """'7.6', '110': two digits without an exponent."""
    return f"{float(f'{factor:.2g}'):.10g}"


def _ratio(value: float) -> str:
    """'7.61', '0.019': two decimals, or two digits of a small ratio."""
    return f"{value:.2f}" if value >= 0.1 else f"{value:.2g}"


def _percent(share: float) -> str:
    """'87 %', '0.12 %': whole per cent, or two digits of less than one."""
    return percent(share) if share >= 0.01 else percent_digits(share, 2)


def _text(value: float, unit: str) -> str:
    """A quantity with three digits and an SI prefix: 0.701 s is '701 ms'. Long times are in s, not in ks."""
    if unit == "s" and value >= 1000:
        return f"{value:.0f} s"
    return Quantity(value, unit).render(prec=2)
