"""Causes that are a part of the step's own time: waiting for data, logging, checkpoints.

Each part is measured end to end, so that its share is what leaving it out would save, but for what then takes its
place.
"""

from __future__ import annotations

from collections.abc import Callable
from math import ceil, isnan

from scalestudy.analyse.statistics.intervals import Interval
from scalestudy.diagnose.case import Case
from scalestudy.diagnose.cause import Cause, Seen, Stage
from scalestudy.diagnose.findings import Evidence, Recommendation
from scalestudy.diagnose.predict import saving

TEN_TIMES = 10  # how much rarer something is to be done
RARER = "if nothing takes the place of what is saved; the base case may gain likewise"


def _look(column: str, name: str, threshold: float, source: str) -> Callable[[Case], Seen | None]:
    def look(case: Case) -> Seen | None:
        step, part = case.point["step_time_s"], case.interval(column)
        least = part.value if isnan(part.low) else part.low
        if not least >= threshold * step:
            return None
        evidence = (
            Evidence.of(column.removesuffix("_s"), name, part, "ms a step"),
            case.share_evidence(part.value, threshold, source),
        )
        return Seen(evidence, part, of_overhead_s=case.beyond_alone(column))

    return look


def _read_ahead(case: Case, seen: Seen) -> tuple[Recommendation, ...]:
    """More processes that read ahead: `r` seconds of reading a step are hidden when `workers` of them share it."""
    knobs = case.knobs
    step, read_s = case.point["step_time_s"], seen.loss_s.value
    compute_s = step - read_s
    known = max(1, knobs.input.workers)
    # With workers, what is waited for is what of the reading they did not hide.
    whole_s = read_s if not knobs.input.workers else known * step
    workers = max(known + 1, ceil(whole_s / compute_s))
    left_s = max(0.0, whole_s / workers - compute_s)  # of the reading, beside what training takes
    change = {"loader": "dataloader", "workers": workers, "persistent_workers": True}
    if str(case.point["device"]) != "cpu":
        change["pin_memory"] = True
    return (
        Recommendation(
            id="read_ahead",
            change=f"Read ahead with {workers} processes a rank.",
            patch=case.variant_patch({"input": change}),
            prediction=saving(
                case, seen.loss_s.scaled(1 - left_s / read_s), "if each process has a core of its own"
            ),
            warning="The processes take cores of the host; where it has none to spare, prepare the data beforehand"
            " (scalestudy stage prepare), or keep them on the device.",
        ),
        Recommendation(
            id="synthetic_data",
            change="Measure with synthetic data of the same shape to see how fast training is without its input.",
            prediction=saving(
                case, seen.loss_s, "if nothing is waited for at all: the most that there is to gain"
            ),
        ),
    )


def _log_rarer(case: Case, seen: Seen) -> tuple[Recommendation, ...]:
    every = (case.knobs.log_every_steps or 1) * TEN_TIMES
    return (
        Recommendation(
            id="log_less_often",
            change=f"Log every {every} steps.",
            patch=case.variant_patch({"log_every_steps": every}),
            prediction=saving(case, seen.loss_s.scaled(1 - 1 / TEN_TIMES), RARER),
        ),
    )


def _save_rarer(case: Case, seen: Seen) -> tuple[Recommendation, ...]:
    every = (case.knobs.checkpoint_every_steps or 1) * TEN_TIMES
    rarer = Recommendation(
        id="save_less_often",
        change=f"Write a checkpoint every {every} steps.",
        patch=case.variant_patch({"checkpoint_every_steps": every}),
        prediction=saving(case, seen.loss_s.scaled(1 - 1 / TEN_TIMES), RARER),
        warning=f"A run that is ended loses up to {every} steps.",
    )
    beside = Recommendation(
        id="save_asynchronously",
        change="Write checkpoints while training goes on.",
        patch=case.variant_patch({"checkpoint_async": True}),
        unpredicted="the copy stays in the step, and writing takes a core of the host.",
    )
    return (rarer,) if case.knobs.checkpoint_async else (rarer, beside)


INPUT_BOUND = Cause(
    id="input-bound",
    stage=Stage.HOST,
    threshold="data wait >= 10 % of a step, critical from 20 % (TraceML)",
    look=_look("data_time_s", "waiting for data", 0.10, ", critical from 20 % (TraceML)"),
    explanation=lambda case, seen: (
        f"The loader does not keep up: {_of_step(case, seen.loss_s)} of every step the ranks wait for their batch."
    ),
    refuted_by="the same step time with synthetic data of the same shape",
    recommend=_read_ahead,
)
SYNC_LOGGING = Cause(
    id="sync-logging",
    stage=Stage.HOST,
    threshold="logging >= 5 % of a step (calibrated by injection)",
    look=_look("logging_time_s", "logging", 0.05, ""),
    explanation=lambda case, seen: (
        f"Reading the loss and printing it takes {_of_step(case, seen.loss_s)} of every step, logged every"
        f" {case.knobs.log_every_steps} steps; on a GPU it also waits for all that was queued."
    ),
    refuted_by="the same step time with rarer logging",
    recommend=_log_rarer,
)
CHECKPOINTING = Cause(
    id="checkpointing",
    stage=Stage.HOST,
    threshold="checkpoints >= 5 % of a step (calibrated by injection)",
    look=_look("checkpoint_time_s", "checkpoints", 0.05, ""),
    explanation=lambda case, seen: (
        f"Writing checkpoints takes {_of_step(case, seen.loss_s)} of the steps' time, one every"
        f" {case.knobs.checkpoint_every_steps} steps."
    ),
    refuted_by="the same step time with rarer checkpoints",
    recommend=_save_rarer,
)


def _of_step(case: Case, part: Interval) -> str:
    return f"{part.value / case.point['step_time_s']:.0%}"
