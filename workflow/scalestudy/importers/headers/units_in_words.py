"""Units that sentences state for the numbers of a table: `Throughput in images per second`, `Times are in ms`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from scalestudy.importers.headers.batches import without_batches_of_each
from scalestudy.importers.headers.meaning import meaning_of, normal
from scalestudy.importers.headers.terms import DEVICE, OF_A_PART, ONE_EACH, SECOND, STEP, UNIT_OF_TIME, WORK
from scalestudy.importers.headers.units import unit_of_work


@dataclass(frozen=True)
class Rate:
    """A unit of a rate in a sentence."""

    unit: str
    factor: float
    per: str
    """'gpu' or 'all' if the sentence says of how many devices."""
    stated: bool
    """Whether the sentence states it for numbers elsewhere, and does not give a number of its own."""

    @property
    def work(self) -> str:
        """Return the work in a form that abbreviations share: images for img/s."""
        return re.sub(r"^img", "ima", self.unit)[:3]


_FACTOR = "(?:thousand|million|billion)s?"
_NAMED = re.compile(
    rf"\b(?:[kmg] ?|{_FACTOR}(?: of)? )?(?:{WORK}|{STEP}) ?{SECOND}(?: ?[(\[](?:in )?{_FACTOR}[)\]])?|"
    r"\b(?:[kmgtpe]|giga|tera|peta|exa)?flop/?s\b|\bns/day\b"
)
"""A rate by its unit, perhaps with a factor behind it."""
_IN_THOUSANDS = re.compile(r"\bin thousands\b(?! of)|[(\[]thousands[)\]]")
_OF_OTHER_WORK = re.compile(r"(?<=[(\[])(?!k?m/s)[A-Za-z]{1,12}/s(?=[)\]])")
"""A unit of work that no pattern knows, in brackets, which is no velocity: (z/s)."""
_IN_FRONT = re.compile(
    r"(?:^|[:(\[,;\uff1a] ?|\b(?:in|are|is|as|of|give|gives|show|shows|list|lists|reports?|units?) )"
    r"(?:(?:the|a|mean|average|median|total|aggregated?|global|overall|processed) )*"
    rf"(?:per[- ]{DEVICE} )?$"
)
"""What is in front of the unit of a table: `in`, a bracket, `Numbers are`."""
_BEHIND = re.compile(
    r" ?(?:$|[).,;:\uff1a\]/(\[]|(?:per|on|for|of|with|over|across|and|averaged|measured|using|by|from|at|as|in|"
    r"all|when|during|after|vs|versus|higher|more|larger|is better)\b)"
)
_EACH_IN_FRONT = re.compile(
    rf"\bper[- ]{DEVICE}(?: (?:training )?(?:throughputs?|speeds?|performance))?(?: (?:in|is|are))? ?[(\[]?$"
)
_EACH_BEHIND = re.compile(
    rf"[,)\]]? ?(?:/|[(\[]?\bper[- ]|[(\[]?(?:for |of |on )?each (?:of (?:the )?(?:\d+ )?)?){DEVICE}\b"
    r"(?![ -](?:in|between|below|behind|beside|memory|(?:mini-?|micro-?)?batch)\b)"
)
_ALL_IN_FRONT = re.compile(
    r"\b(?:total|aggregated?|global|overall|cumulative)\b(?! (?:batch|time|steps))[^.;:,]{0,30}$"
)
_ALL_BEHIND = re.compile(
    r"[,)\]]? ?[(\[]?(?:(?:(?:summed )?over|of|on|across|for|with|by) )?(?:all|both)(?: of)?(?: the)?(?: \d+)? "
    rf"{DEVICE}\b"
)


@lru_cache(maxsize=1024)
def rates_in(sentence: str) -> tuple[Rate, ...]:
    """Return the units of rates in a sentence, each with whether it states the unit of numbers elsewhere."""
    result = []
    text = without_batches_of_each(ONE_EACH.sub("", normal(sentence)))
    for found in _NAMED.finditer(text):
        before, behind = text[: found.start()], text[found.end() :]
        whose = _EACH_BEHIND.match(behind) or _ALL_BEHIND.match(behind)
        each = _EACH_IN_FRONT.search(before) or _EACH_BEHIND.match(behind)
        of_all = _ALL_IN_FRONT.search(before) or _ALL_BEHIND.match(behind)
        unit, factor = unit_of_work(found[0])
        factor = 1e3 if factor == 1 and _IN_THOUSANDS.search(text) else factor
        stated = bool(_IN_FRONT.search(before) and _BEHIND.match(behind, whose.end() if whose else 0))
        result.append(Rate(unit, factor, "gpu" if each else "all" if of_all else "", stated))
    return tuple(result)


def only_rate(groups: Sequence[Sequence[str]]) -> Rate | None:
    """Return the unit that sentences state for the rates of a table; None if they name another one too.

    groups: the sentences, the nearest to the table first. The first group that names a rate counts.
    """
    for sentences in groups:
        rates = [rate for words in sentences for rate in rates_in(words)]
        stated = [rate for rate in rates if rate.stated]
        if not rates:
            others = {unit for words in sentences for unit in _OF_OTHER_WORK.findall(words)}
            if others:
                return Rate(others.pop(), 1.0, "", stated=True) if len(others) == 1 else None
            continue
        alike = len({rate.work for rate in rates}) == len({rate.factor for rate in stated}) == 1
        if not alike or re.fullmatch(rf"{STEP}/s", stated[0].unit):
            return None
        whose = {rate.per for rate in stated} - {""}
        return replace(stated[0], per=whose.pop() if len(whose) == 1 else "")
    return None


_UNIT = r"(?:milli|micro|nano)?seconds?|minutes?|hours?|days?|msecs?|usecs?|secs?|mins?|hrs?|ms|us|ns|s|h"
_TIME = re.compile(
    rf"(?P<sign>^|\bin |[(\[] ?(?:in )?|[:\uff1a=] ?|, )(?:(?:wall[- ]?clock|elapsed|real) )?(?P<unit>{_UNIT})\b"
    r"(?P<each>(?: ?/ ?| per )(?:steps?|iter(?:ation)?s?|solves?|calls?|runs?|frames?|epochs?|sweeps?)\b)?"
    r"(?![/\u00b7^-])"
)
"""A unit of time with what states one in front of it, perhaps of each step."""
_WHAT = re.compile(
    r"\b(?P<what>(?:[a-z-]+ ){0,2}(?:[a-z]*tim(?:es?|ings?)|durations?|run-?times?|latenc(?:y|ies)|makespans?|"
    r"numbers|values|results|figures|entries|measurements|all|\bt(?: [a-z]{1,4}| ?\([np]\))?)\b)"
    r"['\"\u2019*`]?(?: ?\([^()]*\))?(?P<of>(?: (?:of|for|on|per|to|with|by|over|at|from)\b[^.;:()]{0,60}?)?)"
    r"(?: (?:is|are|was|were|given|measured|reported|shown|all|here|listed|printed|expressed|taken))*"
    r"(?: (?:the )?(?:means?|medians?|averages?|minim(?:um|a)|best|fastest)(?: (?:of|over)\b[^.;:()]{0,30}?)?)?"
    r",? ?$"
)
"""What is in a unit of time: a time, or all numbers."""
_SIMULATED = re.compile(r"\bsimulat|\bmodel|\bphysical")
"""Words of a time that a simulation covers, if that is short: simulated time in ns."""
_SHORT = ("ns", "us", "nanoseconds", "microseconds")
_ROLES = ("step_time_s", "total_time_s")
_OF_A_UNIT = re.compile(
    r"(?:(?:\bunits?|\u5355\u4f4d|\u55ae\u4f4d|\u5358\u4f4d|\ub2e8\uc704)(?: of time)? ?(?:is|are)?|\bmeasured) ?$"
)


@lru_cache(maxsize=1024)
def times_in(sentence: str) -> tuple[tuple[str, str], ...]:
    """Return the units of time that a sentence states, each with the role of the times that they are of.

    The role is that of a column of times; time_s is of any.
    """
    result = []
    text = normal(sentence)
    for found in _TIME.finditer(text):
        before = text[: found.start()]
        what = _WHAT.search(before)
        of_what = what["what"] if what else ""
        of_a_part = OF_A_PART.search(of_what) or (_SIMULATED.search(of_what) and found["unit"] in _SHORT)
        if of_a_part or not _is_stated(text, found, of_a_time=what is not None):
            continue
        unit = next(name for name, form in UNIT_OF_TIME.items() if re.search(form, found["unit"]))
        role = meaning_of(f"{of_what}{what['of']}").role if what else ""
        role = meaning_of(f"{unit}{found['each']}").role if found["each"] else role
        result.append((unit, role if role in _ROLES else "time_s"))
    return tuple(result)


def _is_stated(text: str, found: re.Match[str], *, of_a_time: bool) -> bool:
    """Whether a unit in a sentence is that of numbers elsewhere. of_a_time: whether a time is in front of it."""
    before, sign, behind = text[: found.start()], found["sign"], text[found.end() :]
    of_a_unit = _OF_A_UNIT.search(before) is not None
    whole = not before and not behind.strip(" .")
    in_brackets = sign[:1] in ("(", "[") and behind[:1] in (")", "]", ",") and len(found["unit"]) > 1
    ends = sign[:1] not in (":", "\uff1a", "=", ",") or re.match(r" ?(?:$|[.,;)\]])", behind)
    of_each = found["each"] is not None and re.match(r" ?(?:$|[.,:;)\]])", behind) is not None
    return of_a_unit or whole or in_brackets or of_each or (of_a_time and bool(ends))


def only_time(groups: Sequence[Sequence[str]], role: str) -> str:
    """Return the unit that sentences state for the times of a column; '' if there is none, or more than one.

    groups: the sentences, the nearest to the table first. role: of the column; time_s may be any time.
    """
    for sentences in groups:
        found = [one for words in sentences for one in times_in(words)]
        units = {unit for unit, of_what in found if "time_s" in (of_what, role) or of_what == role}
        if units:
            return units.pop() if len(units) == 1 else ""
    return ""


def measured_said(groups: Sequence[Sequence[str]]) -> str:
    """Return a header for the only rate or time that sentences state for a table, such as `time (ms)`; or ''.

    groups: the sentences, the nearest to the table first.
    """
    rate, time = only_rate(groups), only_time(groups, "time_s")
    if rate is None or time:
        return f"time ({time})" if time and rate is None else ""
    factor = {1e3: "thousand ", 1e6: "million "}.get(rate.factor, "")
    return f"{factor}{rate.unit}{' per GPU' if rate.per == 'gpu' else ''}"
