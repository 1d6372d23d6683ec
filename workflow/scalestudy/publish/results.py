"""The input of the documents: the tables and facts of a study that earlier stages wrote."""

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from scalestudy.analyse.study.environment import StudyEnvironment
from scalestudy.analyse.trace.summary import Trace
from scalestudy.diagnose.findings import Diagnosis
from scalestudy.verify.model import VerificationFile


@dataclass(frozen=True)
class Results:
    """Tables and facts of one study."""

    summary: pd.DataFrame
    runs: pd.DataFrame
    forecasts: pd.DataFrame
    factors: pd.DataFrame
    floors: pd.DataFrame
    findings: Sequence[Diagnosis]
    traces: Sequence[Trace]
    environment: StudyEnvironment
    verification: VerificationFile | None = None
    """The outcome of tried advice; None if no advice was tried."""
