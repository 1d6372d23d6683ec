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

import matplotlib as mpl
from fontTools import subset
from matplotlib import font_manager

from scalestudy.record.files import writing

FAMILY = "scalestudy figures"
CHARACTERS = (
    *range(0x20, 0x7F),
    *range(0xA0, 0x180),
    *range(0x391, 0x3CA),  # Greek
    *range(0x2010, 0x2027),  # dashes, quotes, dots
    *(0x2190, 0x2192, 0x2212, 0x2248, 0x2264, 0x2265, 0xFFFD),
)
TABLES_LEFT_OUT = ("FFTM", "DSIG", "PfEd", "MATH", "GDEF")
"""Of the program that made the font, its signature, and of formulas and accents that are put together."""
KERNING, OLD_KERNING = "GPOS", "kern"
"""Tables. A font that has both says the same twice; the newer one takes longer to embed than all outlines."""
FEATURES = ("liga", "clig", "calt", "ccmp", "rlig", "locl", "kern")
"""Of layout: those that are used unasked."""
NAMES = (1, 2, 4, 6)
"""Of the font and its style."""


@cache
def families(sans_serif: tuple[str, ...]) -> list[str]:
    """Of all text: one that has CHARACTERS of the first font of these that is there; then that font itself.

    What the first does not have, such as a name in another script, is drawn in the second. It has one weight: what
    is bold is of the family sans-serif.
    """
    with mpl.rc_context({"font.sans-serif": sans_serif}):
        found = Path(font_manager.findfont(font_manager.FontProperties(family=["sans-serif"])))
    if found.suffix != ".ttf":
        return ["sans-serif"]
    folder = Path(tempfile.mkdtemp(prefix="scalestudy-font-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    _subset(found, folder / found.name)
    entry = font_manager.FontEntry(
        fname=str(folder / found.name), name=FAMILY, style="normal", variant="normal", weight=400, size="scalable"
    )
    font_manager.fontManager.ttflist.append(entry)
    return [FAMILY, "sans-serif"]


def _subset(source: Path, target: Path) -> None:
    """Write CHARACTERS of a font: the same outlines, hints and kerning."""
    options = subset.Options(layout_features=list(FEATURES), name_IDs=list(NAMES), legacy_kern=True)
    options.notdef_outline = options.glyph_names = True
    font = subset.load_font(str(source), options)
    options.drop_tables = [*TABLES_LEFT_OUT, *([KERNING] if OLD_KERNING in font else [])]
    chosen = subset.Subsetter(options=options)
    chosen.populate(unicodes=CHARACTERS)
    chosen.subset(font)
    with writing(target):
        font.save(target)
