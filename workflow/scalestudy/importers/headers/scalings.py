"""Words that name weak or strong scaling, or say which work is constant."""

from __future__ import annotations

import re

from scalestudy.importers.headers.terms import DEVICE, NODE

_SCALING = re.compile(
    r"(?<!very )(?<!quite )(?<!rather )(?<!too )(?<!pretty )(?<!really )(?<!extremely )(?<!relatively )"
    r"(?<!fairly )(?<!somewhat )\b(weak|strong)(?:ly)?[ -]scal(?:ing|ability|abilities|ed|e)\b"
)
"""The name of a kind of scaling; `very weak scaling` is none."""
_WORK = (
    r"(?:(?:problem|work|data|domain|input|grid|mesh|local|system|total|global|overall) ?)*"
    r"(?:size|work(?:load)?|load|data)"
)
_OF_EACH = rf"(?:per|/|on each|for each|in each|of each) ?(?:{DEVICE}|{NODE})\b"
_WEAK = re.compile(
    rf"\b(?:fixed|constant|same|equal)[ -]{_WORK} ?{_OF_EACH}|"
    r"\b(?:problem|data|work(?:load)?|domain|grid|mesh|input)(?: ?(?:size|set))? "
    r"(?:grows?|increases?|scales?|growing|increasing|scaled) (?:\w+ )?(?:with|to) (?:the )?(?:number of )?"
    rf"(?:{DEVICE}|{NODE})\b"
)
"""Work that grows with the devices: Fixed size per core, data grows with the nodes."""
_STRONG = re.compile(rf"\b(?:fixed|constant)[ -]{_WORK}\b(?! ?{_OF_EACH})")
"""Work that does not: Fixed problem size."""


def scaling_of_header(text: str) -> str:
    """Return `weak` or `strong` if a header names it, or says which work is constant; '' otherwise."""
    named = next((kind for kind in ("weak", "strong") if re.search(rf"\b{kind}\b", text)), "")
    return named or ("weak" if _WEAK.search(text) else "strong" if _STRONG.search(text) else "")


def scalings_in(words: str) -> list[str]:
    """Return the kinds of scaling that a text names, in its order."""
    return _SCALING.findall(words.lower())


def scaling_of_title(words: str) -> list[str]:
    """Return the kinds of scaling that a heading or a caption names, or `weak` if it says that the work grows."""
    return scalings_in(words) or (["weak"] if _WEAK.search(words.lower()) else [])
