"""What a launch leaves of larger batches that were tried from a checkpoint: losses at equal samples.

They are an entry of `environment` in run.json and no table: a table would be a file that records of earlier
releases lack. A record without the entry says that none were tried.
"""

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from scalestudy.record.document import Part, Real

KEY = "batch_trial"
"""Of the entry in `environment`."""


class Branch(Part):
    """A training that goes on from the checkpoint at some times the batch."""

    times: int = Field(ge=1)
    """The global batch over that of the launch."""
    samples: tuple[int, ...]
    """Samples since the checkpoint, at which the loss was taken; the first is 0."""
    losses: tuple[Real, ...]
    """Mean loss over the held-out samples at each of them; the last is null where training diverged."""


class BatchTrial(Part):
    """Branches from one checkpoint, the first at the batch of the launch."""

    at_samples: int = Field(0, ge=0)
    """Samples that the launch had trained on at the checkpoint."""
    branches: tuple[Branch, ...] = ()
    seconds: float = Field(0.0, ge=0)
    """How long the probe took."""
    failed: str = ""
    """Why there are no branches; empty where there are."""


def batch_trial_in(environment: Mapping[str, Any]) -> BatchTrial | None:
    """The entry of a record's environment; None where the launch has none, or could not try."""
    content = environment.get(KEY)
    trial = BatchTrial.model_validate(content) if content else None
    return trial if trial and trial.branches else None
