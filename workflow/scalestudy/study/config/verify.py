"""Whether a study tries its own advice, and the budget for that."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from scalestudy.study.config.entry import Entry


class Verify(Entry):
    """Whether a study tries its own advice, and the budget for that (docs/verify.md)."""

    mode: Literal["asked", "auto"] = "asked"
    """`asked`: advice is tried by `scalestudy verify` or `snakemake verify` only. `auto`: it is tried after the
    diagnosis, before the documents are written."""
    most: int = Field(3, ge=0)
    """Largest number of trials. A trial tries one piece of advice for all points of a workload and variant that
    have it as their first advice."""
    budget_device_hours: float | None = Field(None, ge=0)
    """Device-hours for all trials together. A trial that may need more than the rest is not run, and is listed
    with that reason. No run of a trial starts once they are used up. `mode: auto` needs it; no limit if unset."""

    @model_validator(mode="after")
    def _bounded(self) -> Verify:
        if self.automatic and self.budget_device_hours is None:
            raise ValueError("budget_device_hours: missing; set the device-hours that `mode: auto` may use")
        return self

    @property
    def automatic(self) -> bool:
        """Whether advice is tried as part of the study."""
        return self.mode == "auto"
