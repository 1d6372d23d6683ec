"""Patches of a study's config: a recommendation that the config would refuse is no recommendation."""

from __future__ import annotations

from typing import Any

from scalestudy.errors import RefusedStudyError
from scalestudy.study.config.load import parse_study
from scalestudy.study.config.study import Study


def refusal(study: Study, patch: dict[str, Any]) -> str:
    """Why the patched study would be refused; empty where it is accepted."""
    try:
        parse_study(merge(study.model_dump(mode="json"), patch), source="patch")
    except RefusedStudyError as error:
        return "\n  ".join(error.problems)
    return ""


def merge(content: dict[str, Any], patch: dict[str, Any]) -> dict[str, Any]:
    """The content with the patch laid over it, key by key; neither is changed."""
    result = dict(content)
    for key, value in patch.items():
        known = result.get(key)
        result[key] = merge(known, value) if isinstance(value, dict) and isinstance(known, dict) else value
    return result
