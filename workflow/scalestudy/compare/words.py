"""Words for the comparison of a study with the first one, at one point."""

from scalestudy.registry.codes import AccuracyKept, NotCompared, Shows

COUNTED = {
    Shows.FASTER: ("is faster", "are faster"),
    Shows.SLOWER: ("is slower", "are slower"),
    Shows.NO_DIFFERENCE: ("shows no significant difference", "show no significant difference"),
    Shows.NO_INTERVAL: ("has no interval", "have no interval"),
    Shows.NONE: ("was not measured in both", "were not measured in both"),
}
"""For one point, and for several."""
AFTER_RATIO = {
    Shows.NO_DIFFERENCE: ": no significant difference",
    Shows.NO_INTERVAL: ", without an interval",
}
SPEED = {
    Shows.FASTER: "faster than {first}",
    Shows.SLOWER: "slower than {first}",
    Shows.NO_DIFFERENCE: "no significant difference from {first}",
    Shows.NO_INTERVAL: "no interval, because {first} or {other} has only one run",
}
BELOW_FLOOR = (
    "this is less than {smallest} %, the smallest difference that is detected in 4 of 5 studies, judged by"
    " identical baselines: it may be due to chance, or smaller than it looks"
)
EFFICIENCY = {
    Shows.HIGHER: "higher",
    Shows.LOWER: "lower",
    Shows.NO_DIFFERENCE: "no significant difference",
    Shows.NO_INTERVAL: "no interval",
}
ACCURACY = {
    AccuracyKept.EQUIVALENT: "equivalent within {margin}",
    AccuracyKept.LOWER: "lower",
    AccuracyKept.HIGHER: "higher",
    AccuracyKept.NOT_SHOWN: "inconclusive at a margin of {margin}",
}
ACCURACY_CELL = {
    AccuracyKept.EQUIVALENT: "kept",
    AccuracyKept.LOWER: "lower",
    AccuracyKept.HIGHER: "higher",
    AccuracyKept.NOT_SHOWN: "undecided",
    AccuracyKept.NONE: "not compared",
}
"""Short enough for a cell of a table."""
NOT_COMPARED = {
    NotCompared.OTHER_QUESTION: "not the same question",
    NotCompared.OTHER_PROTOCOL: "measured by protocols that are not comparable",
    NotCompared.SAME_LAUNCHES: "the same runs",
}
"""Why a point that both studies have is not compared."""
