"""Texts about a point that only documents use; `row` is a row of comprehensive_summary.csv."""

from collections.abc import Iterable
from math import nan
from typing import Any, NamedTuple

from scalestudy.analyse.statistics.intervals import Interval
from scalestudy.diagnose.findings import Prediction
from scalestudy.registry.codes import AccuracyKept, LateBy, Methods, Stopped, Verdict
from scalestudy.registry.column import Row
from scalestudy.registry.estimates import unresolved
from scalestudy.registry.words.percent import percent
from scalestudy.registry.words.points import ends

OUTCOME_WORDS = {"oom": "OOM"}
VERDICTS = {verdict: verdict.replace("_", " ") for verdict in Verdict}
BY_ONE_RUN = " by one run"
"""Behind a verdict without an interval."""
WITHOUT_RATIO = (Verdict.CONFOUNDED, Verdict.NOT_MEASURED)
"""Verdicts without a speedup."""
ACCURACY = {
    AccuracyKept.EQUIVALENT: "kept",
    AccuracyKept.LOWER: "lower than the baseline's",
    AccuracyKept.HIGHER: "higher than the baseline's",
    AccuracyKept.NOT_SHOWN: "inconclusive",
}
EVERY_RUN = {
    "lower": ", although every run is below every run of the baseline",
    "higher": ", although every run is above every run of the baseline",
}
"""After an inconclusive comparison, by `accuracy_of_every_run`."""
FACTORS = {
    "efficiency": "speedup divided by the number of ranks",
    "batch": "one process: the whole batch at once, against the batches of all ranks one by one",
    "parallel": "one process at equal batch per rank, against all ranks together",
    "contention": "contention between ranks on a host, and the wrapper",
    "synchronisation": "a step without synchronisation, against a step with it",
    "interference": "computation slowed down by overlapping communication",
    "balance": "waiting for the slowest rank",
    "transfer": "exposed (not overlapped) communication, and the rest",
}
"""Meaning of the factors of efficiency."""
FACTORS_BESIDE_A_WRAPPER = FACTORS | {"contention": "contention between ranks on a host"}
"""The same if the baseline has the wrapper too."""

NOT_RESOLVED_RULE = (
    "Not resolved: the interval includes both no effect and an effect of 10 % of the step, so the number would say"
    " nothing. It still counts in the whole of which it is a part; numbers.json has it with its interval."
)
"""Meaning of `not resolved`, in a section that prints it."""

APART = {
    "repeats_in_other_jobs": "in different SLURM jobs",
    "repeats_on_other_nodes": "on different nodes",
    "repeats_days_apart": "more than a day apart",
}
"""In which way runs of a repeat were not close together."""

LATE_BY = {
    LateBy.BUCKETS: "its gradients were last in {late_share_percent} % of the buckets, on average {lateness_ms} ms"
    " ({lateness_share_percent} % of a step) after the other ranks'",
    LateBy.BLOCKS: "it was the slowest rank in {late_share_percent} % of the blocks without synchronisation; its"
    " steps took {lateness_ms} ms ({lateness_share_percent} % of a step) longer than the other ranks'",
    LateBy.STEPS: "it was the slowest rank outside the backward pass in {late_share_percent} % of the steps, on"
    " average by {lateness_ms} ms ({lateness_share_percent} % of a step)",
}
"""Description of a late rank, by the evidence for it."""


class Predicted(NamedTuple):
    """A number of a prediction."""

    field: str
    said: str
    """Phrase with the name of the number as placeholder."""
    unit: str = ""
    factor: float = 1

    def of(self, prediction: Prediction | None) -> Interval:
        """The number in the printed unit; nan if there is none."""
        found = getattr(prediction, self.field, nan)
        return (found if isinstance(found, Interval) else Interval(found)).scaled(self.factor)


PREDICTED = {
    "gain": Predicted("gain", "{gain} times the throughput"),
    "step_time_ms": Predicted("step_time_s", "step time {step_time_ms} ms", "ms", 1e3),
    "speedup": Predicted("speedup", "speedup {speedup}"),
    "efficiency_percent": Predicted("efficiency", "efficiency {efficiency_percent} %", "%", 100),
    "peak_memory_gib": Predicted("peak_memory_gib", "peak memory {peak_memory_gib} GiB per rank", "GiB"),
}
METHODS = {
    Methods.NONE: "",
    Methods.AGREE: "agree within their intervals",
    Methods.NOT_COMPARED_FSDP: "not compared: leaving out FSDP's reduce-scatter is the only method for FSDP",
    Methods.NOT_COMPARED_ONE_ROUND: "not compared: a single round or run has no interval",
}
CHECKS = {
    "remainder_s": "differential and exposed span + interference",
    "hook_difference_s": "exposed span by hook and by logger",
}
"""A difference that should be 0 -> the quantities that it compares."""
TOO_WIDE = "not compared: their intervals are too wide to show whether they agree"
"""Said of methods that agree only because the difference between them is not resolved."""
COSTS = {
    "differential_s": "the total cost of synchronisation",
    "hook_cost_s": "the overhead of the bucket timestamps",
}
"""A difference that should not be negative -> its name."""
STOPPED = {
    Stopped.TARGET_REACHED: "target reached: {known}",
    Stopped.BUDGET_ENDED: "stopped at the limit of repeats: {known}",
    Stopped.ONE_LAUNCH: "one run: no interval",
    Stopped.DECIDED: "the verdict is decided",
    Stopped.SPEEDUP_KNOWN: "the speedup is known to within {target}",
    Stopped.LAUNCHES_ENDED: "stopped at the limit of repeats before the verdict was decided",
    Stopped.HOURS_ENDED: "stopped at the limit of device-hours before the verdict was decided",
    Stopped.SERVES: "as many runs as the points that are compared with it",
}

CONFOUNDED = "no more runs: the ratio is not a speedup"
"""Why a confounded point has no more runs, if its interval would decide the verdict of a comparable one."""


def apart(row: Row) -> str:
    """A note if runs of a point and of its baseline were not always close together; '' if they were."""
    count, compared = int(row["repeats_apart"]), int(row["repeats_compared"])
    if not count:
        return ""
    ways = {how: int(row[column]) for column, how in APART.items() if row[column]}
    said = ", ".join(how if repeats == count else f"{how} ({repeats})" for how, repeats in ways.items())
    whose = "the runs of this point and of its baseline were"
    return f"in {{repeats_apart}} of {compared} repeats {whose} {said}; drift between them does not cancel"


def failure_word(row: Row) -> str:
    """The word for a row of the summary without a good run, or ''."""
    return "" if row["launches_ok"] else outcome_words(ends(row))


def outcome_words(found: Iterable[str]) -> str:
    """'OOM / timeout': printed instead of a number."""
    return " / ".join(OUTCOME_WORDS.get(word, word) for word in found)


def methods(row: Row) -> str:
    """Whether the methods of measuring communication agree; '' if nothing was probed."""
    if row["methods"] == Methods.AGREE and "remainder_s" in unresolved(row):
        return TOO_WIDE
    if row["methods"] != Methods.DISAGREE:
        return METHODS[row["methods"]]
    found = {name: Interval.of(row, column) for column, name in CHECKS.items()}
    said = [f"{name} differ by {_ms(interval)}" for name, interval in found.items() if interval.leaves_out(0)]
    costs = {name: Interval.of(row, column) for column, name in COSTS.items()}
    said += [
        f"{name} is negative, {_ms(cost)}, which a cost cannot be" for name, cost in costs.items() if cost.high < 0
    ]
    return f"disagree: {'; '.join(said)}"


def _ms(interval: Interval) -> str:
    return f"{interval.value * 1e3:.2g} ms [{interval.low * 1e3:.2g}, {interval.high * 1e3:.2g}]"


def stopped(row: Row) -> str:
    """Why no more runs of the point were made; '' without a run."""
    if row["stopped_because"] not in STOPPED:
        return ""
    width, target, launches = row["half_width"], row["half_width_target"], int(row["launches_ok"])
    known = f"step time known to within {percent(width, 1)} after {launches} runs (target {percent(target, 1)})"
    return STOPPED[row["stopped_because"]].format(known=known, target=percent(target, 1))


def other_work(unlike: Iterable[tuple[str, Any, Any]]) -> str:
    """That a row and its baseline differ beside the step, in the fields (name, value, value of the baseline)."""
    fields = "; ".join(f"{name} is {_set(value)}, {_set(base)} for the baseline" for name, value, base in unlike)
    return f"the speedup includes the effect of other settings than the number of ranks: {fields}"


def _set(value: Any) -> str:
    """A setting as a study file has it; 'unset' for none."""
    return "unset" if value is None else str(value).lower() if isinstance(value, bool) else str(value)
