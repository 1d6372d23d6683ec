"""How the launches of a point ended."""

from __future__ import annotations

from scalestudy.registry.codes import LAUNCH_ENDS
from scalestudy.registry.column import Row

WORDS = {"too_short": "ok but too short"}
"""Where an end is not called as its column is."""


def ends(row: Row) -> dict[str, int]:
    """Launches by the word for their end, those that there are; of a row of comprehensive_summary.csv."""
    return {WORDS.get(end, end): int(row[f"launches_{end}"]) for end in LAUNCH_ENDS if row[f"launches_{end}"]}


def outcomes(row: Row) -> str:
    """'3 ok', or '2 ok, 1 oom': every launch is accounted for."""
    return ", ".join(f"{count} {word}" for word, count in ends(row).items())
