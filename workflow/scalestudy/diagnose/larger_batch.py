"""Advises a larger batch, within limits.

The batch is limited by the range in which the steps of one process allow a prediction, and by the number of steps
that the data leave per epoch.
"""

from functools import partial
from math import ceil, inf, isinf, isnan, lcm
from typing import Any

from scalestudy.analyse.forecast.batches import StepModel, step_model, step_time_at
from scalestudy.analyse.forecast.columns import NoFitError
from scalestudy.analyse.point.rows import mostly_unsteady
from scalestudy.analyse.statistics.intervals import Interval
from scalestudy.diagnose.case import Case
from scalestudy.diagnose.findings import Prediction, Recommendation
from scalestudy.diagnose.goal import progress_at, sample_worth, tried_noise_scale_of
from scalestudy.diagnose.predict import BETWEEN_STUDIES, peak_memory_at
from scalestudy.registry.codes import Changes
from scalestudy.registry.words.percent import percent
from scalestudy.registry.words.refusals import no_forecast
from scalestudy.study.config.commands import CommandWorkload
from scalestudy.study.config.optimizers import FACTORS
from scalestudy.study.config.report import FARTHEST_BATCH
from scalestudy.study.config.scales import world_size

ROUND_TO = 8  # samples: batches are usually multiples of 8
FEWEST_STEPS = 30
"""Smallest number of steps per epoch. With fewer steps a network is hardly trained: the default study reaches an
accuracy of 34 % with 1 step per epoch, and of 97 % with 44."""


def larger_batch(case: Case) -> Recommendation:
    """Advice for the batch that reaches the target, or the largest allowed one below it, or why there is none."""
    point, workload = case.point, case.study.workloads[case.point["workload"]]
    larger = partial(Recommendation, id="larger_batch", changes=Changes.BATCH)
    rows = case.alone.dropna(subset=["step_time_s"])
    if mostly_unsteady(point) or any(mostly_unsteady(row) for _, row in rows.iterrows()):
        change = "Raise the batch per rank, but first measure again on a quiet host until the steps are steady."
        return larger(change=change, unpredicted="most runs have no single step time to predict from.")
    try:
        model = step_model(rows)
    except NoFitError as error:
        reason = f"the necessary batch is not known: {no_forecast(error.columns)}."
        return larger(change="Raise the batch per rank.", unpredicted=reason)
    target, strong = case.target_efficiency, point["scaling"] == "strong"
    if target >= 1:
        change = "Raise the batch per rank, and lower report.target_efficiency below 1."
        return larger(change=change, unpredicted="no batch reduces the overhead to 0.")

    wanted = max(0.0, model.batch_for(target, point["overhead_s"], ranks=case.ranks, strong=strong))
    all_ranks = [world_size(scale) for scale in case.study.scales]
    ranks_of_all = 1 if strong else max(all_ranks)
    known = workload.known_train_samples
    told = FARTHEST_BATCH * float(rows["batch_per_rank"].max())
    held = inf if known is None else known / (FEWEST_STEPS * ranks_of_all)
    parts = case.script.batches_per_step if case.script is not None else 1
    unit = lcm(ROUND_TO, *(parts * ranks for ranks in all_ranks) if "strong" in workload.scaling else (parts,))
    enough = ceil(wanted / unit) * unit
    batch = max(enough, workload.batch_size)
    if batch > min(told, held):
        batch = int(min(told, held) // unit) * unit
    if batch <= workload.batch_size < enough:
        return _no_batch(case, enough, known)

    prediction = prediction_at(case, model, batch)
    noise, progress = case.noise_scale, prediction.progress
    worth = sample_worth(_global_batch(case, batch), point, noise, confidence=case.study.level)
    if progress.value <= 1:
        return Recommendation(
            id="larger_model",
            change="Use a larger model or fewer ranks: a larger batch gives more samples per second but no faster"
            " progress.",
            unpredicted=f"according to {_source(case)} ({_samples(noise)}), a sample at a batch of {batch} is"
            f" worth {percent(worth.value)} of what it is now, and progress is {progress.value:.2f} times as"
            " fast.",
            changes=Changes.MODEL,
        )
    patch, with_rate = _patch(case, batch)
    if strong and "weak" in workload.scaling and known is not None and batch * max(all_ranks) > known:
        patch["scaling"] = ["strong"]  # there are too few data for this batch on every rank
    grown = f"The global batch grows {batch / workload.batch_size:.1f}-fold"
    if known is not None:
        steps = known // (batch if strong else batch * case.ranks)
        grown += f" and an epoch shrinks to {steps} steps"
    short = ""
    if batch < enough:
        why = (
            f"a larger batch would leave fewer than {FEWEST_STEPS} steps per epoch"
            if held < told
            else f"the largest batch measured on one process is {rows['batch_per_rank'].max()} samples,"
            f" and predictions go up to {FARTHEST_BATCH:g} times that. Measure there, then diagnose again"
        )
        short = f" An efficiency of {percent(target)} needs about {enough} samples, but {why}."
    return larger(
        change=f"Raise the batch from {workload.batch_size} to {batch} samples"
        f" ({'global' if strong else 'per rank'}){with_rate}.",
        patch={"workloads": {point["workload"]: patch}},
        prediction=prediction,
        global_batch=_global_batch(case, batch),
        warning=f"{grown}, so convergence may suffer. {_RATE if with_rate else _OWN_RATE}"
        f"{_said(case, noise, worth, progress)}{short}",
    )


_RATE = "Use a learning-rate warm-up if the loss rises at first, and compare the accuracy at equal epochs."
_OWN_RATE = (
    "Scale the learning rate with it (SGD: in proportion; Adam: by the square root), and compare the accuracy at"
    " equal epochs."
)


def _patch(case: Case, batch: int) -> tuple[dict[str, Any], str]:
    """(change of the workload, phrase about the learning rate); the phrase is '' if a study cannot change it."""
    workload = case.study.workloads[case.point["workload"]]
    growth = batch / workload.batch_size
    if not isinstance(workload, CommandWorkload):
        now, then = (workload.optimizer.learning_rate * by for by in (1, workload.optimizer.advised_scale(growth)))
        patch: dict[str, Any] = {"batch_size": batch, "optimizer": {"learning_rate": float(f"{then:.3g}")}}
    elif workload.learning_rate and workload.learning_rate_scaling != "none":
        now = workload.learning_rate
        then = now * FACTORS[workload.learning_rate_scaling](growth)
        patch = {"batch_size": batch, "learning_rate": float(f"{then:.3g}")}
    else:  # the optimizer of the script is not known
        return {"batch_size": batch}, ""
    return patch, f" and the learning rate from {now:g} to {then:.3g}"


def _global_batch(case: Case, batch: int) -> int:
    """Samples per step of all ranks, if this is the batch of the workload."""
    return batch if case.point["scaling"] == "strong" else batch * case.ranks


def _said(case: Case, noise: Interval, worth: Interval, progress: Interval) -> str:
    """A sentence on the progress at the larger batch; empty if it is not known."""
    if isnan(worth.value):
        return ""
    limits = "" if isnan(progress.low) else f" [{progress.low:.2f}, {progress.high:.2f}]"
    return (
        f" According to {_source(case)} ({_samples(noise)}), a sample is then worth {percent(worth.value)} of what"
        f" it is now, and progress is {progress.value:.2f}{limits} times as fast, if the learning rate follows the"
        " batch."
    )


def _source(case: Case) -> str:
    """The source of the noise scale, in words."""
    source = "the gradient noise scale at the end of the training"
    if isnan(tried_noise_scale_of(case.point)):
        return source
    return f"{source} and a trial of larger batches from a checkpoint"


def _samples(noise: Interval) -> str:
    """The noise scale in words, with three digits; it is rarely known better."""
    return "larger than any batch" if isinf(noise.value) else f"{float(f'{noise.value:.3g}'):.0f} samples"


def _no_batch(case: Case, enough: int, samples: int | None) -> Recommendation:
    """Advice for a training whose data are too few for a larger batch."""
    strong = case.point["scaling"] == "strong"
    steps = 0 if samples is None else samples // (enough if strong else enough * case.ranks)
    left = f"which leaves {steps} {'step' if steps == 1 else 'steps'} per epoch"
    return Recommendation(
        id="larger_model",
        change="Use a larger model or fewer ranks: with a larger batch, an epoch of these data has fewer than"
        f" {FEWEST_STEPS} steps.",
        unpredicted=f"an efficiency of {percent(case.target_efficiency)} needs a batch of {enough} samples"
        f" {'in total' if strong else 'per rank'}, {left if steps else 'more than the data have'}.",
        changes=Changes.MODEL,
    )


def prediction_at(case: Case, model: StepModel, batch: int) -> Prediction:
    """The prediction for another batch: the forecast for it, and the progress by the gradient noise scale."""
    strong, ranks, point = case.point["scaling"] == "strong", case.ranks, case.point
    batch_per_rank = batch // ranks if strong else batch
    rows = case.alone.dropna(subset=["step_time_s"])
    level = case.study.level
    step_time = step_time_at(model, point, rows, batch_per_rank, confidence=level).widened(BETWEEN_STUDIES)
    speedup = step_time.inverse((1 if strong else ranks) * model.step_time_s(batch))
    batches = ", ".join(f"{b:g}" for b in sorted(rows["batch_per_rank"]))
    gain = step_time.inverse(batch_per_rank * ranks / point["throughput_samples_per_s"])
    return Prediction(
        step_time_s=step_time,
        gain=gain,
        progress=progress_at(_global_batch(case, batch), gain, point, case.noise_scale, confidence=level),
        speedup=speedup,
        efficiency=speedup.scaled(1 / ranks),
        peak_memory_gib=peak_memory_at(case, batch_per_rank),
        assumes=f"if the step time of one process is linear in the batch (measured at {batches}), and a longer"
        " backward pass hides more communication and has no other cost",
    )
