"""What a study is expected to cost, and what its next launches would bring, as `scalestudy plan` says it."""

from collections.abc import Iterable
from math import isnan
from pathlib import Path

from scalestudy.analyse.statistics.intervals import Interval
from scalestudy.analyse.study.decision import DecisionFile
from scalestudy.analyse.study.outlook import EFFICIENCY, SPREAD, SPREAD_FACTOR, Next, outlook
from scalestudy.record.document import read_document
from scalestudy.record.observation import read_record
from scalestudy.registry.results import DECISIONS
from scalestudy.study.plan import Plan
from scalestudy.study.spec import RunSpec


def outlook_lines(plan: Plan, results: Path) -> list[str]:
    """Nothing unless launches are made until verdicts are decided, nor where all were made that are needed."""
    finished = all((results / "runs" / run / "run.json").exists() for run in plan.runs)
    if not plan.study.until_decided or finished:
        return []
    decision = last_decision(plan, results)
    known = decision.comparisons if decision else ()
    after = decision.after_repeats if decision else 0
    expected = outlook(plan, known, after=after, device_s=device_time_s(plan, results))
    return [
        f"expected launches: {_said(expected.launches, '.0f')}",
        f"expected device-hours: {_hours(expected.device_hours)}",
        f"  every comparison is settled within {plan.study.most_repeats} repeats with a probability of"
        f" {expected.settled:.0%}",
        f"  {_grounds(decision)}",
        *_next_lines(expected.next),
    ]


def last_decision(plan: Plan, results: Path) -> DecisionFile | None:
    """The newest decision that was made, None before the first."""
    for after in reversed(plan.study.decisions):
        path = results / DECISIONS.format(repeats=after)
        if path.exists() and after in plan.study.looks:
            return read_document(path, DecisionFile)
    return None


def device_time_s(plan: Plan, results: Path) -> dict[str, float]:
    """Mean device-seconds of the measured launches of every configuration, by its runs; {} unless all have one."""
    found: dict[tuple[object, ...], list[float]] = {}
    for run, spec in plan.runs.items():
        if (results / "runs" / run / "run.json").exists():
            record = read_record(results / "runs" / run)
            if record.outcome != "unneeded":
                found.setdefault(_configuration(spec), []).append(record.totals.wall_time_s * spec.world_size)
    means = {key: sum(times) / len(times) for key, times in found.items()}
    keys = {run: _configuration(spec) for run, spec in plan.runs.items()}
    return {run: means[key] for run, key in keys.items()} if set(keys.values()) == set(means) else {}


def _configuration(spec: RunSpec) -> tuple[object, ...]:
    return spec.workload, spec.variant, spec.nodes, spec.devices_per_node, spec.batch_per_rank


def _said(interval: Interval, form: str) -> str:
    between = f"{interval.low:{form}} to {interval.high:{form}}"
    return f"{interval.value:{form}} in all; {between} with a probability of 90%"


def _hours(interval: Interval) -> str:
    if isnan(interval.value):
        return "not known before every configuration was launched once"
    return _said(interval, ".2g")


def _grounds(decision: DecisionFile | None) -> str:
    if decision:
        return f"calculated from the launches of the first {decision.after_repeats} repeats"
    low, high = SPREAD / SPREAD_FACTOR, SPREAD * SPREAD_FACTOR
    return (
        f"assumed: efficiencies from {EFFICIENCY[0]:.0%} to {EFFICIENCY[1]:.0%}, and speedups that scatter by"
        f" {low:.1%} to {high:.0%}"
    )


def _next_lines(coming: Iterable[Next]) -> list[str]:
    lines = []
    for one in coming:
        c = one.comparison
        lines.append(f"  {c.workload}, {c.variant} {c.scaling}, {c.world_size} ranks, with {one.repeats} repeats:")
        lines.append(f"    settled with a probability of {one.decided:.0%}")
        if not isnan(one.half_width_then):
            lines[-1] += f"; half-width of the speedup {one.half_width:.1%} now, {one.half_width_then:.1%} then"
    return lines and ["what the launches up to the next decision would bring:", *lines]
