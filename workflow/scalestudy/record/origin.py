"""The provenance of a run's numbers, as the documents show it."""

from __future__ import annotations

from pydantic import ConfigDict

from scalestudy.record.document import Part


class RunOrigin(Part):
    """The outcome of a run, the checksum of its record, and the code that was run."""

    model_config = ConfigDict(coerce_numbers_to_str=True)  # a table may parse a hash of digits as a number

    outcome: str
    record_sha256: str | None = None
    fingerprint: str | None = None
    commit: str | None = None
    dirty: bool | None = None
    started_at: str | None = None
