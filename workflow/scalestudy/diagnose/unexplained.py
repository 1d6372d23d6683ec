"""The finding for a point without a cause that misses its target or is undecided; it advises what would decide."""

from math import isnan
from typing import Any

import pandas as pd

from scalestudy.analyse.point.rows import mostly_unsteady
from scalestudy.analyse.statistics.resolution import SHARE
from scalestudy.diagnose.case import Case
from scalestudy.diagnose.fewer_ranks import fewer_ranks
from scalestudy.diagnose.findings import UNEXPLAINED, Evidence, Finding, Recommendation
from scalestudy.diagnose.scripts import name_the_rest
from scalestudy.diagnose.synchronisation import SYNCHRONISATION
from scalestudy.diagnose.verdicts import interval_includes, is_disturbed
from scalestudy.registry.codes import Verdict, Wrapper
from scalestudy.registry.words.percent import percent
from scalestudy.registry.words.points import unsteady

UNPREDICTED = "no cause is established."
OUTSIDE = 0.05  # of a step that belongs to no observed part; the threshold of logging
QUIET = (
    "Stop other programs on the host, set the runs aside (`scalestudy retry results/{study} --outcome ok`) and run"
    " the study again: the runs were measured under other load, and {reason}."
)
OFTEN = 10  # steps; logging more often than this is worth a look


def unexplained(case: Case, verdict: Verdict) -> Finding:
    """The finding for a point below the target or undecided without a cause."""
    point, report = case.point, case.study.report
    study = case.study
    key = "max_repeats" if study.most_repeats > study.repeats else "repeats"
    oftener: dict[str, Any] | None = {key: 2 * study.most_repeats}
    more_repeats = f"Run more repeats ({key}: {2 * study.most_repeats})"
    if verdict == Verdict.UNDECIDED:
        reason = "there is no interval" if isnan(point["speedup_low"]) else interval_includes(case)
        key, change, patch = "more_repeats", f"{more_repeats}: {reason}.", oftener
        if is_disturbed(point) and not study.imported:
            key, change, patch = "quiet_host", QUIET.format(study=study.name, reason=reason), None
    elif isnan(point["overhead_s"]) and not report.overhead_reference:
        key, change = (
            "equal_batch_reference",
            "Measure one process at equal batch per rank: without it the overhead is unknown.",
        )
        patch = {"report": {"overhead_reference": True}}
    elif study.imported:
        return _of_imported(case)
    elif not point["overhead_s_low"] > 0:
        reason = "the measurements do not show an overhead above 0"
        key, change, patch = "more_repeats", f"{more_repeats}: {reason}.", oftener
    elif point["overhead_share"] >= SHARE:
        return _contention(case)
    else:
        key, patch = "larger_batch", None
        change = (
            f"Raise the batch: the overhead is only {percent(point['overhead_share'])} of the step. The loss is in"
            " the step of one process, which does not shrink in proportion to its batch."
        )
    return Finding(
        cause=UNEXPLAINED,
        explanation=f"The measurements do not identify a cause.{_unrest(point)}",
        evidence=(case.efficiency_evidence(f"target {percent(case.target_efficiency)}"),),
        refuted_by="a narrower interval",
        recommendations=(
            *name_the_rest(case, OUTSIDE),
            case.accepted(Recommendation(id=key, change=change, patch=patch, unpredicted=UNPREDICTED)),
            *(_worth_trying(case) if verdict != Verdict.UNDECIDED else ()),
        ),
    )


def _unrest(point: pd.Series) -> str:
    """A sentence about steps that no single mean describes; '' if most runs were steady."""
    if not mostly_unsteady(point):
        return ""
    return f" Most runs were not steady ({unsteady(point)}): check for other work on the host."


def _contention(case: Case) -> Finding:
    """The finding for an overhead that would be blamed on synchronisation if the probes did not measure less."""
    point = case.point
    wrapper = " plus the overhead of the wrapper" if case.base["wrapper"] == Wrapper.NONE else ""
    advice = Recommendation(
        id="less_contention",
        change="Find out what the ranks share on a host (cores, memory bandwidth, a power limit). Give each rank"
        " its own part, or use fewer ranks per host.",
        unpredicted=UNPREDICTED,
    )
    cost, below = case.interval("differential_s"), f"< {percent(SHARE)}"
    return Finding(
        cause=UNEXPLAINED,
        explanation="The measurements do not identify a cause. The probes measure too little synchronisation to"
        f" explain the overhead. The rest is contention between ranks on the host{wrapper}."
        f"{_unrest(point)}",
        evidence=(
            case.efficiency_evidence(f"target {percent(case.target_efficiency)}"),
            *case.overhead_evidence(),
            case.overhead_share_evidence(),
            Evidence.of("synchronisation", SYNCHRONISATION, cost, "ms"),
            Evidence.of("synchronisation_share", "its share of the step", case.share_of_step(cost), "%", below),
        ),
        refuted_by="an overhead that stays with one rank on each host",
        recommendations=(
            *name_the_rest(case, OUTSIDE),
            *(one for one in map(case.accepted, (advice, *fewer_ranks(case))) if not one.within_noise),
            *_worth_trying(case),
        ),
    )


def _of_imported(case: Case) -> Finding:
    """The finding for imported runs: their step times show how much time is lost, and not on what."""
    nodes = int(case.point["nodes"])
    scale = f"{nodes}x{int(case.point['world_size']) // nodes}"
    advice = Recommendation(
        id="parts_of_step",
        change="Measure what the time is spent on, with your script as train.py: `scalestudy run --scales"
        f" {scale} -- train.py` shows the parts of a step.",
        unpredicted=UNPREDICTED,
    )
    return Finding(
        cause=UNEXPLAINED,
        explanation="Step times alone do not identify a cause.",
        evidence=(
            case.efficiency_evidence(f"target {percent(case.target_efficiency)}"),
            *case.overhead_evidence(),
            case.overhead_share_evidence(),
        ),
        refuted_by="further runs with a higher efficiency",
        recommendations=tuple(map(case.accepted, (*fewer_ranks(case), advice))),
    )


def _worth_trying(case: Case) -> list[Recommendation]:
    """Advice on settings that often cost time, if the parts of the step that would show it were not measured."""
    if not isnan(case.point["logging_time_s"]):
        return []
    knobs, found = case.knobs, []
    if knobs.log_every_steps and knobs.log_every_steps < OFTEN:
        rarer = OFTEN * knobs.log_every_steps
        change = f"Log every {rarer} steps instead of every {knobs.log_every_steps}"
        patch = case.variant_patch({"log_every_steps": rarer})
        found.append(("log_less_often", f"{change}: reading the loss waits for the device.", patch))
    if knobs.accumulation_steps > 1:
        parts = knobs.accumulation_steps // 2
        change = f"Use fewer and larger micro-batches: {parts} instead of {knobs.accumulation_steps} per step"
        names = (case.point["variant"], case.base["variant"])
        patch = {"variants": {name: {"accumulation_steps": parts} for name in names}}
        found.append(("larger_micro_batches", f"{change}, if memory allows.", patch))
    if not knobs.input.workers and case.script is None:  # how long a script waits for data is known
        patch = case.variant_patch({"input": {"loader": "dataloader", "workers": 2}})
        found.append(("read_ahead", "Read ahead with worker processes.", patch))
    return [
        case.accepted(Recommendation(id=key, change=change, patch=patch, unpredicted=UNPREDICTED))
        for key, change, patch in found
    ]
