"""Writing a figure as PDF (for LaTeX), SVG (for the page) and PNG (for chat), with its data and its words.

The same bytes for the same data.
"""

from __future__ import annotations

import io
from contextlib import AbstractContextManager
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
from matplotlib.figure import Figure

from scalestudy.publish.figures.tidy import Drawn
from scalestudy.record.files import write_bytes, write_text

PNG_DPI = 300


def save_figure(drawn: Drawn, path: Path) -> list[Path]:
    """Write `path` with the suffixes .pdf, .svg, .png, .csv and .txt and close the figure; returns the paths.

    The size is the figure's own: nothing is trimmed, so that a 3.5 in figure is 3.5 in wide on paper. The CSV is
    the frame that is drawn; the text says it in words, and is in the pictures' metadata too.
    """
    figure, words = drawn.figure, drawn.words
    _lay_out(figure)
    metadata: dict[str, dict[str, str | None]] = {
        "pdf": {"CreationDate": None, "Subject": words},
        "svg": {"Date": None, "Description": words},
        "png": {"Description": words},
    }
    written = [path.with_name(f"{path.name}.{suffix}") for suffix in (*metadata, "csv", "txt")]
    for (suffix, tags), target in zip(metadata.items(), written, strict=False):
        write_bytes(target, _rendered(figure, suffix, tags))
    plt.close(figure)
    write_text(written[-2], drawn.frame.to_csv(index=False))
    write_text(written[-1], f"{words}\n")
    return written


def _lay_out(figure: Figure) -> None:
    """Lay out for good: all formats have it alike, and none draws twice to find it."""
    figure.set_dpi(PNG_DPI)
    engine = figure.get_layout_engine()
    if engine and figure.axes:  # words alone have no layout
        engine.execute(figure)
    with _unlaid():
        figure.set_layout_engine(None)  # none at all: "none" leaves one that does nothing, for which all is drawn


def _rendered(figure: Figure, suffix: str, tags: dict[str, str | None]) -> bytes:
    buffer = io.BytesIO()
    with _unlaid():  # after a format matplotlib sets anew the engine there was, and for none that of its settings
        figure.savefig(buffer, format=suffix, dpi=PNG_DPI, metadata=tags)
    return buffer.getvalue()


def _unlaid() -> AbstractContextManager[None]:
    """Where a figure without a layout engine stays without one."""
    return mpl.rc_context({"figure.constrained_layout.use": False, "figure.autolayout": False})
