"""Makes verification.csv: a row for each piece of advice that was tried."""

from collections.abc import Sequence
from typing import Any

import pandas as pd

from scalestudy.analyse.statistics.intervals import NOTHING, Interval
from scalestudy.registry.column import ENDS, Limits
from scalestudy.registry.verified import SIDES, TRIED, VERIFIED_COLUMNS
from scalestudy.registry.words.points import counted_ends
from scalestudy.verify.model import Verified


def verification_frame(verified: Sequence[Verified]) -> pd.DataFrame:
    """A row for each piece of advice: the advice, the values before, predicted and after, and the verdict."""
    names = [name for column in VERIFIED_COLUMNS for name in column.names]
    return pd.DataFrame([_row(one) for one in verified], columns=names)


def _row(one: Verified) -> dict[str, Any]:
    trial = one.trial
    predicted = NOTHING if trial.predicted is None else trial.predicted.gain
    row = {
        **trial.before.model_dump(),
        "cause": trial.cause,
        "advice": trial.advice,
        "change": trial.change,
        "verdict": one.verdict,
        **predicted.columns("gain_predicted"),
        **one.gain.columns("gain_measured"),
        **one.accuracy_difference.columns("accuracy_difference"),
        "accuracy_kept": one.accuracy_kept,
        "ends_before": counted_ends(one.before.ends),
        "ends_after": counted_ends(one.after.ends),
        "trial": trial.id,
    }
    for column in TRIED:
        for side in SIDES:
            found = getattr(one.quantities[column.name], side)
            row |= _columns(found, f"{column.name}_{side}", column.limits)
    return row


def _columns(found: Interval, name: str, limits: Limits) -> dict[str, float]:
    """A value and its limits, under the names of their columns."""
    ends = ("", *ENDS[limits])
    return {f"{name}{end}": number for end, number in zip(ends, vars(found).values(), strict=False)}
