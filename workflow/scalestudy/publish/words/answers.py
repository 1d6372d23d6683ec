"""The answer of a study, in sentences for readers who do not know the terms of the field.

{Many}: 'Two GPUs', at the beginning of a sentence. {many}: '2 GPUs'. {all}: 'both GPUs'. {part}, {parts}: 'GPU',
'GPUs'. {sure}: '95 % interval 1.71 to 2.17'. {speedup} is a number of the point.
"""

from typing import NamedTuple

from scalestudy.registry.codes import AccuracyKept, Tried, Verdict


class How(NamedTuple):
    """Templates by what the interval of a speedup shows: above 1, below 1, or not known."""

    faster: str
    slower: str
    open: str


TARGET, TARGET_OF_MORE = "{target} %", "{target} % ({doubling} % for each doubling)"
"""{target}, of two and of more."""
NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
"""Numbers that are written as words at the beginning of a sentence."""
GPU, PROCESS = ("GPU", "GPUs"), ("process", "processes")
BOTH, ALL = "both {parts}", "all {count} {parts}"
"""{all}, of two and of more."""

NAMED = "the workload {workload}"
"""{workload}, for a script or log, whose name may be any word."""
HOW = How(
    faster="{Many} train {workload} {speedup} times as fast as {one} ({sure}).",
    slower="{Many} train {workload} more slowly than one: {speedup} times as fast ({sure}).",
    open="It is not known whether {many} train {workload} faster than one: {speedup} times as fast ({sure}).",
)
"""How fast a point is."""
NOT_KNOWN = "It is not known how much faster {many} train {workload} than one: {reason}."
"""Instead of these for a point without a speedup."""
SURE = "{level} interval {low} to {high}"
MAYBE = ", which includes 1"
ONE_RUN = "one run, so there is no interval"
"""{sure}, in brackets."""

IDEAL = "The ideal is {ranks} times; this is {efficiency_percent} % of it and"
MEANING = {
    Verdict.HEALTHY: f"{IDEAL} meets the study's target of {{target}}.",
    Verdict.AT_TARGET: f"{IDEAL} equals the study's target of {{target}} within its margin.",
    Verdict.POOR: f"{IDEAL} misses the study's target of {{target}}.",
    Verdict.NEGATIVE_SCALING: "The {parts} lose more time than they save.",
    Verdict.UNDECIDED: f"{IDEAL} may or may not meet the study's target of {{target}}.",
}
"""What the speedup means, by verdict."""
NOT_FASTER = f"{IDEAL} meets the study's target of {{target}}, but one {{part}} alone would meet it too."
"""Instead of the last one if the speedup meets a target that needs no speedup."""
TOO_FAST = "This is more than the ideal of {ranks} times, so it may be chance."
"""Instead of these for a speedup of one run that is above the number of ranks."""

FASTER_THAN = "{Many} are faster than {more}: {speedup} times as fast as {one} ({sure})."
MEETS = "The target is met on {many}: {speedup} times as fast as {one} ({sure})."
"""About a smaller scale."""
AT = {
    "strong": "With the same batch of {global_batch} in total",
    "weak": "With a batch of {batch_per_rank} for each {part}",
}
"""About the other kind of scaling at the same scale."""
HOW_AT = How(
    faster=", they are {speedup} times as fast as {one} ({sure}).",
    slower=", they are slower than one: {speedup} times as fast ({sure}).",
    open=", it is not known whether they are faster than one: {speedup} times as fast ({sure}).",
)

ENDED = {
    "oom": "ran out of memory",
    "timeout": "reached the time limit",
    "preempted": "ended by preemption",
    "ok but too short": "had too few steps",
}
"""How runs ended, where the word for their outcome is not a verb."""
NO_RUN = "no run completed on {many} ({ended})"
NO_BASE_RUN = "no run completed on one {part}"
MISSING = "No run completed on {many}: {ended}."
"""About larger scales."""
ONLY, BOTH_RUNS, EVERY = "the only run", "both runs", "all {count} runs"

DIFFERENCE = "difference {difference} points ({interval})"
ACCURACY = {
    AccuracyKept.LOWER: f"Accuracy is lower than on one {{part}}: {DIFFERENCE}.",
    AccuracyKept.NOT_SHOWN: f"It is not known whether accuracy is as high as on one {{part}}: {DIFFERENCE}.",
}
"""What a speedup may cost."""
LOWER_IN_EVERY_RUN = (
    "Accuracy is lower than on one {part} in every run, but the interval of the difference includes 0:"
    f" {DIFFERENCE}."
)
"""Instead of the last one if all runs say the same."""
BELOW_FLOOR = "Note: this rests on a difference that is smaller than the study can detect."
ALONE = "Note: one run cannot show how much runs differ, so another one may change this."
FEW = "Note: this rests on two runs only."
SPOILED = "Note: {spoiled}."

USE = "Use {all}{at}{accuracy}{agreed}."
USE_FEWER = "Use {fewer}."
TO_DO = {
    Verdict.HEALTHY: USE,
    Verdict.AT_TARGET: USE,
    Verdict.NEGATIVE_SCALING: "Use one {part} until this is fixed.",
    Verdict.UNDECIDED: "Run more repeats.",
}
"""What to do, whatever the advice."""
AS_ADVISED = {Verdict.UNDECIDED: ("more_repeats", "quiet_host")}
"""Advice that takes the place of these sentences."""
AT_THIS = {
    "strong": ", with the same batch in total",
    "weak": ", with a batch of {batch_per_rank} for each {part}",
}
IF_ACCURACY = " if the lower accuracy is acceptable"
IF_AGREED, AND_AGREED = " if further runs agree", " and further runs agree"
"""Conditions of using all; the last one is after another condition."""
FURTHER, IMPROVE = "To go further: {change}", "To gain from more {parts}: {change}"
AFTER_FAILURES = "To go further: look up why the runs on {missing} failed."
ADVICE = {Verdict.HEALTHY: FURTHER, Verdict.AT_TARGET: FURTHER}
"""Advice after a sentence of TO_DO, if that is not IMPROVE."""
NO_ADVICE = {
    Verdict.HEALTHY: "",
    Verdict.AT_TARGET: "",
    Verdict.NEGATIVE_SCALING: "",
    Verdict.POOR: "The measurements support no advice.",
    Verdict.UNDECIDED: "",
    Verdict.CONFOUNDED: "Run both with the same settings.",
    Verdict.NOT_MEASURED: "Look up why these runs failed.",
}
"""What to do without advice, by verdict."""
ALL_REFUTED = "All advice for this was tried and refuted."
TRIED = {
    Tried.CONFIRMED: "This was tried and confirmed.",
    Tried.PARTLY: "This was tried and partly confirmed.",
    Tried.UNDECIDED: "This was tried without a clear result.",
}

COMPARED = "Compared: {variant} on {many} with {base} on {base_on}, "
BASELINE = "the baseline"
"""Instead of the variant of a baseline that is not known."""
AT_STRONG = "at the same batch of {global_batch} in total"
AT_WEAK = "at a batch of {batch_per_rank} for each {part}"
REPEATS, RUNS = ", in {repeats}", ", with {runs} of each"
"""Of a study, and of imported runs."""
ONE, ONE_OF_SEVERAL = "one", "one would be if {ranks} {parts} were {ranks} times as fast"
"""{one}: what a speedup is relative to, where the baseline is one process, and where it has several ranks."""
HIGHEST = (
    " Of the {count} variants on {many}, this has the highest speedup; next is {variant}: {speedup} ({sure})."
)
