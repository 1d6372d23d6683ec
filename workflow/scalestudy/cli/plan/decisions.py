"""Decisions on further runs, as the commands print them."""

from math import isnan

from scalestudy.analyse.study.decision_file import Comparison, DecisionFile
from scalestudy.publish.words.labels import counted
from scalestudy.publish.words.points import VERDICTS
from scalestudy.registry.codes import Settled
from scalestudy.registry.words.percent import percent
from scalestudy.study.config.study import Study

SETTLED = {
    Settled.NO: "more runs",
    Settled.DECIDED: "decided",
    Settled.PRECISE: "known to {half_width}",
    Settled.FAILED: "fewer than 2 repeats completed; no more runs",
}


def decision_lines(study: Study, decision: DecisionFile) -> list[str]:
    """Return lines with the result of every comparison and the number of runs that follow."""
    lines = [f"after {counted(decision.after_repeats, 'repeat')}:"]
    lines += [_line(study, comparison) for comparison in decision.comparisons]
    lines.append(f"runs that follow: {len(decision.needed)}")
    if decision.budget_ends_after is not None:
        allowed = counted(decision.budget_ends_after, "repeat")
        lines[-1] += f"; the budget of {decision.budget_device_hours:g} device-hours allows {allowed}"
    return lines


def _line(study: Study, comparison: Comparison) -> str:
    c = comparison
    where = f"  {c.workload}, {c.variant} {c.scaling}, {counted(c.world_size, 'rank')}: "
    if isnan(c.speedup):
        return where + SETTLED[c.settled]
    limits = _limits(c.speedup_low, c.speedup_high)
    said = SETTLED[c.settled].format(half_width=percent(study.measure.half_width, 1))
    gain = "" if isnan(c.gain) else f"; gain {c.gain:.3g}{_limits(c.gain_low, c.gain_high)}"
    return f"{where}speedup {c.speedup:.3g}{limits}, {VERDICTS[c.verdict]}{gain}; {said}"


def _limits(low: float, high: float) -> str:
    return "" if isnan(low) else f" [{low:.3g}, {high:.3g}]"
