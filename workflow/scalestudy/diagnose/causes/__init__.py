"""The causes, in the order of decision: validity, host and input, stragglers, transport, structure, size.

The commonest wrong answer is "batch too small", because a larger batch hides nearly every other fault. So what is
found earlier is put right first, and the size of the work is blamed only for what the causes before it leave.
"""

from scalestudy.diagnose.case import Case
from scalestudy.diagnose.cause import Cause, Seen, Stage
from scalestudy.diagnose.causes import beside, fsdp, host, size, straggler, structure, transport, validity
from scalestudy.diagnose.findings import Finding
from scalestudy.diagnose.verdicts import healthy, unexplained
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


def find_causes(case: Case, verdict: Verdict) -> tuple[Finding, ...]:
    """What the evidence supports of a point that is measured and not confounded, the first to be put right first.

    A point below the target for which nothing is found is `unexplained`, and says what measurement would decide.
    """
    if (found := host.oversubscribed.look(case)) is not None:  # no other cause can be told from it
        return (host.oversubscribed.finding(case, found),)
    asked = [cause for cause in CAUSES if cause.stage != Stage.SIZE or verdict in BELOW_TARGET]
    seen = {cause: found for cause in asked if (found := cause.look(case)) is not None}
    kept = [cause for cause in seen if cause.stage != Stage.SIZE] + _of_size(case, seen)

    # An interval over launches that decides has both kinds of steps in it already, and so has the evidence of a
    # cause that reaches its threshold: then they are told last.
    decided = verdict != Verdict.UNDECIDED or any(Stage.VALIDITY < cause.stage < Stage.SIZE for cause in kept)

    def stage(cause: Cause) -> Stage:
        return Stage.BESIDE if cause.stage == Stage.VALIDITY and decided else cause.stage

    kept.sort(key=stage)
    findings = tuple(cause.finding(case, seen[cause], beside=stage(cause) == Stage.BESIDE) for cause in kept)
    if any(stage(cause) < Stage.BESIDE for cause in kept):
        return findings
    return ((healthy(case) if verdict in REACHED else unexplained(case, verdict)), *findings)


def _of_size(case: Case, seen: dict[Cause, Seen]) -> list[Cause]:
    """Causes of size, the one that costs more first.

    The overhead only as far as causes before it leave some of it.
    """
    told_s = sum(found.explained_s for cause, found in seen.items() if cause.stage < Stage.SIZE)
    left_s = {
        cause: found.loss_s.value - (told_s if cause is size.comm_bound else 0.0)
        for cause, found in seen.items()
        if cause.stage == Stage.SIZE
    }
    kept = [cause for cause, seconds in left_s.items() if seconds >= size.SHARE * case.point["step_time_s"]]
    return sorted(kept, key=lambda cause: -left_s[cause])
