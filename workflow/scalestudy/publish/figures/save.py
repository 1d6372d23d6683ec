"""Writing a figure as PDF (for LaTeX), SVG (for the page) and PNG (for chat), with its data and its words.

The same bytes for the same data.
"""

import io
from pathlib import Path
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt

from scalestudy.publish.cells import csv_text
from scalestudy.publish.figures.tidy import Drawn
from scalestudy.record.files import write_bytes

FORMATS = ("pdf", "svg", "png")
PNG_DPI = 300
PNG_LEVEL = 3
"""Of compression: a file is a tenth larger than at the usual 6, and is written in two thirds of the time."""


def save_figure(drawn: Drawn, path: Path) -> list[Path]:
    """Write `path` with the suffixes .pdf, .svg, .png, .csv and .txt and close the figure; returns the paths.

    The size is the figure's own: nothing is trimmed, so that a 3.5 in figure is 3.5 in wide on paper. The CSV is
    the frame that is drawn; the text says it in words, and is in the pictures' metadata too.
    """
    figure, words = drawn.figure, drawn.words
    figure.set_dpi(PNG_DPI)
    engine = figure.get_layout_engine()
    if engine and figure.axes:  # words alone have no layout
        engine.execute(figure)  # for good: all formats have it alike, and none draws twice to find it
    metadata: dict[str, dict[str, str | None]] = {
        "pdf": {"CreationDate": None, "Subject": words},
        "svg": {"Date": None, "Description": words},
        "png": {"Description": words},
    }
    content: dict[str, bytes] = {}
    # After a format matplotlib sets anew the engine there was, and for none that of its settings.
    with mpl.rc_context({"figure.constrained_layout.use": False, "figure.autolayout": False}):
        figure.set_layout_engine(None)  # none at all: "none" leaves one that does nothing, for which all is drawn
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
