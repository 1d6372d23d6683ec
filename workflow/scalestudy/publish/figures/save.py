"""Writing a figure as PDF (for LaTeX), SVG (for the page) and PNG (for chat), with its data and a description.

Equal data give equal bytes.
"""

import io
from pathlib import Path
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
from matplotlib.figure import Figure

from scalestudy.publish.cells import csv_text
from scalestudy.publish.figures.tidy import Drawn
from scalestudy.record.files import write_bytes

FORMATS = ("pdf", "svg", "png")
PNG_DPI = 300
PNG_LEVEL = 3
"""Compression level: files are 10 % larger than at the usual 6 and are written in 2/3 of the time."""


def save_figure(drawn: Drawn, path: Path) -> list[Path]:
    """Write `path` with the suffixes .pdf, .svg, .png, .csv and .txt, close the figure, and return the paths.

    Nothing is trimmed, so that a 3.5 in figure is 3.5 in wide on paper. The CSV is the drawn frame. The text
    describes the figure in words and is also in the pictures' metadata.
    """
    figure, words = drawn.figure, drawn.words
    figure.set_dpi(PNG_DPI)
    engine = figure.get_layout_engine()
    if engine and figure.axes:  # text without axes has no layout
        engine.execute(figure)  # once for all formats, so that none draws twice to compute it
    metadata: dict[str, dict[str, str | None]] = {
        "pdf": {"CreationDate": None, "Subject": words},
        "svg": {"Date": None, "Description": words},
        "png": {"Description": words},
    }
    content: dict[str, bytes] = {}
    # After each format, matplotlib restores the previous layout engine; without one, it uses its settings.
    with mpl.rc_context({"figure.constrained_layout.use": False, "figure.autolayout": False}):
        figure.set_layout_engine(None)  # not "none", an engine for which everything is drawn in vain
        for suffix in FORMATS:
            buffer = io.BytesIO()
            more: dict[str, Any] = {"pil_kwargs": {"compress_level": PNG_LEVEL}} if suffix == "png" else {}
            figure.savefig(buffer, format=suffix, dpi=PNG_DPI, metadata=metadata[suffix], **more)
            content[suffix] = buffer.getvalue()
    plt.close(figure)
    content |= {"csv": csv_text(drawn.frame).encode(), "txt": f"{words}\n".encode()}
    written = {path.with_name(f"{path.name}.{suffix}"): data for suffix, data in content.items()}
    for target, data in written.items():
        write_bytes(target, data)
    return list(written)


def save_as(figure: Figure, path: Path) -> None:
    """Write a figure in the format of the path's suffix, and close it."""
    suffix = path.suffix.lower().removeprefix(".")
    dates = {"pdf": "CreationDate", "svg": "Date"}
    buffer = io.BytesIO()
    undated = {dates[suffix]: None} if suffix in dates else {}
    figure.savefig(buffer, format=suffix, dpi=PNG_DPI, metadata=undated)
    plt.close(figure)
    write_bytes(path, buffer.getvalue())
