"""The figures of a study: their files, the functions that draw them, and their captions in all documents."""

from dataclasses import dataclass

from scalestudy.registry import drawn
from scalestudy.registry.column import Column


@dataclass(frozen=True)
class FigureEntry:
    """A figure of every workload, or, with `strategies` or `of_advice`, of the study as a whole."""

    name: str
    """Name of its files, after the name of the workload for a figure of a workload."""
    drawer: str
    """The module in publish/figures/drawers, and the function there that draws it."""
    title: str
    """In Snakemake's report."""
    caption: str
    """Its content, in sentences."""
    if_forecast: str = ""
    """Addition to the caption if the figure has forecasts."""
    if_larger_batches: str = ""
    """Addition to the caption if the figure has forecasts at larger batches."""
    intervals: str = ""
    """What shows its intervals over runs: 'Bars' or 'Lines'; '' for a figure without any."""
    has_base: bool = True
    """Whether the figure shows the baseline, or values relative to it."""
    wide: bool = True
    """Whether it takes the width of the page. Two consecutive figures that do not are placed side by side."""
    strategies: tuple[str, ...] = ()
    """Only a study that gives all of these the same work has this figure."""
    of_advice: bool = False
    """Only a study whose advice was tried has this figure."""
    columns: tuple[Column, ...] = ()
    """Columns of its CSV in addition to those of every figure."""

    @property
    def of_study(self) -> bool:
        """Whether it is a figure of the study as a whole."""
        return bool(self.strategies) or self.of_advice


_ENTRIES = (
    FigureEntry(
        "speedup_efficiency",
        "scaling.speedup",
        "speedup and efficiency",
        "Speedup and efficiency relative to {base}; speedup on logarithmic axes. Dashed: ideal. Dotted: the"
        " study's target of efficiency per doubling of ranks.",
        if_forecast="Hollow: forecasts, not measurements.",
        if_larger_batches="Last panel: efficiency forecast at larger batches per rank.",
        intervals="Bars",
        columns=(drawn.RANKS, drawn.BASE),
    ),
    FigureEntry(
        "step_breakdown",
        "bars.breakdown",
        "parts of a step",
        "Parts of the step time, in the order of a step: means over steady steps, ranks and runs. Where"
        " communication was probed, the backward pass is split into computation and exposed communication. A line"
        " around the end of a part is the interval of that part alone. Diamond: step time of the slowest rank.",
        intervals="Lines",
        columns=(drawn.TICK,),
    ),
    FigureEntry(
        "throughput",
        "scaling.throughput",
        "throughput",
        "Samples per second of all ranks, by batch per rank, on logarithmic axes. Dashed: ideal scaling from the"
        " baseline.",
        intervals="Bars",
        wide=False,
        columns=(drawn.IDEAL, drawn.BASE),
    ),
    FigureEntry(
        "memory",
        "bars.memory",
        "memory",
        "Peak memory per rank (maximum over ranks and runs): on the device, if it reports its memory, and"
        " resident on the host. Points that did not fit have their outcome instead.",
        wide=False,
        columns=(drawn.TICK,),
    ),
    FigureEntry(
        "communication",
        "communication.communication",
        "communication",
        "Time of collectives by message size on the idle network: median over runs of the maximum over ranks."
        " Bars: range of the runs. Dashed: latency plus size over bandwidth, fitted to the all-reduce.",
        has_base=False,
        wide=False,
        columns=drawn.FIT,
    ),
    FigureEntry(
        "step_time_distribution",
        "runs.distribution",
        "distribution of step times",
        "Cumulative distribution of the steady steps' times (slowest rank), one line per run. Dotted: the median"
        " and the 95th percentile.",
        wide=False,
    ),
    FigureEntry(
        "measured_forecast",
        "held_out.held_out",
        "measured against forecast",
        "Back-test: each measured scale predicted from the smaller ones. Left: forecast against measured speedup;"
        " right: their ratio. Vertical bars: limits of the forecast. Horizontal bars: interval of the"
        " measurement.",
    ),
    FigureEntry(
        "epoch_time_detailed",
        "runs.epoch_time",
        "epoch time",
        "Training time of every epoch, validation excluded, one line per run.",
        wide=False,
    ),
    FigureEntry(
        "accuracy",
        "runs.accuracy",
        "accuracy",
        "Validation accuracy against epoch and against training time, one line per run.",
    ),
    FigureEntry(
        "ddp_fsdp_crossover",
        "crossover.crossover",
        "DDP against FSDP",
        "DDP against FSDP by the number of parameters, with the same work at the same place. Left: throughput of"
        " each FSDP variant relative to DDP; shaded: the range in which the intervals show that FSDP overtakes."
        " Right: peak memory per rank (maximum over ranks). Points without a good run have their outcome instead.",
        intervals="Bars",
        strategies=("ddp", "fsdp"),
        columns=drawn.OVERTAKES,
    ),
    FigureEntry(
        "before_after",
        "before_after.before_after",
        "before and after advice",
        "Tried advice: each quantity before it, as predicted (hollow), and after it. Before and after are"
        " measured in separate runs. Bars of the accuracy: range of the runs. Quantities that were not measured or"
        " not predicted are left out.",
        intervals="Bars",
        of_advice=True,
    ),
)

FIGURES = {entry.name: entry for entry in _ENTRIES}
"""By name, in the order in which they are drawn and shown."""
OF_WORKLOAD = tuple(entry for entry in _ENTRIES if not entry.of_study)
OF_STUDY = tuple(entry for entry in _ENTRIES if entry.of_study)
OF_STEP_TIMES = ("speedup_efficiency", "throughput", "step_time_distribution", "measured_forecast")
"""Figures that need step times only, which is all that imported runs have."""
