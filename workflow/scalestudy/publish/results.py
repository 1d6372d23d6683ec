"""What documents are made from: the tables and facts that the earlier stages wrote of a study."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from scalestudy.analyse.study.environment import StudyEnvironment
from scalestudy.analyse.trace.summary import Trace
from scalestudy.diagnose.findings import Diagnosis
from scalestudy.registry.column import Row
from scalestudy.registry.words.outcomes import ends

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


def failure_word(row: Row) -> str:
    """The word for a row of the summary without a single good launch, or ''."""
    if row["launches_ok"]:
        return ""
    return " / ".join(OUTCOME_WORDS.get(word, word) for word in ends(row))


def as_text(value: Any) -> str:
    """A text column of a CSV: what was empty comes back as nan."""
    return value if isinstance(value, str) else ""
