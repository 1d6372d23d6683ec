"""Captions of figures in Snakemake's report: report/captions/NAME.rst."""

import textwrap

from scalestudy.registry.codes import Wrapper
from scalestudy.registry.figures import FIGURES, FigureEntry
from scalestudy.registry.words.points import BASES


def captions() -> dict[str, str]:
    """The caption of every figure, by the figure's name."""
    return {name: textwrap.fill(_said(entry), 118) + "\n" for name, entry in FIGURES.items()}


def _said(entry: FigureEntry) -> str:
    """The caption with all optional sentences, since Snakemake's report cannot adapt it to the figure."""
    bars = f"{entry.intervals}: intervals over runs." if entry.intervals else ""
    caption = entry.caption.replace("{base}", BASES[Wrapper.NONE])
    return " ".join(filter(None, [caption, bars, entry.if_forecast, entry.if_larger_batches]))
