"""What documents are made from: the tables and facts that the earlier stages wrote of a study."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from scalestudy.analyse.study.environment import StudyEnvironment
from scalestudy.analyse.trace.summary import Trace
from scalestudy.diagnose.findings import Diagnosis

OUTCOME_WORDS = {"oom": "OOM"}


@dataclass(frozen=True)
class Results:
    """Of one study."""

    summary: pd.DataFrame
    runs: pd.DataFrame
    forecasts: pd.DataFrame
    factors: pd.DataFrame
    findings: Sequence[Diagnosis]
    traces: Sequence[Trace]
    environment: StudyEnvironment


def failure_word(row: Any) -> str:
    """The word for a row of the summary without a single good launch, or ''."""
    if row["launches_ok"]:
        return ""
    words = [part.split(" ", 1)[1] for part in row["outcomes"].split(", ")]
    return " / ".join(OUTCOME_WORDS.get(word, word) for word in words)


def as_text(value: Any) -> str:
    """A text column of a CSV: what was empty comes back as nan."""
    return value if isinstance(value, str) else ""
