"""The causes, in the order of decision: validity, host and input, stragglers, transport, structure, size.

The most common wrong diagnosis is "batch too small", because a larger batch hides nearly every other fault. So
causes that come earlier should be fixed first, and the size of the work is blamed only for the overhead that they
leave unexplained.
"""

from dataclasses import replace
from itertools import product
from math import prod

from scalestudy.analyse.statistics.intervals import less
from scalestudy.diagnose.case import Case
from scalestudy.diagnose.cause import Cause, Seen, Stage
from scalestudy.diagnose.causes import beside, fsdp, host, size, straggler, structure, transport, validity
from scalestudy.diagnose.named import Named, left_of, name_causes
from scalestudy.diagnose.support import beyond, beyond_on_logs, is_clear, is_possible
from scalestudy.diagnose.unexplained import unexplained
from scalestudy.diagnose.verdicts import healthy
from scalestudy.registry.codes import Verdict

CAUSES: tuple[Cause, ...] = (
    validity.two_modes,
    validity.thermal,
    host.oversubscribed,
    host.numa,
    host.input_bound,
    host.sync_logging,
    host.checkpointing,
    straggler.imbalance,
    straggler.straggler,
    transport.transport,
    structure.accum_no_nosync,
    structure.unused_params,
    structure.bucket_size,
    structure.sync_bn,
    structure.buffers,
    fsdp.fsdp_overhead,
    size.comm_bound,
    size.launch_bound,
    beside.memory_pressure,
    beside.fragmentation,
    beside.memory_grows,
    beside.large_batch,
)
REACHED = (Verdict.HEALTHY, Verdict.AT_TARGET)
BELOW_TARGET = (Verdict.POOR, Verdict.NEGATIVE_SCALING)


LIKELY = 0.5
"""Support from which a cause is named whether or not the point is below its target: its estimate is beyond the
threshold. A cause with less support is named only if the point may also be below its target."""


def find_causes(case: Case, verdict: Verdict) -> Named:
    """The causes that the evidence supports for a measured point that is not confounded, in the order to fix them.

    A point that misses its target and has no cause is `unexplained`; that finding names the measurement that
    would decide. Causes that the measurements do not rule out are added with weights (named.py).
    """
    if (found := host.oversubscribed.look(case)) is not None:  # it masks every other cause
        return Named((host.oversubscribed.finding(case, found),))
    below = _below_target(case, verdict)
    asked = [cause for cause in CAUSES if cause.stage != Stage.SIZE or is_possible(below)]
    looked = {cause: found for cause in asked if (found := cause.look(case)) is not None}
    blamed = verdict in BELOW_TARGET
    seen = {cause: one for cause, one in looked.items() if one.found and (cause.stage != Stage.SIZE or blamed)}
    kept = [cause for cause in seen if cause.stage != Stage.SIZE] + _of_size(case, seen)

    # If the interval over runs decides the verdict, it already covers both kinds of steps. The same is true of the
    # evidence for a cause that reaches its threshold. Causes of validity are then listed last.
    decided = verdict != Verdict.UNDECIDED or any(Stage.VALIDITY < cause.stage < Stage.SIZE for cause in kept)

    def stage(cause: Cause) -> Stage:
        return Stage.BESIDE if cause.stage == Stage.VALIDITY and decided else cause.stage

    kept.sort(key=stage)
    looked = {
        cause: replace(one, support=below * one.support) if cause.stage == Stage.SIZE else one
        for cause, one in looked.items()
    }
    supported = {
        cause: replace(one, support=min(one.support, below * _left_support(case, one, seen)))
        if cause is size.comm_bound
        else one
        for cause, one in looked.items()
    }
    findings = tuple(cause.finding(case, supported[cause], beside=stage(cause) == Stage.BESIDE) for cause in kept)
    holding = {cause: supported[cause] for cause in kept if stage(cause) < Stage.BESIDE}
    if not holding:
        findings = ((healthy(case) if verdict in REACHED else unexplained(case, verdict)), *findings)
    possible = {
        cause: one
        for cause, one in supported.items()
        if cause not in kept and one.cost_s > 0 and _is_named(cause, one.support, below)
    }
    return name_causes(
        case,
        findings,
        holding,
        possible,
        rest=size.comm_bound,
        rest_support=looked[size.comm_bound].support if size.comm_bound in looked else 0.0,
        order_is_open=_order_is_open(case, holding, seen),
    )


def _is_named(cause: Cause, support: float, below: float) -> bool:
    """Whether a cause that was not found is named; below: probability that the point is below its target."""
    joint = support if cause.stage == Stage.SIZE else below * support  # causes of size include it already
    return support >= LIKELY or is_possible(joint)


def _below_target(case: Case, verdict: Verdict) -> float:
    """Probability that the efficiency is below the target, or below that of one process if that is more.

    Only then may the size of the work be blamed.
    """
    if verdict != Verdict.UNDECIDED:
        return 1.0 if verdict in BELOW_TARGET else 0.0
    least = max(case.target_efficiency, 1 / case.ranks)
    return 1 - beyond_on_logs(case, case.interval("efficiency"), least)


def _left_support(case: Case, overhead: Seen, found: dict[Cause, Seen]) -> float:
    """Probability that the causes found before size leave enough of the overhead to blame the size.

    Each of them that is near its threshold counts as a cause with a probability equal to its support.
    """
    before = {cause: one for cause, one in found.items() if cause.stage < Stage.SIZE}
    near = [cause for cause, one in before.items() if one.explained_s > 0 and not is_clear(one.support)]
    total = 0.0
    for are_causes in product((True, False), repeat=len(near)):
        chances = [
            before[cause].support if is_one else 1 - before[cause].support
            for cause, is_one in zip(near, are_causes, strict=True)
        ]
        no_causes = {cause for cause, is_one in zip(near, are_causes, strict=True) if not is_one}
        left = left_of(overhead.loss_s, {cause: one for cause, one in before.items() if cause not in no_causes})
        total += prod(chances) * beyond(case, left, size.SHARE * case.point["step_time_s"])
    return total


def _order_is_open(case: Case, holding: dict[Cause, Seen], found: dict[Cause, Seen]) -> bool:
    """Whether both causes of size are found and the measurements do not decide which one costs more."""
    if size.comm_bound not in holding or size.launch_bound not in holding:
        return False
    more = less(left_of(holding[size.comm_bound].loss_s, found), holding[size.launch_bound].loss_s)
    first = beyond(case, more, 0.0)
    return not (is_clear(first) or is_clear(1 - first))


def _of_size(case: Case, seen: dict[Cause, Seen]) -> list[Cause]:
    """The causes of size that reach the threshold, the more costly one first.

    Communication counts only with the overhead that earlier causes leave.
    """
    told_s = sum(found.explained_s for cause, found in seen.items() if cause.stage < Stage.SIZE)
    left_s = {
        cause: found.loss_s.value - (told_s if cause is size.comm_bound else 0.0)
        for cause, found in seen.items()
        if cause.stage == Stage.SIZE
    }
    kept = [cause for cause, seconds in left_s.items() if seconds >= size.SHARE * case.point["step_time_s"]]
    return sorted(kept, key=lambda cause: -left_s[cause])
