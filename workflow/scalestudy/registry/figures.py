"""The figures of a study: their files, what draws them, and what every document says of them."""

from dataclasses import dataclass

from scalestudy.registry import drawn
from scalestudy.registry.column import Column


@dataclass(frozen=True)
class FigureEntry:
    """A figure of every workload, or, with `strategies`, one of the study as a whole."""

    name: str
    """Its files are called so; a workload's own name stands before it."""
    drawer: str
    """The module in publish/figures/drawers, and what draws it there."""
    title: str
    """In Snakemake's report."""
    caption: str
    """What is shown, in sentences."""
    if_forecast: str = ""
    """What is said of forecasts, where the figure has some."""
    if_larger_batches: str = ""
    """What is said of forecasts at larger batches, where the figure has some."""
    intervals: bool = False
    """Whether it has bars that are intervals over launches."""
    has_base: bool = True
    """Whether the base case is among what is drawn, or what it is held against."""
    wide: bool = True
    """It stands alone over the page. Two that follow each other and are not wide stand side by side."""
    strategies: tuple[str, ...] = ()
    """Only a study that gives all of these the same work has this figure."""
    of_advice: bool = False
    """Only a study whose advice was tried has this figure."""
    columns: tuple[Column, ...] = ()
    """Of its CSV, beside those of every figure."""

    @property
    def of_study(self) -> bool:
        """Whether it is of the study as a whole."""
        return bool(self.strategies) or self.of_advice


_ENTRIES = (
    FigureEntry(
        "speedup_efficiency",
        "scaling.speedup",
        "speedup and efficiency",
        "Speedup and efficiency over {base}. Dashed: ideal. Dotted: the study's target of"
        " efficiency per doubling of ranks.",
        if_forecast="Hollow: forecasts, no measurements.",
        if_larger_batches="Last panel: efficiency forecast at larger batches of a rank.",
        intervals=True,
        columns=(drawn.RANKS,),
    ),
    FigureEntry(
        "step_breakdown",
        "bars.breakdown",
        "parts of a step",
        "Where a step's time goes, in the order of a step: means over steady steps, ranks and launches. Where"
        " communication was probed, the backward pass is shown as computation and exposed communication.",
        columns=(drawn.TICK,),
    ),
    FigureEntry(
        "throughput",
        "scaling.throughput",
        "throughput",
        "Samples a second of all ranks, by batch per rank. Dashed: ideal scaling from the base case.",
        intervals=True,
        wide=False,
        columns=(drawn.IDEAL,),
    ),
    FigureEntry(
        "memory",
        "bars.memory",
        "memory",
        "Peak memory of the rank that has most, the largest of all launches: on the device where it counts its"
        " own, and resident on the host. What did not fit has its outcome there.",
        wide=False,
        columns=(drawn.TICK,),
    ),
    FigureEntry(
        "communication",
        "communication.communication",
        "communication",
        "What a collective costs by its message size, with nothing else on the network: median over launches of"
        " the largest time over ranks. Bars: range of the launches. Dashed: latency plus size over bandwidth,"
        " fitted to the all-reduce.",
        has_base=False,
        wide=False,
        columns=drawn.FIT,
    ),
    FigureEntry(
        "step_time_distribution",
        "runs.distribution",
        "distribution of step times",
        "Share of the steady steps that took no longer, by the time of the slowest rank; a line a launch. Dotted:"
        " the median and 95%.",
        wide=False,
    ),
    FigureEntry(
        "measured_forecast",
        "held_out.held_out",
        "measured against forecast",
        "Each measured scale as the smaller scales alone would have had it forecast. Left: forecast against"
        " measured speedup; right: their ratio. Bars: limits of the forecast; lying ones: interval of the"
        " measurement.",
    ),
    FigureEntry(
        "epoch_time_detailed",
        "runs.epoch_time",
        "epoch time",
        "Training time of every epoch, validation excluded; a line a launch.",
        wide=False,
    ),
    FigureEntry(
        "accuracy",
        "runs.accuracy",
        "accuracy",
        "Validation accuracy against epoch and against training time; a line a launch.",
    ),
    FigureEntry(
        "ddp_fsdp_crossover",
        "crossover.crossover",
        "DDP against FSDP",
        "DDP against FSDP by the number of parameters, at the same work and place. Left: throughput of each FSDP"
        " variant over that of DDP; shaded: where the limits show that FSDP overtakes. Right: peak memory of the"
        " rank that has most. What has no good launch has its outcome there.",
        intervals=True,
        strategies=("ddp", "fsdp"),
        columns=drawn.OVERTAKES,
    ),
    FigureEntry(
        "before_after",
        "before_after.before_after",
        "before and after advice",
        "Advice that was tried: each quantity before it, as predicted (hollow), and after it. Before and after are"
        " measured in launches of their own. Bars of the accuracy: range of the launches. What was not measured or"
        " not predicted is left out.",
        intervals=True,
        of_advice=True,
    ),
)

FIGURES = {entry.name: entry for entry in _ENTRIES}
"""By name, in the order in which they are drawn and shown."""
OF_WORKLOAD = tuple(entry for entry in _ENTRIES if not entry.of_study)
OF_STUDY = tuple(entry for entry in _ENTRIES if entry.of_study)
