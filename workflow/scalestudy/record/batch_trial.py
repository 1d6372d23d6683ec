"""The results of continuing training from a checkpoint with larger batches: losses at equal numbers of samples.

They are an entry of `environment` in run.json, not a table: a table would be a file that records of earlier
releases lack. A record without the entry means that no larger batch was tried.
"""

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from scalestudy.record.document import Part, Real

KEY = "batch_trial"
"""Key of the entry in `environment`."""


class Branch(Part):
    """Training continued from the checkpoint with a multiple of the batch."""

    times: int = Field(ge=1)
    """Global batch of the branch, as a multiple of the run's."""
    samples: tuple[int, ...]
    """Numbers of samples since the checkpoint at which the loss was measured; the first is 0."""
    losses: tuple[Real, ...]
    """Mean loss over the held-out samples, at each number of samples; the last is null if training diverged."""


class BatchTrial(Part):
    """Branches from one checkpoint; the first keeps the batch of the run."""

    at_samples: int = Field(0, ge=0)
    """Samples that the run had trained on at the checkpoint."""
    branches: tuple[Branch, ...] = ()
    seconds: float = Field(0.0, ge=0)
    """Duration of the probe."""
    failed: str = ""
    """Why there are no branches; empty if there are."""


def batch_trial_in(environment: Mapping[str, Any]) -> BatchTrial | None:
    """Return the entry of a record's environment; None if the run has no entry, or its probe failed."""
    content = environment.get(KEY)
    trial = BatchTrial.model_validate(content) if content else None
    return trial if trial and trial.branches else None
