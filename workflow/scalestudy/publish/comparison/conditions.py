"""What differs between studies beside their questions, as text: environment, settings, code, warnings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from scalestudy.analyse.study.questions import (
    Difference,
    code_differences,
    environment_differences,
    setting_differences,
)
from scalestudy.publish.comparison.named import Named
from scalestudy.publish.environment import environment_view, hardware_view, warnings_view

NOT_RECORDED = "not recorded"


def conditions_view(named: Sequence[Named]) -> dict[str, list[dict[str, Any]]]:
    """`environment` and `settings`: names with a text for each study; `warnings` of the launches of each."""
    sources = [one.source for one in named]
    letters = [source.letter for source in sources]
    differing = environment_differences([source.environment for source in sources])
    said = [dict([*hardware_view(facts), *environment_view(facts)]) for facts in differing]
    settings = [
        *setting_differences([source.plan for source in sources]),
        *code_differences([source.runs for source in sources]),
    ]
    return {
        "environment": [
            _values(name, letters, [texts.get(name, NOT_RECORDED) for texts in said])
            for name in dict.fromkeys(name for texts in said for name in texts)
        ],
        "settings": [_values(item.key, letters, setting_texts(item)) for item in settings],
        "warnings": [
            {"letter": source.letter, **warning}
            for source in sources
            for warning in warnings_view(
                source.environment, launches=int((source.runs["outcome"] != "unneeded").sum())
            )
        ],
    }


def setting_texts(difference: Difference) -> list[str]:
    """Values of a key as a study's file has them."""
    return [str(value).lower() if isinstance(value, bool) else str(value) for value in difference.values]


def _values(name: str, letters: Sequence[str], texts: Sequence[str]) -> dict[str, Any]:
    return {
        "name": name,
        "values": [{"letter": letter, "text": text} for letter, text in zip(letters, texts, strict=True)],
    }
