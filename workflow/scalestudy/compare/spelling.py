"""Names given by users, in characters that every document can print."""

import re
import unicodedata
from typing import Any

LEGEND_CHARACTERS = 32
"""A longer name is shortened in a figure, where the study's letter precedes it."""


def plain(value: Any) -> Any:
    """Text, or all text in lists and mappings, in ASCII: accents removed, other characters as code points."""
    if isinstance(value, dict):
        return {plain(key): plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [plain(inner) for inner in value]
    if not isinstance(value, str):
        return value
    parts = unicodedata.normalize("NFKD", " ".join(value.split()))
    return _spelled(r"[^\x20-\x7e]", "".join(part for part in parts if not unicodedata.combining(part)))


def in_a_figure(name: str) -> str:
    """A name for matplotlib: without mathematics and without characters that its font lacks."""
    short = name if len(name) <= LEGEND_CHARACTERS else f"{name[: LEGEND_CHARACTERS - 3]}..."
    return _spelled(r"[^\x20-\x7e\xa1-\xac\xae-\u017f]", short).replace("$", r"\$")


def _spelled(characters: str, text: str) -> str:
    return re.sub(characters, lambda match: f"(U+{ord(match[0]):04X})", text)
