"""What a plan asks for before it runs: jobs, ranks, device time. An upper bound: nothing was measured yet."""

from collections.abc import Sequence
from pathlib import Path

from scalestudy.cli.jobs import cluster_lines
from scalestudy.record.finished import unmeasured
from scalestudy.registry.codes import NotAlternated
from scalestudy.study.alternation import not_alternated
from scalestudy.study.plan import Plan
from scalestudy.study.spec import RunSpec


def plan_lines(plan: Plan) -> list[str]:
    """A table of the plan's configurations and its cost, as text."""
    used_by: dict[str, list[str]] = {}
    for point in plan.points:
        used_by.setdefault(point.runs[0], []).append(point.scaling)
    header = ("workload", "variant", "scale", "batch/rank", "global", "scaling", "launches")
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


WITHOUT_TURNS = {
    NotAlternated.COMMAND: "the script is your own",
    NotAlternated.PRECISION: "they differ in precision",
    NotAlternated.ENVIRONMENT: "they differ in environment",
    NotAlternated.WORKERS: "workers read ahead",
    NotAlternated.BOOKKEEPING: "logging and checkpoints are part of their steps",
}


def _turns_lines(plan: Plan) -> list[str]:
    """Where the base case takes turns in distributed launches; nothing where the study does not ask for it."""
    study = plan.study
    if not study.measure.alternating_rounds:
        return []
    distributed = [name for name, variant in study.variants.items() if variant.strategy != "single"]
    why = {name: not_alternated(study, name) for name in distributed}
    turns = [name for name in distributed if why[name] == NotAlternated.NONE]
    judged = "" if study.measure.speedup_within == "launches" else "; verdicts are by launches of the base case"
    lines = [f"base case in turns with: {', '.join(turns) or 'none'}{judged}"]
    for name in [name for name in distributed if name not in turns]:
        lines.append(f"  not with {name}, beside its base case {study.base_of(name)}: {WITHOUT_TURNS[why[name]]}")
    return [*lines, ""]


def _batch(spec: RunSpec) -> str:
    """'8', or '8 = 4 x 2' for four micro-batches of two samples."""
    parts = f" = {spec.accumulation_steps} x {spec.micro_batch}" if spec.accumulation_steps > 1 else ""
    return f"{spec.batch_per_rank}{parts}"


def cost_lines(plan: Plan) -> list[str]:
    """Number of jobs, and the most device time they may take."""
    limit_h = plan.study.time_limit_min / 60
    device_h = sum(spec.world_size for spec in plan.runs.values()) * limit_h
    widest = max(spec.world_size for spec in plan.runs.values())
    return [
        f"{launches_in_all(plan)}, at most {widest} ranks at once, one launch after another on the same devices",
        f"at most {device_h:.3g} device-hours and {len(plan.runs) * limit_h:.3g} hours one after another:"
        f" every launch ends within {plan.study.time_limit_min:g} min",
        *cluster_lines(plan),
        f"order of launches: random by seed {plan.study.seed}, each second repeat in reverse;"
        f" first {next(iter(plan.runs))}",
    ]


def left_lines(plan: Plan, results: Path) -> list[str]:
    """How many launches are left where some are measured, and the most device time they may take."""
    left = [plan.runs[run_id] for run_id in unmeasured(results, plan.runs)]
    if len(left) == len(plan.runs):
        return []
    if not left:
        return ["left: no launches; everything is measured"]
    limit_h = plan.study.time_limit_min / 60
    device_h = sum(spec.world_size for spec in left) * limit_h
    most = "up to " if any(plan.is_reserve(spec.run_id) for spec in left) else ""
    return [
        f"left: {most}{len(left)} of {len(plan.runs)} launches, at most {device_h:.3g} device-hours and"
        f" {len(left) * limit_h:.3g} hours one after another"
    ]


def _launches(plan: Plan, runs: Sequence[str]) -> str:
    """'3', or '3 to 5'."""
    least, most = plan.study.repeats, len(runs)
    return str(least) if least == most else f"{least} to {most}"


def launches_in_all(plan: Plan) -> str:
    """'21 launches', or what of them is made only if the others leave the step time unsure."""
    reserve = sum(plan.is_reserve(run_id) for run_id in plan.runs)
    if not reserve:
        return f"{len(plan.runs)} launches"
    precise = f"a step time is not known to {plan.study.measure.half_width:.1%}"
    where = "a verdict is not decided" if plan.study.until_decided else precise
    return f"{len(plan.runs) - reserve} launches, and up to {reserve} more where {where}"
