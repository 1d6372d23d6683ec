"""Headers of ratios: efficiency, speedup over devices, or speedup of a precision over another."""

from __future__ import annotations

import re

from scalestudy.importers.headers.terms import (
    EFFICIENCY,
    OF_A_PRECISION,
    OTHER_RATIO,
    SCALING,
    SECOND,
    SPEEDUP,
    STEP,
    TIME_UNIT,
    WORK,
)
from scalestudy.importers.headers.times import OF_SCALING

_WITH_AND_WITHOUT = re.compile(
    r"\b(?:with|w/)(?!out|o) ?.*\b(?:without|w/o)\b|\b(?:without|w/o)\b.*\b(?:with|w/)(?!out|o)"
)
"""Ratios of a change to the training on the same devices: speedup with X / without X."""
_OVER_A_LIMIT = re.compile(
    r"\b(?:vs\.?|versus|against|over) (?:[a-z-]+ )?(?:ceiling|limit|bound|peak|roof(?:line)?|max(?:imum)?)\b"
)
"""Efficiencies over a limit other than the number of devices."""
_MEASURED = re.compile(
    r"\b(?:weak|strong)(?:ly)?[- ]scal(?:ing|ed)\b(?!.*(?:ratio|relative|normali[sz]ed|%))(?=.*(?:"
    r"\b(?:time|runtime|duration|elapsed|throughput)\b|"
    rf"\b{WORK} ?{SECOND}|\b{TIME_UNIT} ?(?:/|\bper\b) ?{STEP}\b))"
)
"""Measurements whose header also names the kind of scaling: Strong scaling time (s)."""
_OF_AN_IDEAL = re.compile(r"(?:perfect|ideal|theor\w*) (?:linear )?(?:scaling|speed)")


def says_percent(header: str) -> bool:
    """Return whether a header says that its numbers are in per cent. `70% Speedup` is that until 70 %."""
    return re.search(r"(?<![\d.]) ?%", header) is not None and not re.search(r"\d ?%(?!.*%)", header)


def ratio_of(text: str, bare: str, precisions: tuple[str, ...]) -> str:
    """Return the role of a header of ratios; '' for another. bare: the text without its precisions."""
    scaling, speedup = SCALING.search(bare), SPEEDUP.search(bare)
    efficiency = re.search(EFFICIENCY, bare)
    if not (scaling or speedup or efficiency) or OF_SCALING.fullmatch(bare):
        return ""
    if _MEASURED.search(bare) and not (speedup or efficiency):
        return ""
    if _OF_AN_IDEAL.match(bare) or OTHER_RATIO.search(bare) or _WITH_AND_WITHOUT.search(bare):
        return "ignore"
    if efficiency:
        return "ignore" if _OVER_A_LIMIT.search(bare) else "printed_efficiency"
    if not scaling and (len(precisions) > 1 or (precisions and OF_A_PRECISION.search(text))):
        return "precision_ratio"
    return "printed_speedup" if speedup else "scaling_ratio"
