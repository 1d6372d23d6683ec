"""The font of all figures with the characters that figures have, and no others.

matplotlib embeds in a PDF what its text needs of a font. To pick that out of six thousand characters takes as long
as all drawing of a figure; out of these few hundred it takes a fifth of that, and what is embedded is the same.
"""

from __future__ import annotations

import atexit
import shutil
import tempfile
from functools import cache
from pathlib import Path

from fontTools import subset
from matplotlib import font_manager

FAMILY = "scalestudy figures"
CHARACTERS = (
    *range(0x20, 0x7F),
    *range(0xA0, 0x180),
    *range(0x391, 0x3CA),  # Greek
    *range(0x2010, 0x2027),  # dashes, quotes, dots
    *(0x2190, 0x2192, 0x2212, 0x2248, 0x2264, 0x2265, 0xFFFD),
)
TABLES_LEFT_OUT = ("FFTM", "DSIG", "PfEd")
"""Of the program that made the font, and its signature."""


@cache
def lean_families(families: tuple[str, ...]) -> tuple[str, ...]:
    """These families behind one that has CHARACTERS of the first that is there.

    What it does not have, such as a name in another script, is drawn in the next.
    """
    found = Path(font_manager.findfont(font_manager.FontProperties(family=list(families))))
    if found.suffix != ".ttf":
        return families
    folder = Path(tempfile.mkdtemp(prefix="scalestudy-font-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    _subset(found, folder / found.name)
    entry = font_manager.FontEntry(
        fname=str(folder / found.name), name=FAMILY, style="normal", variant="normal", weight=400, size="scalable"
    )
    font_manager.fontManager.ttflist.append(entry)
    return FAMILY, *families


def _subset(source: Path, target: Path) -> None:
    """Write CHARACTERS of a font: the same outlines, hints and kerning."""
    options = subset.Options(layout_features=["*"], name_IDs=["*"], name_languages=["*"], legacy_kern=True)
    options.notdef_outline = options.glyph_names = True
    options.drop_tables = list(TABLES_LEFT_OUT)
    font = subset.load_font(str(source), options)
    chosen = subset.Subsetter(options=options)
    chosen.populate(unicodes=CHARACTERS)
    chosen.subset(font)
    font.save(target)
