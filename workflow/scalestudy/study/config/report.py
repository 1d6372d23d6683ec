"""Settings of the analysis and of the documents: the key `report`."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from scalestudy.registry.tables import Column, Table
from scalestudy.study.config.entry import Entry
from scalestudy.study.config.scales import Scale
from scalestudy.study.config.spoiled import SpoiledFrom

FARTHEST_BATCH = 4.0
"""Limit relative to the largest batch measured with one process; beyond it the step may leave the line."""
FARTHEST_SCALE = 4.0
"""Limit relative to the largest measured size; beyond two doublings the growth models diverge."""


class Report(Entry):
    """Settings of the analysis and of the documents."""

    confidence: float = Field(0.95, gt=0.5, lt=1)
    """Confidence level of every interval."""
    goal: Literal["throughput", "time_to_accuracy", "cost_per_sample"] = "throughput"
    """How advice is ranked. `throughput`: by samples per second, with advice that does not change the training
    first. `time_to_accuracy`: by samples per second, weighted by the worth of a sample at the global batch
    (gradient noise scale). `cost_per_sample`: by device-time per sample, so that fewer ranks come first where they
    waste less."""
    target_efficiency: float = Field(0.75, gt=0, le=1)
    """Lowest efficiency per doubling of ranks that counts as healthy scaling. Compute centres expect 0.75."""
    target_margin: float = Field(0.025, ge=0, lt=1)
    """Distance from the target efficiency that counts as none, as a fraction of the target: a point is `at_target`
    if the whole interval of its efficiency is within it."""
    accuracy_margin: float = Field(0.01, gt=0, lt=1)
    """Difference of validation accuracy that counts as none, as a fraction: the margin of the test whether
    accuracy was kept (two one-sided tests)."""
    forecast_scales: tuple[Scale, ...] | None = None
    """Scales to forecast from the measured ones. If unset, twice the largest number of devices of a node and twice
    the largest number of nodes; an empty list switches these forecasts off."""
    forecast_batches: tuple[Annotated[int, Field(ge=2)], ...] = (2, 4)
    """Multiples of the batch to forecast at the measured scales; an empty list switches these forecasts off."""
    paper: Literal["ieee", "acm", "neurips", "article"] = "ieee"
    """LaTeX class of the paper, for the size of figures and of the page of `report.pdf`: IEEEtran, acmart, NeurIPS
    or article. Tables fit every class."""
    tables: dict[Table, Annotated[tuple[Column, ...], Field(min_length=1)]] = Field({})
    """Columns of LaTeX tables, instead of the default ones. A column without any number is left out."""
    spoiled: SpoiledFrom = SpoiledFrom()
    """Readings of the host from which a run counts as disturbed."""
    overhead_reference: bool = True
    """Also run one process at each batch per rank that strong scaling uses. Without these runs the overhead of
    communication (step time against one process *at equal batch per rank*) is unknown."""
