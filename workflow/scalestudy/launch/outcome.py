"""What became of a run: one word and one sentence, from what the ranks said and how the processes ended."""

from __future__ import annotations

import signal

from scalestudy.record.observation import Outcome, RankReport
from scalestudy.study.spec import RunSpec


def judge(
    spec: RunSpec,
    *,
    reports: tuple[RankReport, ...],
    exit_code: int,
    timed_out_min: float | None,
    refused: str | None,
) -> tuple[Outcome, str]:
    """(outcome, reason) of a run; `timed_out_min` is the time limit that ended it, None if none did.

    The first cause counts, not what followed from it: when one rank runs out of memory the others fail in their
    next collective, and the run is `oom`.
    """
    if refused:
        return "failed", refused
    for outcome in ("oom", "diverged"):
        for report in reports:
            if report.outcome == outcome:
                return outcome, report.reason
    if timed_out_min is not None:
        steps = max((report.steps for report in reports), default=0)
        return "timeout", f"time limit of {timed_out_min:g} min reached after {steps} steps"
    for report in reports:
        if report.outcome == "failed":
            return "failed", report.reason
    missing = sorted(set(range(spec.world_size)) - {report.rank for report in reports})
    if missing:
        ranks = ", ".join(map(str, missing))
        return "failed", f"rank {ranks} left no report; {_ended(exit_code)}"
    counts = {report.rank: report.steps for report in reports}
    if len(set(counts.values())) > 1:
        few, most = min(counts, key=counts.__getitem__), max(counts, key=counts.__getitem__)
        return "failed", f"rank {few} made {counts[few]} steps, rank {most} {counts[most]}; all make the same"
    if exit_code != 0 or any(report.outcome != "ok" for report in reports):
        return "failed", f"the processes did not end well; {_ended(exit_code)}"
    return "ok", ""


def _ended(exit_code: int) -> str:
    if exit_code >= 0:
        return f"exit code {exit_code}"
    name = signal.Signals(-exit_code).name
    hint = "; the usual cause is the system's out-of-memory killer" if name == "SIGKILL" else ""
    return f"ended by {name}{hint}"
