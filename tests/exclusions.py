"""Statements of a document that exclude each other, and the settings of tests that search for them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from hypothesis import HealthCheck, Phase, settings

Pairs = Sequence[tuple[str, str]]
"""Regular expressions. Each row: two statements that exclude each other."""
NUMBER = r"(-?[\d.]+) \[(-?[\d.]+), (-?[\d.]+)\]"
"""A printed value with its limits."""


def excluded(said: str, pairs: Pairs, never: Sequence[str] = ()) -> list[str]:
    """Return the pairs that a text has both statements of, and the statements that no text may have."""
    both = [f"{pair}" for pair in pairs if all(re.search(statement, said) for statement in pair)]
    return both + [statement for statement in never if re.search(statement, said)]


def statements(said: str, pairs: Pairs) -> list[str]:
    """Return the statements of the pairs that a text has."""
    return [statement for pair in pairs for statement in pair if re.search(statement, said)]


def generated(examples: int) -> settings:
    """Return settings of hypothesis for this number of generated studies. They are the same in each run."""
    return settings(
        max_examples=examples,
        deadline=None,
        derandomize=True,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
