"""The lines of `scalestudy plan` on the expected cost of a study and the benefit of its next runs."""

from collections.abc import Iterable
from math import isnan
from pathlib import Path

from scalestudy.analyse.statistics.intervals import Interval
from scalestudy.analyse.study.decision_file import DecisionFile
from scalestudy.analyse.study.outlook import EFFICIENCY, SPREAD, SPREAD_FACTOR, Next, outlook
from scalestudy.record.document import read_document
from scalestudy.record.observation import HELD_DEVICES, read_record
from scalestudy.registry.results import DECISIONS
from scalestudy.registry.words.percent import percent
from scalestudy.study.plan import Plan
from scalestudy.study.spec import RunSpec


def outlook_lines(plan: Plan, results: Path) -> list[str]:
    """Return lines on the expected cost; empty if the number of repeats is fixed or every run has a record."""
    finished = all((results / "runs" / run / "run.json").exists() for run in plan.runs)
    if not plan.study.until_decided or finished:
        return []
    decision = last_decision(plan, results)
    known = decision.comparisons if decision else ()
    after = decision.after_repeats if decision else 0
    device_s, idle_s = device_time_s(plan, results)
    expected = outlook(plan, known, after=after, device_s=device_s, idle_s=idle_s)
    return [
        f"expected runs: {_said(expected.launches, '.0f')}",
        f"expected device-hours: {_hours(expected.device_hours)}{_idle(expected.idle_device_hours)}",
        f"  every comparison is settled within {plan.study.most_repeats} repeats with a probability of"
        f" {percent(expected.settled)}",
        f"  {_grounds(decision)}",
        *_next_lines(expected.next),
    ]


def last_decision(plan: Plan, results: Path) -> DecisionFile | None:
    """Return the latest decision; None before the first."""
    for after in reversed(plan.study.decisions):
        path = results / DECISIONS.format(repeats=after)
        if path.exists() and after in plan.study.looks:
            return read_document(path, DecisionFile)
    return None


def device_time_s(plan: Plan, results: Path) -> tuple[dict[str, float], dict[str, float]]:
    """Return (device-seconds per run, idle device-seconds per run), both by run id.

    Each is the mean over the measured runs of the same configuration. Both are {} unless every configuration has
    a measured run.
    """
    held: dict[tuple[object, ...], list[float]] = {}
    idle: dict[tuple[object, ...], list[float]] = {}
    for run, spec in plan.runs.items():
        if (results / "runs" / run / "run.json").exists():
            record = read_record(results / "runs" / run)
            if record.outcome != "unneeded":
                devices = record.environment.get(HELD_DEVICES) or spec.world_size
                time_s, key = record.totals.wall_time_s, _configuration(spec)
                held.setdefault(key, []).append(time_s * devices)
                idle.setdefault(key, []).append(time_s * (devices - spec.world_size))
    keys = {run: _configuration(spec) for run, spec in plan.runs.items()}
    if set(keys.values()) != set(held):
        return {}, {}
    means = [{key: sum(times) / len(times) for key, times in found.items()} for found in (held, idle)]
    of_held, of_idle = ({run: mean[key] for run, key in keys.items()} for mean in means)
    return of_held, of_idle


def _configuration(spec: RunSpec) -> tuple[object, ...]:
    return spec.workload, spec.variant, spec.nodes, spec.devices_per_node, spec.batch_per_rank


def _said(interval: Interval, form: str) -> str:
    between = f"{interval.low:{form}} to {interval.high:{form}}"
    return f"{interval.value:{form}} in total; {between} with a probability of 90 %"


def _hours(interval: Interval) -> str:
    if isnan(interval.value):
        return "not known until every configuration has run once"
    return _said(interval, ".2g")


def _idle(hours: float) -> str:
    return f"; about {hours:.2g} of them on idle devices" if hours > 0 else ""


def _grounds(decision: DecisionFile | None) -> str:
    if decision:
        return f"calculated from the runs of the first {decision.after_repeats} repeats"
    low, high = SPREAD / SPREAD_FACTOR, SPREAD * SPREAD_FACTOR
    return (
        f"assumed: efficiencies from {percent(EFFICIENCY[0])} to {percent(EFFICIENCY[1])}, and speedups with a"
        f" scatter of {percent(low, 1)} to {percent(high)}"
    )


def _next_lines(coming: Iterable[Next]) -> list[str]:
    lines = []
    for one in coming:
        c = one.comparison
        lines.append(f"  {c.workload}, {c.variant} {c.scaling}, {c.world_size} ranks, with {one.repeats} repeats:")
        lines.append(f"    settled with a probability of {percent(one.decided)}")
        if not isnan(one.half_width_then):
            half_widths = f"{percent(one.half_width, 1)} now, {percent(one.half_width_then, 1)} then"
            lines[-1] += f"; half-width of the {one.quantity} {half_widths}"
    return lines and ["expected effect of the runs up to the next decision:", *lines]
