"""Writing a figure as PDF (for LaTeX), SVG (for the page) and PNG (for chat): the same bytes for the same data."""

from __future__ import annotations

import io
from pathlib import Path

import matplotlib.pyplot as plt
from matplotlib.figure import Figure

from scalestudy.record.files import write_bytes

FORMATS = {"pdf": {"CreationDate": None}, "svg": {"Date": None}, "png": {}}
PNG_DPI = 300


def save_figure(figure: Figure, path: Path) -> list[Path]:
    """Write `path` with the suffixes .pdf, .svg and .png and close the figure; returns the three paths.

    The size is the figure's own: nothing is trimmed, so that a 3.5 in figure is 3.5 in wide on paper.
    """
    written = []
    for suffix, metadata in FORMATS.items():
        buffer = io.BytesIO()
        figure.savefig(buffer, format=suffix, dpi=PNG_DPI, metadata=metadata)
        target = path.with_name(f"{path.name}.{suffix}")
        write_bytes(target, buffer.getvalue())
        written.append(target)
    plt.close(figure)
    return written
