"""The result of a guard in words: a line for every test, and a closing sentence with the deciding test."""

from collections.abc import Sequence
from math import inf, isnan

from scalestudy.analyse.guard.decide import MOST_RUNS, Check
from scalestudy.analyse.guard.limits import Limit
from scalestudy.publish.words import labels
from scalestudy.registry.codes import Guarded
from scalestudy.registry.words.percent import percent_digits

STATUS = {Guarded.WITHIN: 0, Guarded.WORSE: 1, Guarded.CANNOT_TELL: 3}
"""Exit status for each answer; 2 is a user error."""
WORDS = {Guarded.WITHIN: "within the limit", Guarded.WORSE: "worse", Guarded.CANNOT_TELL: "cannot tell"}


def limit_text(limit: Limit) -> str:
    """'+3 %', '-0.5 points'."""
    return _signed(limit.change, limit, "g")


def check_line(test: Check) -> str:
    """'step time at P: +6.1 % [+4.0, +8.2]; the limit is +3 %: worse'."""
    return f"{_said(test, ': ')}: {WORDS[test.word]}"


def closing(word: Guarded, test: Check, tests: Sequence[Check]) -> str:
    """The closing sentence of a guard. test: the deciding test."""
    said, several = _said(test, " changed by "), len(tests) > 1
    if word is Guarded.WORSE:
        return f"Worse: {said}{_over(tests) if several else ''}."
    if word is Guarded.WITHIN:
        if several:
            return f"Within all limits. Of {len(tests)} comparisons, this one is closest to its limit: {said}."
        return f"Within the limit: {said}."
    return f"Cannot tell: {said}; {_needed(test)}{_over(tests) if _may_be_chance(test) and several else ''}."


def _over(tests: Sequence[Check]) -> str:
    return f" ({len(tests)} comparisons, judged together by Holm's procedure)"


def _may_be_chance(test: Check) -> bool:
    """Whether the answer would be 'worse' if this were the only comparison."""
    return test.change.limits(test.alpha).low > test.limit.worsening


def _said(test: Check, verb: str) -> str:
    limit, name = test.limit, test.limit.quantity.replace("_", " ")
    shown = test.shown
    if isnan(shown.value):
        return f"{name} of {test.point} was not measured on both sides"
    text = _signed(shown.value, limit, ".1f")
    if not isnan(shown.low):
        low, high = (_number(number, limit, ".1f") for number in (shown.low, shown.high))
        text += f" [{low}, {high}]"
    return f"{name} of {test.point}{verb}{text}; the limit is {limit_text(limit)}"


def _needed(test: Check) -> str:
    if test.disturbed:
        return (
            "most of these runs were measured under other load on the host, so they show nothing; repeat them on a"
            " quiet host, or add --despite-load"
        )
    if isnan(test.more):
        return "each side needs at least 2 good runs"
    if test.more == inf:
        return f"even {MOST_RUNS} runs per side would not be enough, because the change is at the limit itself"
    return f"about {labels.counted(f'{test.more:.0f}', 'more run')} per side would be enough at this scatter"


def _signed(change: float, limit: Limit, form: str) -> str:
    return f"{_number(change, limit, form)} {'%' if limit.of.relative else 'points'}"


def _number(change: float, limit: Limit, form: str) -> str:
    return f"{round(100 * change, 9 if form == 'g' else 1) + 0.0:+{form}}"


def intervals_note(tests: Sequence[Check]) -> str:
    """The confidence of the intervals in the lines."""
    alpha, alone = tests[0].alpha, " of each comparison on its own" if len(tests) > 1 else ""
    level = percent_digits(1 - 2 * alpha, 4)
    return f"Confidence of intervals{alone}: {level} (two one-sided tests at {percent_digits(alpha, 3)})."
