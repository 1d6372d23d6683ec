"""Captions of figures in Snakemake's report: report/captions/NAME.rst."""

import textwrap

from scalestudy.registry.codes import Wrapper
from scalestudy.registry.figures import FIGURES, FigureEntry
from scalestudy.registry.words.points import BASES


def captions() -> dict[str, str]:
    """The text of the caption of every figure, by the figure's name."""
    return {name: textwrap.fill(_said(entry), 118) + "\n" for name, entry in FIGURES.items()}


def _said(entry: FigureEntry) -> str:
    """All that may hold: Snakemake's report shows captions as they are, whatever the figure has."""
    bars = "Bars: intervals over launches." if entry.intervals else ""
    caption = entry.caption.replace("{base}", BASES[Wrapper.NONE])
    return " ".join(filter(None, [caption, bars, entry.if_forecast, entry.if_larger_batches]))
