"""What Snakemake reports of its jobs, as the stages of a study."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field

from snakemake_interface_logger_plugins.common import LogEvent

STAGES: Mapping[str, str] = {
    "plan_study": "planning",
    "prepare_data": "preparing data",
    "train_baseline": "measuring",
    "train_distributed": "measuring",
    "train_baseline_reserve": "measuring",
    "train_distributed_reserve": "measuring",
    "decide_on_launches": "measuring",
    "aggregate_runs": "analysing",
    "diagnose_study": "analysing",
    "verify": "trying the advice",
}
"""Rule -> stage; all others write documents."""
DOCUMENTS = "writing documents"
ORDER = (*dict.fromkeys(STAGES.values()), DOCUMENTS)


def stage_of(rule: str) -> str:
    """The stage that a rule belongs to."""
    return STAGES.get(rule, DOCUMENTS)


@dataclass(frozen=True)
class Job:
    """A job of Snakemake."""

    rule: str
    wildcards: Mapping[str, str]
    logs: tuple[str, ...]

    @property
    def run(self) -> str:
        """The run that it measures; '' for any other job."""
        return self.wildcards.get("run", "") if stage_of(self.rule) == "measuring" else ""


def is_failed_command(record: logging.LogRecord) -> bool:
    """Return whether a record is the text of a job's command that failed. The job's own event follows."""
    return getattr(record, "event", None) == LogEvent.ERROR and getattr(record, "exception", "") == "RuleException"


@dataclass
class Jobs:
    """All jobs that were reported, by their number."""

    known: dict[int, Job] = field(default_factory=dict)
    under_way: set[int] = field(default_factory=set)
    done: int = 0
    total: int = 0

    def saw(self, record: logging.LogRecord) -> tuple[Job | None, Job | None]:
        """(a job that finished, a job that failed) by this record; both None for most of them."""
        event = getattr(record, "event", None)
        if event == LogEvent.JOB_INFO:
            wildcards = {str(name): str(value) for name, value in dict(record.wildcards or {}).items()}  # type: ignore[attr-defined]
            job = Job(record.rule_name, wildcards, tuple(record.log or ()))  # type: ignore[attr-defined]
            self.known[record.jobid] = job  # type: ignore[attr-defined]
            self.under_way.add(record.jobid)  # type: ignore[attr-defined]
        elif event == LogEvent.PROGRESS:
            self.done, self.total = record.done, record.total  # type: ignore[attr-defined]
        elif event == LogEvent.JOB_FINISHED:
            self.under_way.discard(record.job_id)  # type: ignore[attr-defined]
            return self.known.get(record.job_id), None  # type: ignore[attr-defined]
        elif event == LogEvent.JOB_ERROR:
            self.under_way.discard(record.jobid)  # type: ignore[attr-defined]
            found = self.known.get(record.jobid)  # type: ignore[attr-defined]
            of = found.wildcards if found else {}
            return None, Job(record.rule_name, of, tuple(record.log or ()))  # type: ignore[attr-defined]
        return None, None

    @property
    def stage(self) -> str:
        """The earliest stage of which a job is under way."""
        stages = {stage_of(self.known[number].rule) for number in self.under_way if number in self.known}
        return next((stage for stage in ORDER if stage in stages), "")
