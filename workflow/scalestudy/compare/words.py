"""What a study shows beside the first one, at one point."""

from scalestudy.registry.codes import AccuracyKept, NotCompared, Shows

COUNTED = {
    Shows.FASTER: ("is faster", "are faster"),
    Shows.SLOWER: ("is slower", "are slower"),
    Shows.NO_DIFFERENCE: ("is not distinguishable", "are not distinguishable"),
    Shows.NO_INTERVAL: ("has no interval", "have no interval"),
    Shows.NONE: ("was not measured in both", "were not measured in both"),
}
"""Of one point, and of several."""
AFTER_RATIO = {
    Shows.NO_DIFFERENCE: ", which is not distinguishable from as fast",
    Shows.NO_INTERVAL: ", without an interval",
}
SPEED = {
    Shows.FASTER: "faster than {first}",
    Shows.SLOWER: "slower than {first}",
    Shows.NO_DIFFERENCE: "not distinguishable from as fast as {first}",
    Shows.NO_INTERVAL: "no interval, since {first} or {other} has one launch",
}
BELOW_FLOOR = (
    "that is less than {smallest} %, the smallest difference that identical base cases show in 4 of 5 studies: it"
    " may be chance, or smaller than it looks"
)
EFFICIENCY = {
    Shows.HIGHER: "higher",
    Shows.LOWER: "lower",
    Shows.NO_DIFFERENCE: "not distinguishable from 0",
    Shows.NO_INTERVAL: "no interval",
}
ACCURACY = {
    AccuracyKept.EQUIVALENT: "equivalent within {margin}",
    AccuracyKept.LOWER: "lower",
    AccuracyKept.HIGHER: "higher",
    AccuracyKept.NOT_SHOWN: "not shown to be equivalent within {margin}",
}
ACCURACY_CELL = {
    AccuracyKept.EQUIVALENT: "kept",
    AccuracyKept.LOWER: "lower",
    AccuracyKept.HIGHER: "higher",
    AccuracyKept.NOT_SHOWN: "not shown",
    AccuracyKept.NONE: "not compared",
}
"""As short as a cell of a table."""
NOT_COMPARED = {
    NotCompared.OTHER_QUESTION: "not the same question",
    NotCompared.OTHER_PROTOCOL: "measured by protocols that are not comparable",
    NotCompared.SAME_LAUNCHES: "the same launches",
}
"""Of a study that has the point, as the first one has."""
