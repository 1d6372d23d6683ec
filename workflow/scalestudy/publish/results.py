"""What documents are made from: the tables and facts that the earlier stages wrote of a study."""

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from scalestudy.analyse.study.environment import StudyEnvironment
from scalestudy.analyse.trace.summary import Trace
from scalestudy.diagnose.findings import Diagnosis
from scalestudy.verify.model import VerificationFile


@dataclass(frozen=True)
class Results:
    """Of one study."""

    summary: pd.DataFrame
    runs: pd.DataFrame
    forecasts: pd.DataFrame
    factors: pd.DataFrame
    floors: pd.DataFrame
    findings: Sequence[Diagnosis]
    traces: Sequence[Trace]
    environment: StudyEnvironment
    verification: VerificationFile | None = None
    """What came of advice; None where none was tried."""
