"""Rewrites drawn tables as plain text: their lines as bars, dashes and plus signs."""

from __future__ import annotations

import re

_BOX = str.maketrans(
    dict.fromkeys("\u2500\u2501\u2550\u2504\u254c\u2015", "-")
    | dict.fromkeys("\u2502\u2503\u2551\u2506", "|")
    | {chr(sign): "+" for sign in range(0x250C, 0x254C)}
    | {chr(sign): "+" for sign in range(0x2552, 0x2574)}
)
_NAMED = re.compile(r"[ \t]*[\u250c\u250f\u2554\u256d](?=.*[^\W_])(?P<names>.*)[\u2510\u2513\u2557\u256e][ \t]*")
"""An upper frame with the headers in it."""
_LAST = re.compile(
    r"[ \t]*[\u2514\u2517\u255a\u2570][\u2500\u2501\u2550\u2534\u253b\u2569]+[\u2518\u251b\u255d\u256f][ \t]*"
)
_BETWEEN = re.compile(r"[\u2500\u2501\u2550]*[\u252c\u2533\u2566][\u2500\u2501\u2550]*")


def without_boxes(text: str) -> str:
    """Return a text with the signs of drawn tables as bars, dashes and plus signs.

    Its lines keep their numbers.
    """
    if _NAMED.search(text):  # the lower frame must not be taken for the rule below a header
        text = "\n".join("" if _LAST.fullmatch(line) else _header(line) for line in text.split("\n"))
    return text.translate(_BOX)


def _header(line: str) -> str:
    """A frame with headers as a row of headers; another line as it is."""
    found = _NAMED.fullmatch(line)
    if found is None:
        return line
    names = _BETWEEN.split(found["names"].strip("\u2500\u2501\u2550"))
    return f"| {' | '.join(name.strip() for name in names)} |"
