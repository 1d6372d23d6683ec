"""Reads the speedups and efficiencies that a sentence beside a table states: `92 % efficiency at 32 workers`.

A sentence counts if it names one ratio and one number of devices. What it says of a goal, of theory, of a range or
of another system is no claim on the table.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from scalestudy.importers.counts.phrases import phrase_in
from scalestudy.importers.numbers.printed import ABOUT, NUMBER, Printed, plain
from scalestudy.importers.published import EQUAL, LEAST, Claim
from scalestudy.importers.raw import RawTable

_CLAUSES = re.compile(r"[;\u2192]| \u2014 |,? (?:but|and|while|whereas|then|with) |\) *(?:and|,) ")
_BOUND = (
    r"~|>=?|<=?|\u2265|\u2264|\u2248|(?:about|around|roughly|approximately|nearly|almost|close to|up to|over|"
    r"more than|at least|above|below|under|less than|only) "
)
_RATIO = re.compile(
    rf"(?<![\w.,/\u2013-])(?P<bound>{_BOUND})? ?(?P<number>\d{{1,4}}(?:\.\d{{1,4}})?)(?P<plus>\+)?"
    r"(?: ?(?P<factor>x|-?fold|times)(?!\w)| ?(?P<share>%)(?P<more>\+)?)",
    re.IGNORECASE,
)
_EFFICIENCY = re.compile(r"\beffici|\u6548\u7387", re.IGNORECASE)
_SPEEDUP = re.compile(r"\bspeed-? ?ups?\b|\bfaster\b|\u52a0\u901f\u6bd4", re.IGNORECASE)
_LEAST = re.compile(r">|\u2265|over|more than|at least|above", re.IGNORECASE)
_ABOUT = re.compile(r"~|\u2248|about|around|roughly|approx|nearly|almost|close", re.IGNORECASE)
_MOST = re.compile(r"<|\u2264|below|under|less than", re.IGNORECASE)
_NO_CLAIM = re.compile(
    r"\b(?:ideal(?:ly)?|theor\w+|expect\w*|predict\w*|project\w*|estimat\w*|perfect(?:ly)?|target\w*|goal|should|"
    r"would|could|can|may|might|if|amdahl\w*|gustafson\w*|typical\w*|acceptable|assumed|assuming|assumption|"
    r"hypothe\w*|model(?:l?ed)|without|instead|previous\w*|earlier|old|before|prior|other|another|paper|they|their|"
    r"literature|report(?:s|ed)? by|compared (?:to|with)|versus|vs|than|overhead|loss|memory|util\w+|occupancy|"
    r"accura\w+|energy|power|bandwidth|cache|drop\w*|degrad\w*|decrease[sd]?|decreasing|reduc\w*|average|mean|"
    r"median|geomean|per|each|every|additional|extra|remaining|rest|further)\b|[?=\u2013]",
    re.IGNORECASE,
)
"""Words of what is not measured, of another run, or of another quantity than the ratio over fewer devices."""
_RANGE = re.compile(r"\d ?%? ?x?(?: ?[-\u2013\u2192/] ?| to )\d")
_LONGEST = 240
"""Characters of a sentence that is quoted."""


def claims_beside(raw: RawTable) -> tuple[Claim, ...]:
    """Return what the sentences that speak of this table alone claim, without numbers that a cell of it has."""
    claims = [claim for sentence in raw.beside if len(sentence) <= _LONGEST for claim in _claims_in(sentence)]
    if not claims:
        return ()
    cells = {float(found[0]) for _, row in raw.rows for cell in row for found in NUMBER.finditer(plain(cell))}
    return tuple(claim for claim in claims if not cells & _as_printed(claim))


def _as_printed(claim: Claim) -> set[float]:
    """The numbers with which a cell may print a claim: 92 or 0.92 for 92 %."""
    value = claim.ratio.value
    return {value, round(100 * value, 6)} if claim.of_efficiency else {value}


def _claims_in(sentence: str) -> Iterator[Claim]:
    """The claims of a sentence, of which each part has one number of devices, and one ratio of a kind."""
    if _NO_CLAIM.search(sentence):
        return
    of_kind = {"share": bool(_EFFICIENCY.search(sentence)), "factor": bool(_SPEEDUP.search(sentence))}
    for part in [sentence] if _are_few(list(_RATIO.finditer(sentence))) else _CLAUSES.split(sentence):
        ratios = list(_RATIO.finditer(part))
        if not ratios or not _are_few(ratios) or _RANGE.search(part):
            continue
        devices = phrase_in(" ".join(_RATIO.sub(" , ", part).split()).strip(" ,:"))
        if devices is None or devices.either:
            continue
        for found in ratios:
            if of_kind["share" if found["share"] else "factor"] and not _MOST.search(found["bound"] or ""):
                bound = LEAST if _is_least(found) else EQUAL
                yield Claim(sentence, bool(found["share"]), _ratio_of(found), devices.gpus, bound)


def _are_few(ratios: Sequence[re.Match[str]]) -> bool:
    """Whether there is at most one factor and at most one share."""
    return len({bool(found["share"]) for found in ratios}) == len(ratios)


def _is_least(found: re.Match[str]) -> bool:
    return bool(found["plus"] or found["more"] or _LEAST.search(found["bound"] or ""))


def _ratio_of(found: re.Match[str]) -> Printed:
    """The ratio as a factor or a fraction, with the value of its last digit; that of `about` is less certain."""
    digits = found["number"]
    value, last = float(digits), 10.0 ** -len(digits.partition(".")[2])
    if _ABOUT.search(found["bound"] or ""):
        last = max(last, ABOUT * value)
    return Printed(value, last).times(0.01 if found["share"] else 1.0)
