"""The largest cost of a plan before it runs: jobs, ranks and device time. Nothing has been measured yet."""

from collections.abc import Sequence
from pathlib import Path

from scalestudy.cli.plan.jobs import cluster_lines
from scalestudy.publish.words.labels import counted
from scalestudy.record.finished import unmeasured
from scalestudy.registry.codes import NotAlternated
from scalestudy.registry.words.percent import percent
from scalestudy.study.alternation import WHY_NOT, not_alternated
from scalestudy.study.plan import Plan
from scalestudy.study.spec import RunSpec


def plan_lines(plan: Plan) -> list[str]:
    """Return the lines of a table of the plan's configurations, and of its cost."""
    used_by: dict[str, list[str]] = {}
    for point in plan.points:
        used_by.setdefault(point.runs[0], []).append(point.scaling)
    header = ("workload", "variant", "scale", "batch/rank", "global", "scaling", "runs")
    rows = []
    for point in plan.points:
        if point.runs[0] not in used_by:
            continue
        rows.append(
            (
                point.workload,
                point.variant,
                f"{point.nodes}x{point.devices_per_node}",
                _batch(plan.runs[point.runs[0]]),
                str(point.global_batch),
                "+".join(used_by.pop(point.runs[0])),
                _launches(plan, point.runs),
            )
        )
    for twin in plan.twins:
        spec = plan.runs[twin.runs[0]]
        place = (spec.workload, spec.variant, "1x1", _batch(spec), str(spec.global_batch))
        rows.append((*place, "floor", _launches(plan, twin.runs)))
    widths = [max(len(row[i]) for row in [header, *rows]) for i in range(len(header))]
    table = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in [header, tuple("-" * width for width in widths), *rows]
    ]
    return [
        f"study {plan.study.name}: {len(rows)} configurations",
        "",
        *table,
        "",
        *_turns_lines(plan),
        *cost_lines(plan),
    ]


def _turns_lines(plan: Plan) -> list[str]:
    """Return lines on the variants whose runs alternate with the baseline; empty without alternation."""
    study = plan.study
    if not study.measure.alternating_rounds:
        return []
    distributed = [name for name, variant in study.variants.items() if variant.strategy != "single"]
    why = {name: not_alternated(study, name) for name in distributed}
    turns = [name for name in distributed if why[name] == NotAlternated.NONE]
    judged = "" if study.measure.speedup_within == "launches" else "; verdicts use separate runs of the baseline"
    lines = [f"baseline alternates with: {', '.join(turns) or 'none'}{judged}"]
    for name in [name for name in distributed if name not in turns]:
        lines.append(f"  not with {name} (baseline {study.base_of(name)}): {WHY_NOT[why[name]]}")
    return [*lines, ""]


def _batch(spec: RunSpec) -> str:
    """Return '8', or '8 = 4 x 2' for four micro-batches of two samples."""
    parts = f" = {spec.accumulation_steps} x {spec.micro_batch}" if spec.accumulation_steps > 1 else ""
    return f"{spec.batch_per_rank}{parts}"


def cost_lines(plan: Plan) -> list[str]:
    """Return lines with the number of runs and jobs, and the largest device time that they may take."""
    limit_h = plan.study.time_limit_min / 60
    device_h = sum(spec.world_size for spec in plan.runs.values()) * limit_h
    widest = max(spec.world_size for spec in plan.runs.values())
    return [
        f"{launches_in_all(plan)}, one after another on the same devices; at most {counted(widest, 'rank')}"
        " at once",
        f"at most {_hours(device_h, 'device-hour')} and {_hours(len(plan.runs) * limit_h)} in sequence:"
        f" every run ends within {plan.study.time_limit_min:g} min",
        *cluster_lines(plan),
        f"order of runs: random with seed {plan.study.seed}, every second repeat reversed;"
        f" first {next(iter(plan.runs))}",
    ]


def opening_lines(plan: Plan, results: Path, *, cluster: bool) -> list[str]:
    """Return what a study is about to do and how long it takes at most, in a few lines. cluster: also its jobs."""
    widest = max(spec.world_size for spec in plan.runs.values())
    hours = len(plan.runs) * plan.study.time_limit_min / 60
    return [
        f"{plan.study.name}: {launches_in_all(plan)}; at most {counted(widest, 'rank')} at once",
        f"every run ends within {plan.study.time_limit_min:g} min, so all of them within {_hours(hours)}; most"
        " studies need far less",
        *(cluster_lines(plan) if cluster else []),
        *left_lines(plan, results),
        "if this command is interrupted or killed, call it again to continue",
    ]


def left_lines(plan: Plan, results: Path) -> list[str]:
    """Return a line with the number of runs left and their largest device time; empty if none is measured yet."""
    left = [plan.runs[run_id] for run_id in unmeasured(results, plan.runs)]
    if len(left) == len(plan.runs):
        return []
    if not left:
        return ["left: no runs; everything is measured"]
    limit_h = plan.study.time_limit_min / 60
    device_h = sum(spec.world_size for spec in left) * limit_h
    most = "up to " if any(plan.is_reserve(spec.run_id) for spec in left) else ""
    return [
        f"left: {most}{len(left)} of {counted(len(plan.runs), 'run')}, at most {_hours(device_h, 'device-hour')}"
        f" and {_hours(len(left) * limit_h)} in sequence"
    ]


def _hours(count: float, unit: str = "hour") -> str:
    return counted(f"{count:.3g}", unit)


def _launches(plan: Plan, runs: Sequence[str]) -> str:
    """Return the number of runs of a point: '3', or '3 to 5'."""
    least, most = plan.study.repeats, len(runs)
    return str(least) if least == most else f"{least} to {most}"


def launches_in_all(plan: Plan) -> str:
    """Return '21 runs', with the number that is run only if the others leave a verdict or step time uncertain."""
    reserve = sum(plan.is_reserve(run_id) for run_id in plan.runs)
    if not reserve:
        return counted(len(plan.runs), "run")
    precise = f"a step time is not known to ±{percent(plan.study.measure.half_width, 1)}"
    where = "a verdict is not decided" if plan.study.until_decided else precise
    return f"{counted(len(plan.runs) - reserve, 'run')}, and up to {reserve} more where {where}"
