"""How the numbers of a study were measured, as documents print it at their end."""

from collections.abc import Sequence
from typing import Any

from scalestudy.publish.words import method as words


def method_view(study: dict[str, Any], rows: Sequence[dict[str, Any]]) -> list[str]:
    """Paragraphs on steps, intervals and definitions. study: as from study_view. rows: as from rows_view."""
    energies = [said for name, said in words.ENERGY.items() if any(row[f"has_{name}"] for row in rows)]
    said = [text.format(**study) for text in (*words.DEFINITIONS, *energies, *words.RULES)]
    return [study["steps"], study["intervals"], *said]
