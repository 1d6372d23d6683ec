"""How the numbers of a study were measured, as documents print it at their end."""

from collections.abc import Sequence
from typing import Any

from scalestudy.publish.words import method as words


def method_view(study: dict[str, Any], rows: Sequence[dict[str, Any]]) -> list[str]:
    """Paragraphs on steps, intervals and definitions. study: as from study_view. rows: as from rows_view."""
    energies = [said for name, said in words.ENERGY.items() if any(row[f"has_{name}"] for row in rows)]
    rules = (*words.DEFINITIONS, *energies, *words.RULES)
    if study["imported"]:
        rules = tuple(text for text in rules if text not in words.OF_OUR_RUNS)
    said = [text.format(**study) for text in rules]
    return [study["steps"], study["intervals"], *said]
