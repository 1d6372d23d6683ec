"""Patches of a study's config: a recommendation that the config would refuse is no recommendation."""

from __future__ import annotations

from typing import Any

from scalestudy.diagnose.findings import Recommendation
from scalestudy.errors import RefusedStudyError
from scalestudy.study.config.load import parse_study
from scalestudy.study.config.study import Study


def accepted(study: Study, recommendation: Recommendation) -> Recommendation:
    """The recommendation; without its patch, and with the reason, where the study would refuse that."""
    if not recommendation.patch:
        return recommendation
    try:
        parse_study(merge(study.model_dump(mode="json"), recommendation.patch), source="patch")
    except RefusedStudyError as error:
        refused = "\n  ".join(error.problems)
        warning = f"{recommendation.warning} The study would refuse that as it stands: {refused}.".strip()
        return recommendation.model_copy(update={"patch": None, "warning": warning})
    return recommendation


def merge(content: dict[str, Any], patch: dict[str, Any]) -> dict[str, Any]:
    """The content with the patch laid over it, key by key; neither is changed."""
    result = dict(content)
    for key, value in patch.items():
        known = result.get(key)
        result[key] = merge(known, value) if isinstance(value, dict) and isinstance(known, dict) else value
    return result
