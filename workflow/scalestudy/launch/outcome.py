"""The outcome of a run: one word and one sentence, from the ranks' reports and from how the processes ended."""

import re
import signal
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from scalestudy.launch.nccl_log import with_nccl_warnings
from scalestudy.launch.slurm.ask import is_away
from scalestudy.launch.tracebacks import last_exception
from scalestudy.record.observation import Outcome, RankReport
from scalestudy.study.limits import Limits
from scalestudy.study.spec import RunSpec, TrainSpec

# What SLURM prints when a job or one of its processes exceeded its memory allocation.
MEMORY_KILLS = (
    r"(?:Job|Step|StepId|JobId)[ =]?\S* exceeded (?:job )?memory limit[^\n]*",
    r"Exceeded job memory limit[^\n]*",
    r"Detected \d+ oom[-_]kill event[^\n]*",
)
STEP_REFUSED = re.compile(r"srun: error: (Unable to (?:create step|confirm allocation)[^\n]*)")
NO_MEETING = ("RendezvousTimeoutError", "RendezvousConnectionError", "RendezvousClosedError", "DistNetworkError")
ELASTIC_EXIT = re.compile(r"rank\s*: (\d+) \(local_rank: \d+\)\s*\n\s*exitcode\s*: (-?\d+)")


@dataclass(frozen=True)
class Evidence:
    """What a run left behind."""

    reports: tuple[RankReport, ...]
    exit_code: int
    log: str
    limits: Limits
    steps: int = 0
    """Steps of a rank, also of one that was killed."""
    timed_out: bool = False
    refused: str | None = None
    """Why ranks or a node refused to train."""
    taken: tuple[Outcome, str] | None = None
    """(outcome, reason) of the SLURM job, where the end of the job ended the run."""
    nodes: Mapping[int, str] = field(default_factory=dict)
    """Rank -> name of its node; empty where the ranks did not complete their rendezvous."""
    oom_kills: int | None = None
    """Processes that the kernel's out-of-memory killer ended during the run; None where they are not counted."""
    diverged_first: int | None = None
    """The rank whose loss was the first to be NaN or infinite."""


def judge(spec: RunSpec, found: Evidence) -> tuple[Outcome, str]:
    """Return (outcome, reason) of a run.

    The outcome is the first cause, not its consequences: when one rank runs out of memory, the others fail in
    their next collective, and the run is `oom`. NCCL's warnings are added to the reasons `failed` and `timeout`.
    """
    outcome, reason = _judge(spec, found)
    if outcome in ("failed", "timeout") and not found.refused:
        reason = with_nccl_warnings(reason, found.log)
    return outcome, reason


def _judge(spec: RunSpec, found: Evidence) -> tuple[Outcome, str]:
    if found.refused:
        return "failed", found.refused
    for outcome in ("oom", "diverged"):
        for report in sorted(found.reports, key=lambda report: report.rank != found.diverged_first):
            if report.outcome == outcome:
                return outcome, report.reason
    if killed := memory_kill(found.log):
        return "oom", killed
    if all_reported(spec, found.reports):
        return "ok", ""
    if found.taken:
        return found.taken
    if found.timed_out and whole(spec, found.reports):
        return "ok", ""
    if found.timed_out:
        cut = f" ({found.limits.cut})" if found.limits.cut else ""
        return (
            "timeout",
            f"time limit of {found.limits.time_limit_min:.3g} min{cut} reached after {found.steps} steps",
        )
    refusal = STEP_REFUSED.search(found.log)
    if refusal and not found.reports and is_away(refusal[1]):
        return "preempted", f"SLURM did not start the run: {refusal[1]}"
    reason = _failure(spec, found)
    if found.oom_kills and _exits(found, -signal.SIGKILL):
        return "oom", f"{reason}; the kernel's out-of-memory killer ended {found.oom_kills} process(es) meanwhile"
    return ("failed", reason) if reason else ("ok", "")


def all_reported(spec: RunSpec, reports: Sequence[RankReport]) -> bool:
    """Whether every rank of our own training reported its planned end, all after the same number of steps.

    The measurement is then complete, however the processes end afterwards. A user's script must also exit with 0.
    """
    return isinstance(spec, TrainSpec) and whole(spec, reports)


def whole(spec: RunSpec, reports: Sequence[RankReport]) -> bool:
    """Whether every rank reported `ok`, all after the same number of steps."""
    if {report.rank for report in reports} != set(range(spec.world_size)):
        return False
    return all(report.outcome == "ok" for report in reports) and len({report.steps for report in reports}) == 1


def memory_kill(log: str) -> str | None:
    """The reason, where the log shows that the scheduler killed a process for its memory; else None."""
    for pattern in MEMORY_KILLS:
        if said := re.search(pattern, log, re.IGNORECASE):
            return f"the job used more memory than it was allocated: {said[0].strip()}"
    return None


def over_time(limits: Limits) -> list[dict[str, str]]:
    """A warning for the record of a script's run that is complete, but that the time limit ended."""
    limit = f"the time limit of {limits.time_limit_min:.3g} min (time_limit_min)"
    text = f"all ranks had reported their measurements; {limit} then ended what they did afterwards"
    return [{"kind": "slow end", "text": text}]


def not_ended(exit_code: int) -> list[dict[str, str]]:
    """A warning for the record of a run that is complete, but whose processes did not exit normally."""
    if exit_code == 0:
        return []
    text = f"all ranks had written their reports, but some of them did not exit normally; {_ended(exit_code)}"
    return [{"kind": "slow end", "text": text}]


def _failure(spec: RunSpec, found: Evidence) -> str:
    """Why a run failed that nothing outside ended; empty where it did not fail."""
    reports = {report.rank: report for report in found.reports}
    for report in found.reports:
        if report.outcome == "failed" and not report.waited:
            return report.reason
    missing = sorted(set(range(spec.world_size)) - set(reports))
    exits = {int(rank): int(code) for rank, code in ELASTIC_EXIT.findall(found.log)}
    waiting = [rank for rank, report in reports.items() if report.waited]
    if missing and (still := [rank for rank in waiting if reports[rank].stalled_s is not None]):
        limit = f"{reports[still[0]].stalled_s:g} s (stall_limit_s)"
        end = _ended(exits.get(missing[0], found.exit_code))
        return f"{_named(missing, found)} made no progress: {_named(still, found)} waited {limit} for it; {end}"
    if spec.world_size > 1 and found.exit_code < 0:  # the end of a rank never gives its starter a negative code
        return f"the process that starts the ranks was {_ended(found.exit_code)}, and the ranks with it"
    if len(missing) == spec.world_size and any(word in found.log for word in NO_MEETING):
        nodes = f"{spec.nodes} nodes" if spec.nodes > 1 else "ranks"
        return (
            f"the {nodes} did not complete their rendezvous within {found.limits.start_limit_s:g} s; the log has"
            " torchrun's messages"
        )
    if len(missing) == spec.world_size and (refusal := STEP_REFUSED.search(found.log)):
        return f"SLURM did not start the run: {refusal[1]}"
    absent = sorted(set(range(spec.world_size)) - set(waiting))
    early = [rank for rank, code in exits.items() if rank in missing and code == -signal.SIGTERM]
    if early and len(early) == len(missing) and not waiting:  # before they could report anything
        return _stopped(early[0], found)
    if missing:
        # A rank that got SIGTERM because another had failed is not the cause.
        killed = [rank for rank in missing if exits.get(rank, 0) < 0 and exits[rank] != -signal.SIGTERM]
        first = killed or missing
        others = "; the others waited for it" if waiting else ""
        code = exits.get(first[0], found.exit_code)
        # Where ranks have reported, a traceback in the log can be theirs.
        said = last_exception(found.log) if code > 0 and not reports else None
        error = f": {said}" if said else ""
        return f"{_named(first, found)} left no report; {_ended(code)}{error}{others}"
    stopped = [rank for rank, report in reports.items() if report.outcome == "timeout"]
    ended = [rank for rank in exits if rank in stopped]
    by_signal = stopped and not any(report.stalled_s for report in found.reports)
    if by_signal and (not waiting or next(iter(exits), None) in stopped):
        return _stopped((ended or stopped)[0], found)
    if waiting:
        if not absent and (late := behind(found.reports)):
            return (
                f"{_named(late, found)} did not arrive where the others waited: it had begun"
                f" {reports[late[0]].begun} steps, the others {max(r.begun or 0 for r in found.reports)};"
                f" {reports[late[0]].reason}"
            )
        if not absent:
            return f"every rank waited for the others in a collective: {reports[waiting[0]].reason}"
        reason = reports[waiting[0]].reason
        return f"{_named(absent, found)} did not arrive where the others waited: {reason}"
    counts = {rank: report.steps for rank, report in reports.items()}
    if len(set(counts.values())) > 1:
        few, most = min(counts, key=counts.__getitem__), max(counts, key=counts.__getitem__)
        return (
            f"rank {few} made {counts[few]} steps and rank {most} made {counts[most]}; all must make the same"
            " number of steps"
        )
    if found.exit_code != 0 or any(report.outcome != "ok" for report in found.reports):
        return f"the processes did not exit normally; {_ended(found.exit_code)}"
    return ""


def _stopped(rank: int, found: Evidence) -> str:
    one = _named([rank], found)
    return f"{one} was stopped by SIGTERM before any rank had failed; {_ended(found.exit_code)}"


def behind(reports: Sequence[RankReport]) -> list[int]:
    """The ranks that had begun the fewest steps when all ranks waited; [] where not all counts are known.

    On a GPU, a rank can be busy with a kernel of its own, or with a collective that the others have passed. From
    the state of its device this looks like waiting; the number of its steps shows the difference.
    """
    begun = {report.rank: report.begun for report in reports}
    known = [steps for steps in begun.values() if steps is not None]
    if len(known) < len(begun) or len(set(known)) < 2:
        return []
    return sorted(rank for rank, steps in begun.items() if steps == min(known))


def _named(ranks: list[int], found: Evidence) -> str:
    """A name for these ranks, such as 'rank 1 on node2' or 'ranks 0, 1'."""
    if len(ranks) == 1 and ranks[0] in found.nodes:
        return f"rank {ranks[0]} on {found.nodes[ranks[0]]}"
    return f"rank{'s' if len(ranks) > 1 else ''} {', '.join(map(str, ranks))}"


def _ended(exit_code: int) -> str:
    if exit_code >= 0:
        return f"exit code {exit_code}"
    return f"ended by {signal.Signals(-exit_code).name}"


def _exits(found: Evidence, code: int) -> bool:
    """Whether a rank, or the process that started the ranks, ended with this code."""
    return code == found.exit_code or str(code) in {exited for _, exited in ELASTIC_EXIT.findall(found.log)}
