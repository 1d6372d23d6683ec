"""The reduced font of figures sets text as the whole font does, which is used where a character is missing."""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import matplotlib.pyplot as plt
import pytest
from matplotlib.figure import Figure
from matplotlib.text import Text
from scalestudy.publish.figures.font import FAMILY
from scalestudy.publish.figures.style import paper_style

ALL_SIGNS = "AVATAR Wo. 0123456789 -\N{MINUS SIGN}×%, ëß \N{GREEK SMALL LETTER MU}s, fi"


@pytest.fixture
def figure() -> Iterator[Figure]:
    with paper_style():
        figure = plt.figure(dpi=300)
        yield figure
        plt.close(figure)


def width(figure: Figure, words: str, **look: str) -> float:
    text = Text(0, 0, words, figure=figure, **look)
    return float(text.get_window_extent().width)


def test_text_is_as_wide_as_in_the_whole_font(figure: Figure) -> None:
    assert FAMILY in Text(0, 0, "x").get_fontfamily(), "the lean font is not used"
    for words in (ALL_SIGNS, *ALL_SIGNS.split()):
        assert width(figure, words) == width(figure, words, fontfamily="sans-serif"), words


def test_what_the_lean_font_has_not_is_drawn_all_the_same(figure: Figure) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # matplotlib warns of a character that no font has
        assert width(figure, "\N{CHECK MARK}") > 0
        assert width(figure, "Модель") > 0
    with pytest.warns(UserWarning, match="missing from font"):
        width(figure, "\ue123")


def test_what_is_bold_is_bold(figure: Figure) -> None:
    assert width(figure, "mlp", fontfamily="sans-serif", fontweight="bold") > width(figure, "mlp")
