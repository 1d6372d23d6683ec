"""Widths of texts in a table, estimated. LaTeX measures them again before it chooses a layout."""

from math import ceil

_CHARACTERS_PT = {
    **dict.fromkeys("ijl.,:;!|'()[]", 2.5),
    **dict.fromkeys("frt -", 3.1),
    **dict.fromkeys("wmABCDEFGHKNOPQRSTUVXYZ%", 6.3),
    **dict.fromkeys("MW@", 8.2),
}
_OTHERS_PT = 4.5
"""Of a digit and of most small letters."""


def text_pt(text: str) -> float:
    """The width of a text in points, in \\footnotesize of a class with 10 pt: Computer Modern of 8 pt."""
    return sum(_CHARACTERS_PT.get(character, _OTHERS_PT) for character in text)


def text_lines(text: str, width_pt: float) -> int:
    """Number of lines of a text that is broken at this width. A tenth of a line is lost at its end."""
    return max(1, ceil(text_pt(text) / (0.9 * width_pt)))
