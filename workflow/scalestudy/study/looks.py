"""The numbers of repeats at which verdicts are judged, and the confidence level of each of these looks.

An interval that is judged again and again until it decides is too narrow. So the numbers of repeats are set before
anything is measured, and the looks share the error probability: with every interval at the level of a look, the
probability that any of them misses is at most the study's (Bonferroni's inequality).
"""

from math import ceil

GROWTH = 1.5
"""Growth of the number of repeats from one look to the next: every look adds half of the earlier repeats."""


def looks(first: int, most: int) -> tuple[int, ...]:
    """Numbers of repeats at which verdicts are judged, such as 3, 5, 8, 12 from 3 to 12."""
    found = [first]
    while found[-1] < most:
        found.append(min(ceil(GROWTH * found[-1]), most))
    return tuple(found)


def level_of_a_look(confidence: float, count: int) -> float:
    """Confidence level of each interval with `count` looks, such as 0.9875 for 0.95 and four looks."""
    return 1 - (1 - confidence) / count
