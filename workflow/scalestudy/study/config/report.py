"""What a study holds its numbers to, and how they are printed: the key `report`."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from scalestudy.registry.tables import Column, Table
from scalestudy.study.config.entry import Entry
from scalestudy.study.config.scales import Scale
from scalestudy.study.config.spoiled import SpoiledFrom


class Report(Entry):
    """What the analysis holds the numbers to."""

    confidence: float = Field(0.95, gt=0.5, lt=1)
    """Confidence level of every interval."""
    goal: Literal["throughput", "time_to_accuracy", "cost_per_sample"] = "throughput"
    """What advice is ranked by. `throughput`: samples a second, and what leaves the training as it is comes first.
    `time_to_accuracy`: samples a second, each by what it is worth at the global batch (gradient noise scale).
    `cost_per_sample`: device-time, so that fewer ranks come first where they waste less of it."""
    target_efficiency: float = Field(0.75, gt=0, le=1)
    """Efficiency per doubling of ranks from which scaling counts as healthy. Compute centres ask for 0.75."""
    target_margin: float = Field(0.025, ge=0, lt=1)
    """Distance from the target efficiency, as a fraction of it, that counts as none: a point is `at_target` where
    the whole interval of its efficiency is that close."""
    accuracy_margin: float = Field(0.01, gt=0, lt=1)
    """Difference of validation accuracy, as a fraction, that counts as none when it is asked whether accuracy was
    kept (two one-sided tests)."""
    forecast_scales: tuple[Scale, ...] | None = None
    """Scales to forecast from those that were measured. Unless given, twice the most devices of a node and twice
    the most nodes; an empty list asks for none."""
    forecast_batches: tuple[Annotated[int, Field(ge=2)], ...] = (2, 4)
    """Multiples of the batch to forecast at the scales that were measured; an empty list asks for none."""
    paper: Literal["ieee", "acm", "neurips", "article"] = "ieee"
    """The class of the paper that tables and figures are to fit: IEEEtran, acmart, NeurIPS or article."""
    tables: dict[Table, Annotated[tuple[Column, ...], Field(min_length=1)]] = Field({})
    """Columns of LaTeX tables, where others than their own are wanted. One without any number is left out."""
    spoiled: SpoiledFrom = SpoiledFrom()
    """From which reading of the host on a launch counts as spoiled."""
    overhead_reference: bool = True
    """Also run one process at each batch per rank that strong scaling uses: without it the overhead of
    communication (step time against one process *at equal batch per rank*) cannot be told."""
