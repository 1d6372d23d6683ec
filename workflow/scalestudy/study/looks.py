"""When launches are looked at while a study goes on, and what looking several times costs each interval.

An interval that is looked at until it decides is too narrow. So the numbers of repeats at which it is looked are
set before anything is measured, and the error probability is shared among them: with every interval at the level
of a look, the probability that any of them misses is at most that of the study (Bonferroni's inequality).
"""

from math import ceil

GROWTH = 1.5
"""Of the number of repeats from one look to the next: every look then adds half of what is there."""


def looks(first: int, most: int) -> tuple[int, ...]:
    """Numbers of repeats at which it is looked: 3, 5, 8, 12 from 3 to 12."""
    found = [first]
    while found[-1] < most:
        found.append(min(ceil(GROWTH * found[-1]), most))
    return tuple(found)


def level_of_a_look(confidence: float, count: int) -> float:
    """Confidence level of each interval where it is looked `count` times: 0.9875 for 0.95 and four looks."""
    return 1 - (1 - confidence) / count
