"""What a search for a batch found: a file beside the records of its trials."""

from __future__ import annotations

from typing import ClassVar, Literal

from scalestudy.record.document import Document, Part, Real
from scalestudy.record.observation import Outcome


class BatchTrial(Part):
    """A launch at one batch."""

    run_id: str
    batch_per_rank: int
    outcome: Outcome
    reason: str
    throughput_samples_per_s: Real
    """Over all ranks; null where the trial did not come to its end."""
    peak_gib: Real
    """Peak memory, the largest over ranks: allocated on a GPU, resident on a CPU."""


class BatchSearchFile(Document):
    """What `scalestudy find-batch` keeps. Batches are samples per rank."""

    made_by: ClassVar[str] = "scalestudy find-batch"
    schema_version: Literal[2] = 2
    best: int | None
    """Smallest batch tried whose throughput is within 5 % of the largest; null where none came to its end."""
    largest: int | None
    """Largest batch tried that came to its end."""
    reason: str
    """Why the search ended."""
    trials: tuple[BatchTrial, ...]
    """In the order they were made."""
