"""The answer of a study, in sentences for readers who do not know the terms of the field.

{Many}, {many}: 'Two GPUs', 'two GPUs'. {part}, {parts}: 'GPU', 'GPUs'. {speedup} is a number of the point.
"""

from scalestudy.registry.codes import Verdict

NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
"""Numbers that are written as words."""
GPU, PROCESS = ("GPU", "GPUs"), ("process", "processes")

FASTER = "{Many} train {workload} {speedup} times as fast as one ({how_sure})."
SLOWER = "{Many} train {workload} more slowly than one: {speedup} times as fast ({how_sure})."
OPEN = "It is not known whether {many} train {workload} faster than one: {speedup} times as fast ({how_sure})."
NOT_KNOWN = "It is not known how much faster {many} train {workload} than one: {sentence}."
"""How fast a point is; the last if it has no speedup."""
HOW_SURE = "{level} interval {low} to {high}"
MAYBE = ", which includes 1"
ONE_RUN = "one run, so there is no interval"
"""In the brackets of these."""

IDEAL = "The ideal is {ranks} times; this is {efficiency_percent} % of it and"
MEANING = {
    Verdict.HEALTHY: f"{IDEAL} meets the target of the study.",
    Verdict.AT_TARGET: f"{IDEAL} equals the target of the study within its margin.",
    Verdict.POOR: f"{IDEAL} misses the target of the study.",
    Verdict.NEGATIVE_SCALING: "The {parts} lose more time than they save.",
    Verdict.UNDECIDED: f"{IDEAL} may or may not meet the target of the study.",
}
"""What the speedup means, by verdict."""
BELOW_FLOOR = "Note: this rests on a difference that is smaller than the study can detect."
FEW = "Note: this rests on two runs only."
MISSING = "{Many} were not measured ({outcomes})."
"""About a larger scale."""

TO_DO = {
    Verdict.HEALTHY: "Use all {ranks} {parts}.",
    Verdict.AT_TARGET: "Use all {ranks} {parts}.",
    Verdict.NEGATIVE_SCALING: "Use one {part} until this is fixed.",
}
"""What to do, whatever the advice."""
ADVICE = {
    Verdict.HEALTHY: "To go further: {change}",
    Verdict.AT_TARGET: "To go further: {change}",
    Verdict.NEGATIVE_SCALING: "Next: {change}",
}
"""Advice after a sentence of TO_DO."""
NO_ADVICE = {
    Verdict.HEALTHY: "",
    Verdict.AT_TARGET: "",
    Verdict.NEGATIVE_SCALING: "",
    Verdict.POOR: "The measurements support no advice.",
    Verdict.UNDECIDED: "Run more repeats.",
    Verdict.CONFOUNDED: "Run both with the same settings.",
    Verdict.NOT_MEASURED: "See the reasons of the failed runs.",
}
"""What to do without advice, by verdict."""
TRIED = "This was tried and {verdict}."

COMPARED = "Compared: {variant} on {many}, and {base} on one, with "
BASELINE = "the baseline"
"""Instead of the variant of a baseline that is not known."""
AT_STRONG = "the same batch of {global_batch} in total"
AT_WEAK = "a batch of {batch_per_rank} for each {part}"
REPEATS = ", in {repeats}"
FASTEST = " This is the fastest of the {count} ways to use {many} in this study."
