"""Speedups that are means over several programs: a mean of ratios is not the ratio of mean times."""

from __future__ import annotations

import re
from collections.abc import Sequence

from scalestudy.importers.headers.meaning import Meaning, normal, with_role
from scalestudy.importers.numbers.printed import plain
from scalestudy.importers.published import MEASURED, TIMES
from scalestudy.importers.ratios.following import following
from scalestudy.importers.raw import RawTable

MEAN = "mean of ratios"
"""What a speedup is `per` if it is a mean that the measurement beside it does not show."""
_MEAN = re.compile(r"\b(?:mean|avg|average|geo-?(?:metric )?mean|geomean|gmean|median)\b")
_CLOSE = 0.05
"""Relative difference from a ratio of means, above which a mean of ratios is another number."""


def mean_ratios(meanings: list[Meaning], raw: RawTable, said: set[str]) -> list[Meaning]:
    """Leaves out a mean speedup that does not follow from the measurement beside it in most of its rows."""
    devices = next((place for place, one in enumerate(meanings) if one.role == "gpus"), None)
    measured = [place for place, one in enumerate(meanings) if one.role in MEASURED]
    if devices is None or len(measured) != 1:
        return meanings
    for place, one in enumerate(meanings):
        mean = one.role == "printed_speedup" and _MEAN.search(plain(one.header).lower())
        if not mean or normal(one.header) in said:
            continue
        of_times = meanings[measured[0]].role in TIMES
        close = following(raw, meanings, (devices, measured[0], place), of_times=of_times, close=_CLOSE)
        if 2 * sum(close) < len(close):
            return with_role(meanings, place, "ignore", per=MEAN)
    return meanings


def notes_on_mean_ratios(meanings: Sequence[Meaning]) -> list[str]:
    """Return why a mean speedup was not checked."""
    why = (
        "is a mean of speedups that the table does not show, and a mean of ratios is not the ratio of two means:"
        " it was not checked"
    )
    return [f"{plain(one.header)} {why}" for one in meanings if one.per == MEAN]
