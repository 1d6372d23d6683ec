"""The figures of a study: their files, what draws them, and how Snakemake's report lists them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class FigureEntry:
    """A figure of every workload, or, with `strategies`, one of the study as a whole."""

    name: str
    """Its files are called so; a workload's own name stands before it."""
    drawer: str
    """The module in publish/figures/drawers, and what draws it there."""
    caption: str
    """The file in report/captions, without its suffix."""
    title: str
    """In Snakemake's report."""
    strategies: tuple[str, ...] = ()
    """Only a study that gives all of these the same work has this figure."""

    @property
    def of_study(self) -> bool:
        """Whether it is of the study as a whole."""
        return bool(self.strategies)


FIGURES = (
    FigureEntry("epoch_time_detailed", "runs.epoch_time", "epoch_time", "epoch time"),
    FigureEntry("speedup_efficiency", "scaling.speedup", "speedup", "speedup and efficiency"),
    FigureEntry("throughput", "scaling.throughput", "throughput", "throughput"),
    FigureEntry("accuracy", "runs.accuracy", "accuracy", "accuracy"),
    FigureEntry("step_breakdown", "bars.breakdown", "breakdown", "parts of a step"),
    FigureEntry("memory", "bars.memory", "memory", "memory"),
    FigureEntry("communication", "communication.communication", "communication", "communication"),
    FigureEntry("step_time_distribution", "runs.distribution", "distribution", "distribution of step times"),
    FigureEntry("measured_forecast", "held_out.held_out", "held_out", "measured against forecast"),
    FigureEntry(
        "ddp_fsdp_crossover", "crossover.crossover", "crossover", "DDP against FSDP", strategies=("ddp", "fsdp")
    ),
)
"""In the order in which they are drawn and listed."""

OF_WORKLOAD = tuple(entry for entry in FIGURES if not entry.of_study)
OF_STUDY = tuple(entry for entry in FIGURES if entry.of_study)
