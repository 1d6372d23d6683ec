"""Headers of times: of a step, of a whole training or epoch, or of what they do not say."""

from __future__ import annotations

import re

from scalestudy.importers.headers.terms import OF_A_PART, OF_ONE, SECOND, STEP, TIME_UNIT, TIMED
from scalestudy.importers.headers.units import OF_SEVERAL_STEPS

_STATISTIC = r"(?:median|mean|avg|average|min|minimum|max|maximum|best|worst|fastest|slowest)"
_UNIT = rf"(?:{TIME_UNIT}|h|hrs?|hours?)"
_OF_AN_EPOCH = re.compile(
    r"(?:first|1st|2nd|subsequent|other|later|remaining|next|last|warm|cold|each|one|an?|1|single|full) epochs?"
    rf"(?:,? ?[(\[]?{_UNIT}[)\]]?)?|(?:per[- ])?epochs?(?:, ?| ?[(\[]){_UNIT}[)\]]?"
)
_BATCH = (
    r"(?<!per )(?<!/)(?<!each )\b(?:(?:fixed|constant|global|total|overall|effective)[ -])+(?:mini-?)?"
    r"batch(?:[ -]size)? ?(?:=|of|:)? ?\d*"
)
"""A batch beside a time, which is not the time of a batch: fixed total batch of 64."""
OF_SCALING = re.compile(rf"(?:(?:weak|strong) )?scaling ?[(\[](?:{TIME_UNIT}|h|hours)[)\]]")
"""Times under the name of what they show: Weak scaling (sec)."""


def time_of(bare: str) -> str:
    """Return step_time_s, total_time_s or time_s if a header without its precisions is of a time; else ''."""
    if (
        re.search(r"% ?of|\bas %|\(%\)|\bshare\b|fraction", bare)
        or OF_A_PART.search(bare)
        or re.search(r"\bcpu(?: time)? ?/ ?(?:wall|real|elapsed)", bare)  # the processors that were in use
        or re.search(r"\bto beat\b|\bbest known\b", bare)  # of somebody else
        or (re.search(SECOND.replace("p)", "x)"), bare) and not re.search(r"\btime\b", bare))
    ):
        return ""
    if OF_SCALING.fullmatch(bare):
        return "time_s"
    bare = re.sub(rf"{_BATCH}|\bbatch[- ]?size ?=? ?\d*", " ", bare).strip()
    timed = re.search(TIMED, bare)
    inverse = re.search(rf"\b{TIME_UNIT}\W*(?:/|\bper\b) ?(?:training )?{STEP}", bare)
    if re.search(OF_ONE, bare):
        return "time_s"
    of_it = rf"(?!update)(?:run |train(?:ing)? )*{STEP}(?: {_STATISTIC})?"
    in_units = re.fullmatch(rf"{of_it}[, (\[]+(?:us|milliseconds?|ms|msecs?|s|secs?|seconds)[)\]]?", bare)
    if re.fullmatch(rf"(?:mean|median|med|avg|average|min|max|best)? ?[(\[] ?{TIME_UNIT} ?[)\]]", bare):
        return "time_s"
    step = re.search(rf"\b{STEP}\b", bare)
    of_steps = timed and step and not re.search(r"time[- ]to|(?:\bper|/)[ -]?epoch\b", bare[: step.start()])
    if inverse or in_units or OF_SEVERAL_STEPS.search(bare) or of_steps:
        return "step_time_s"
    if _OF_AN_EPOCH.fullmatch(bare):
        return "total_time_s"
    hours = re.search(
        r"\b(?:s|secs?|seconds?|min(?:ute)?s?|hours?|hrs?|h)\W*(?:/|\bper\b) ?(?:train(?:ing)? )?ep(?:och)?\b",
        bare,
    )
    if re.search(r"[a-z\d)](?:[:,] ?| in )(?:(?:milli|micro)?seconds|minutes|hours)$", bare) and not timed:
        return "time_s"
    if hours or re.fullmatch(
        r"(?:train(?:ing)?|epoch) ?(?:/|per) ?(?:epoch|run)|"
        r"(?:total|epoch|train(?:ing)?) ?[(\[](?:s|secs?|min|h|hours)[)\]]|"
        r"(?:total|epoch|train(?:ing)?) (?:s|secs?|min|seconds|minutes|hours|hrs|days)",
        bare,
    ):
        return "total_time_s"
    if timed and re.search(r"\b(epoch|total|train(?:ing)?|convergence|to|full|run|elapsed|job)\b", bare):
        return "total_time_s"
    if re.fullmatch(
        r"(?:total |elapsed )?(?:(?:milli|micro)?seconds|secs|minutes|hours|hrs|days)"
        r"(?: (?:to|until) [^/]{1,30})?",
        bare,
    ):
        return "time_s"
    return "time_s" if timed and not re.search(r"compute|forward|backward|idle", bare) else ""
