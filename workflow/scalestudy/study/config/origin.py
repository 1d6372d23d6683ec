"""Where a study is from: whether it was planned here before, and whether one of our commands wrote its file."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from scalestudy.registry.results import RESULTS, TRIALS
from scalestudy.study.named_file import read_named


def with_planned_defaults(content: Mapping[str, Any], results: Path | None = None) -> dict[str, Any]:
    """The content of a study's file, with the version of the defaults that the study was planned with, if any.

    results: the folder of the study's results, where it is not results/STUDY.
    """
    planned = planned_content(str(content.get("study")), results)
    return {"defaults": planned.get("defaults", 1), **content} if planned else dict(content)


def planned_content(name: str, results: Path | None = None) -> dict[str, Any] | None:
    """The study of that name as it was planned here; None if there is no plan, or none that can be read. Other
    code reports what is wrong with a plan."""
    place = Path("results") / name if results is None else results
    try:
        plan = json.loads((place / RESULTS["plan"]).read_text(encoding="utf-8"))
        study = plan["study"]
    except (OSError, ValueError, LookupError, TypeError, RecursionError):
        return None
    return study if isinstance(study, dict) else None


def is_ours(file: str | Path) -> bool:
    """Whether a command of ours wrote a file: the study of a trial, or one that begins by naming the command."""
    path = Path(file)
    if path.parent.name == TRIALS and (path.parent.parent / RESULTS["plan"]).exists():
        return True
    if path.is_relative_to("/dev"):  # what a shell connects can be read once
        return False
    try:
        return _OURS.match(read_named(path, most=200)) is not None
    except OSError:
        return False


_OURS = re.compile(rb"# [^\n]*by `scalestudy (?:tune|demo)`|# [^\n]*as `scalestudy find-batch`")
