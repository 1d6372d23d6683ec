"""What documents alone say of a point; `row` is one of comprehensive_summary.csv."""

from collections.abc import Iterable
from math import nan
from typing import NamedTuple

from scalestudy.analyse.statistics.intervals import Interval
from scalestudy.diagnose.findings import Prediction
from scalestudy.registry.codes import AccuracyKept, LateBy, Methods, Stopped, Verdict
from scalestudy.registry.column import Row
from scalestudy.registry.words.points import ends

OUTCOME_WORDS = {"oom": "OOM"}
VERDICTS = {verdict: verdict.replace("_", " ") for verdict in Verdict}
WITHOUT_RATIO = (Verdict.CONFOUNDED, Verdict.NOT_MEASURED)
"""Verdicts that go without a speedup."""
ACCURACY = {
    AccuracyKept.EQUIVALENT: "kept",
    AccuracyKept.LOWER: "lower than the base case's",
    AccuracyKept.HIGHER: "higher than the base case's",
    AccuracyKept.NOT_SHOWN: "not shown to be kept",
}
FACTORS = {
    "efficiency": "speedup over ranks",
    "batch": "a rank's own batch alone, against the whole batch at once",
    "parallel": "one process at equal batch per rank, against all ranks together",
    "contention": "what ranks take from each other on a host; the wrapper",
    "synchronisation": "a step without synchronisation, against one with it",
    "interference": "computation slowed by communication beside it",
    "balance": "waiting for the latest rank",
    "transfer": "communication that nothing overlaps with, and the rest",
}
"""What the factors of efficiency are shares of."""
FACTORS_BESIDE_A_WRAPPER = FACTORS | {"contention": "what ranks take from each other on a host"}
"""The same where the base case has the wrapper too."""

APART = {
    "repeats_in_other_jobs": "in different SLURM jobs",
    "repeats_on_other_nodes": "on different nodes",
    "repeats_days_apart": "more than a day apart",
}
"""How launches of a repeat were not made together."""

LATE_BY = {
    LateBy.BUCKETS: "its gradients came last in {late_share_percent}% of the buckets, on average {lateness_ms} ms"
    " ({lateness_share_percent}% of a step) after those of the other ranks",
    LateBy.BLOCKS: "in {late_share_percent}% of the blocks without synchronisation it was the slowest; its steps"
    " took {lateness_ms} ms ({lateness_share_percent}% of a step) longer than those of the other ranks",
    LateBy.STEPS: "in {late_share_percent}% of the steps it was the slowest outside of the backward pass, on"
    " average by {lateness_ms} ms ({lateness_share_percent}% of a step)",
}
"""What is said of a late rank, by what it was seen."""


class Predicted(NamedTuple):
    """A number of a prediction."""

    field: str
    said: str
    """With the number's name in its place."""
    unit: str = ""
    factor: float = 1

    def of(self, prediction: Prediction | None) -> Interval:
        """In the printed unit; nan for what is not there."""
        found = getattr(prediction, self.field, nan)
        return (found if isinstance(found, Interval) else Interval(found)).scaled(self.factor)


PREDICTED = {
    "gain": Predicted("gain", "{gain} times the throughput"),
    "step_time_ms": Predicted("step_time_s", "a step of {step_time_ms} ms", "ms", 1e3),
    "speedup": Predicted("speedup", "speedup {speedup}"),
    "efficiency_percent": Predicted("efficiency", "efficiency {efficiency_percent} %", "%", 100),
    "peak_memory_gib": Predicted("peak_memory_gib", "peak memory {peak_memory_gib} GiB a rank", "GiB"),
}
METHODS = {
    Methods.NONE: "",
    Methods.AGREE: "agree within their intervals",
    Methods.NOT_COMPARED_FSDP: "not compared: FSDP's reduce-scatter can be left out, but nothing else tells of it",
    Methods.NOT_COMPARED_ONE_ROUND: "not compared: one round or launch has no interval",
}
CHECKS = {
    "remainder_s": "differential and exposed span + interference",
    "hook_difference_s": "exposed span by hook and by logger",
}
"""A difference that should be nothing -> what it is between."""
STOPPED = {
    Stopped.TARGET_REACHED: "target reached: {known}",
    Stopped.BUDGET_ENDED: "budget of launches ended: {known}",
    Stopped.ONE_LAUNCH: "one launch: no interval",
    Stopped.DECIDED: "the verdict is decided",
    Stopped.SPEEDUP_KNOWN: "the speedup is known to {target:.1%}",
    Stopped.LAUNCHES_ENDED: "budget of launches ended before the verdict was decided",
    Stopped.HOURS_ENDED: "budget of device-hours ended before the verdict was decided",
    Stopped.SERVES: "as many as those that are compared with it",
}


def apart(row: Row) -> str:
    """Of a point whose launches were not all made together with those of its base case; '' where they were."""
    count, compared = int(row["repeats_apart"]), int(row["repeats_compared"])
    if not count:
        return ""
    ways = {how: int(row[column]) for column, how in APART.items() if row[column]}
    said = ", ".join(how if repeats == count else f"{how} ({repeats})" for how, repeats in ways.items())
    whose = "the launches of this point and of its base case ran"
    return f"in {{repeats_apart}} of {compared} repeats {whose} {said}; drift between them does not cancel"


def failure_word(row: Row) -> str:
    """The word for a row of the summary without a single good launch, or ''."""
    return "" if row["launches_ok"] else outcome_words(ends(row))


def outcome_words(found: Iterable[str]) -> str:
    """'OOM / timeout': what stands in the place of a number."""
    return " / ".join(OUTCOME_WORDS.get(word, word) for word in found)


def methods(row: Row) -> str:
    """What methods of measuring communication say of each other; '' where nothing was probed."""
    if row["methods"] != Methods.DISAGREE:
        return METHODS[row["methods"]]
    found = {name: Interval.of(row, column) for column, name in CHECKS.items()}
    said = [f"{name} differ by {_ms(interval)}" for name, interval in found.items() if interval.leaves_out(0)]
    return f"disagree: {'; '.join(said)}"


def _ms(interval: Interval) -> str:
    return f"{interval.value * 1e3:.2g} ms [{interval.low * 1e3:.2g}, {interval.high * 1e3:.2g}]"


def stopped(row: Row) -> str:
    """Why the point has as many launches as it has; '' without a launch."""
    if row["stopped_because"] not in STOPPED:
        return ""
    width, target, launches = row["half_width"], row["half_width_target"], int(row["launches_ok"])
    known = f"half-width {width:.1%} of the step time after {launches} launches, target {target:.1%}"
    return STOPPED[row["stopped_because"]].format(known=known, target=target)
