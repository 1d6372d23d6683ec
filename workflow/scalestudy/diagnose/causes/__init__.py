"""The causes, in the order of decision: validity, host and input, stragglers, transport, structure, size.

The commonest wrong answer is "batch too small", because a larger batch hides nearly every other fault. So what is
found earlier is put right first, and the size of the work is blamed only for what the causes before it leave.
"""

from __future__ import annotations

from scalestudy.diagnose.case import Case
from scalestudy.diagnose.cause import Cause, Seen, Stage
from scalestudy.diagnose.causes import beside, forward, fsdp, parts, structure, validity
from scalestudy.diagnose.causes.comm_bound import COMM_BOUND, SHARE
from scalestudy.diagnose.causes.launch_bound import LAUNCH_BOUND
from scalestudy.diagnose.causes.numa import NUMA
from scalestudy.diagnose.causes.oversubscribed import OVERSUBSCRIBED
from scalestudy.diagnose.causes.straggler import IMBALANCE, STRAGGLER
from scalestudy.diagnose.causes.transport import TRANSPORT
from scalestudy.diagnose.findings import Finding
from scalestudy.diagnose.verdicts.healthy import healthy
from scalestudy.diagnose.verdicts.unexplained import unexplained
from scalestudy.registry.codes import Verdict

CAUSES: tuple[Cause, ...] = (
    validity.TWO_MODES,
    validity.THERMAL,
    OVERSUBSCRIBED,
    NUMA,
    parts.INPUT_BOUND,
    parts.SYNC_LOGGING,
    parts.CHECKPOINTING,
    IMBALANCE,
    STRAGGLER,
    TRANSPORT,
    structure.ACCUM_NO_NOSYNC,
    structure.UNUSED_PARAMS,
    structure.BUCKET_SIZE,
    forward.SYNC_BN,
    forward.BUFFERS,
    fsdp.FSDP_OVERHEAD,
    COMM_BOUND,
    LAUNCH_BOUND,
    beside.MEMORY_PRESSURE,
    beside.FRAGMENTATION,
    beside.MEMORY_GROWTH,
    beside.LARGE_BATCH,
)
BELOW_TARGET = (Verdict.POOR, Verdict.NEGATIVE_SCALING)


def find_causes(case: Case, verdict: Verdict) -> tuple[Finding, ...]:
    """What the evidence supports of a point that is measured and not confounded, the first to be put right first.

    A point below the target for which nothing is found is `unexplained`, and says what measurement would decide.
    """
    seen = [(cause, found) for cause in CAUSES if (found := cause.look(case)) is not None]
    for cause, found in seen:
        if cause.silences:
            return (cause.finding(case, found),)
    kept = [(cause, found) for cause, found in seen if cause.stage != Stage.SIZE]
    if verdict in BELOW_TARGET:
        kept += _of_size(case, seen)

    # An interval over launches that decides has both kinds of steps in it already, and so has the evidence of a
    # cause that reaches its threshold: then they are told last.
    decided = verdict != Verdict.UNDECIDED or any(Stage.VALIDITY < cause.stage < Stage.SIZE for cause, _ in kept)

    def stage(cause: Cause) -> Stage:
        return Stage.BESIDE if cause.stage == Stage.VALIDITY and decided else cause.stage

    kept.sort(key=lambda item: stage(item[0]))
    findings = tuple(cause.finding(case, found, beside=stage(cause) == Stage.BESIDE) for cause, found in kept)
    if any(stage(cause) < Stage.BESIDE for cause, _ in kept):
        return findings
    return ((healthy(case) if verdict == Verdict.HEALTHY else unexplained(case, verdict)), *findings)


def _of_size(case: Case, seen: list[tuple[Cause, Seen]]) -> list[tuple[Cause, Seen]]:
    """Causes of size, the one that costs more first.

    The overhead only as far as causes before it leave some of it.
    """
    told_s = sum(found.explained_s for cause, found in seen if cause.stage < Stage.SIZE)
    kept = []
    for cause, found in seen:
        left_s = found.loss_s.value - (told_s if cause is COMM_BOUND else 0.0)
        if cause.stage == Stage.SIZE and left_s >= SHARE * case.point["step_time_s"]:
            kept.append((left_s, cause, found))
    return [(cause, found) for _, cause, found in sorted(kept, key=lambda item: -item[0])]


def find_out_of_memory(case: Case) -> tuple[Finding, ...]:
    """What is said of a point of which no launch came to its end for want of memory."""
    found = fsdp.DDP_OOM.look(case)
    return () if found is None else (fsdp.DDP_OOM.finding(case, found),)
