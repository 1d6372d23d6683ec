"""Names that users have given, in letters that every document has."""

import re
import unicodedata
from typing import Any

LEGEND_CHARACTERS = 32
"""A longer name is cut short in a figure; its letter stands before it."""


def plain(value: Any) -> Any:
    """Text, or all text in lists and mappings, in ASCII: accents left out, what is no letter as its code point."""
    if isinstance(value, dict):
        return {plain(key): plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [plain(inner) for inner in value]
    if not isinstance(value, str):
        return value
    parts = unicodedata.normalize("NFKD", " ".join(value.split()))
    return _spelled(r"[^\x20-\x7e]", "".join(part for part in parts if not unicodedata.combining(part)))


def in_a_figure(name: str) -> str:
    """A name as matplotlib draws it: no mathematics, and no character that its font lacks."""
    short = name if len(name) <= LEGEND_CHARACTERS else f"{name[: LEGEND_CHARACTERS - 3]}..."
    return _spelled(r"[^\x20-\x7e\xa1-\xac\xae-\u017f]", short).replace("$", r"\$")


def _spelled(characters: str, text: str) -> str:
    return re.sub(characters, lambda match: f"(U+{ord(match[0]):04X})", text)
