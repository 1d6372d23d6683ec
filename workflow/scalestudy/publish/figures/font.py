"""The font of all figures, reduced to the characters that figures use.

matplotlib embeds in a PDF the characters that its text needs. Selecting them from six thousand characters takes as
long as drawing the figure; from these few hundred it takes 1/5 of that, and the result is the same.
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

from scalestudy.chain.temporary import OF_FONTS, mark
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
"""Font tables for the font editor, the signature, formulas and composed accents."""
KERNING, OLD_KERNING = "GPOS", "kern"
"""Font tables for kerning. If a font has both, they are equivalent, but the newer takes longer to embed."""
FEATURES = ("liga", "clig", "calt", "ccmp", "rlig", "locl", "kern")
"""Layout features that are on by default."""
NAMES = (1, 2, 4, 6)
"""Name records of the font and its style."""


@cache
def families(sans_serif: tuple[str, ...]) -> list[str]:
    """Font families for all text: CHARACTERS of the first of these fonts that is installed, then that whole font.

    Characters that the first lacks, such as a name in another script, are drawn in the second. The first has a
    single weight: bold text uses the family sans-serif.
    """
    with mpl.rc_context({"font.sans-serif": sans_serif}):
        found = Path(font_manager.findfont(font_manager.FontProperties(family=["sans-serif"])))
    if found.suffix != ".ttf":
        return ["sans-serif"]
    folder = Path(tempfile.mkdtemp(prefix=OF_FONTS))
    mark(folder)  # if this process is killed, the next call removes the folder
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    _subset(found, folder / found.name)
    entry = font_manager.FontEntry(
        fname=str(folder / found.name), name=FAMILY, style="normal", variant="normal", weight=400, size="scalable"
    )
    font_manager.fontManager.ttflist.append(entry)
    return [FAMILY, "sans-serif"]


def _subset(source: Path, target: Path) -> None:
    """Write the CHARACTERS of a font with the same outlines, hints and kerning."""
    options = subset.Options(layout_features=list(FEATURES), name_IDs=list(NAMES), legacy_kern=True)
    options.notdef_outline = options.glyph_names = True
    font = subset.load_font(str(source), options)
    options.drop_tables = [*TABLES_LEFT_OUT, *([KERNING] if OLD_KERNING in font else [])]
    chosen = subset.Subsetter(options=options)
    chosen.populate(unicodes=CHARACTERS)
    chosen.subset(font)
    with writing(target):
        font.save(target)
