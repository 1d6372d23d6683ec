"""How far a larger batch is advised.

No farther than the steps of one process tell, and no farther than the data leave steps to train with.
"""

from functools import partial
from math import ceil, inf, isinf, isnan, lcm
from typing import Any

from scalestudy.analyse.forecast.batches import FARTHEST, StepModel, step_model, step_time_at
from scalestudy.analyse.forecast.columns import NoFitError
from scalestudy.analyse.point.rows import mostly_unsteady
from scalestudy.analyse.statistics.intervals import Interval
from scalestudy.diagnose.case import Case
from scalestudy.diagnose.findings import Prediction, Recommendation
from scalestudy.diagnose.goal import progress_at, sample_worth, tried_noise_scale_of
from scalestudy.diagnose.predict import BETWEEN_STUDIES, peak_memory_at
from scalestudy.registry.codes import Changes
from scalestudy.registry.words.refusals import no_forecast
from scalestudy.study.config.commands import CommandWorkload
from scalestudy.study.config.optimizers import FACTORS
from scalestudy.study.config.scales import world_size

ROUND_TO = 8  # samples: batches people would write
FEWEST_STEPS = 30
"""Of an epoch. With fewer a network is hardly trained: the default study ends at an accuracy of 34 % with one step
an epoch, and of 97 % with 44."""


def larger_batch(case: Case) -> Recommendation:
    """The batch that the target takes, or the largest on the way there; or that there is none, and why."""
    point, workload = case.point, case.study.workloads[case.point["workload"]]
    larger = partial(Recommendation, id="larger_batch", changes=Changes.BATCH)
    rows = case.alone.dropna(subset=["step_time_s"])
    if mostly_unsteady(point) or any(mostly_unsteady(row) for _, row in rows.iterrows()):
        change = "Raise the batch per rank, once its steps are steady: measure again on a quiet host first."
        return larger(change=change, unpredicted="most launches have no single step time to reckon from.")
    try:
        model = step_model(rows)
    except NoFitError as error:
        reason = f"how far cannot be told: {no_forecast(error.columns)}."
        return larger(change="Raise the batch per rank.", unpredicted=reason)
    target, strong = case.target_efficiency, point["scaling"] == "strong"
    if target >= 1:
        change = "Raise the batch per rank, and lower report.target_efficiency below 1."
        return larger(change=change, unpredicted="no batch brings the overhead to nothing.")

    wanted = max(0.0, model.batch_for(target, point["overhead_s"], ranks=case.ranks, strong=strong))
    all_ranks = [world_size(scale) for scale in case.study.scales]
    ranks_of_all = 1 if strong else max(all_ranks)
    known = workload.known_train_samples
    told = FARTHEST * float(rows["batch_per_rank"].max())
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
            change="Take a larger model or fewer ranks: a larger batch brings more samples a second and no more"
            " progress.",
            unpredicted=f"by {_source(case)}, {_samples(noise)}, at a batch of {batch} a sample is"
            f" worth {worth.value:.0%} of what it is now: progress is {progress.value:.2f} times as fast.",
            changes=Changes.MODEL,
        )
    patch, with_rate = _patch(case, batch)
    if strong and "weak" in workload.scaling and known is not None and batch * max(all_ranks) > known:
        patch["scaling"] = ["strong"]  # the data do not hold this batch on every rank
    grown = f"The global batch grows {batch / workload.batch_size:.1f}-fold"
    if known is not None:
        steps = known // (batch if strong else batch * case.ranks)
        grown += f" and an epoch shrinks to {steps} steps"
    short = ""
    if batch < enough:
        why = (
            f"more would leave fewer than {FEWEST_STEPS} steps an epoch"
            if held < told
            else f"the largest batch that one process was measured at is {rows['batch_per_rank'].max()} samples,"
            f" and predictions go to {FARTHEST:g} times that. Measure there, and look again"
        )
        short = f" An efficiency of {target:.0%} takes about {enough}; {why}."
    return larger(
        change=f"Raise the batch from {workload.batch_size} to {batch} samples"
        f" ({'global' if strong else 'per rank'}){with_rate}.",
        patch={"workloads": {point["workload"]: patch}},
        prediction=prediction,
        global_batch=_global_batch(case, batch),
        warning=f"{grown}: convergence may suffer. {_RATE if with_rate else _OWN_RATE}"
        f"{_said(case, noise, worth, progress)}{short}",
    )


_RATE = "Warm the learning rate up if the loss rises at first, and compare accuracy at equal epochs."
_OWN_RATE = (
    "Scale the learning rate with it (SGD: in proportion; Adam: by the square root), and compare accuracy at equal"
    " epochs."
)


def _patch(case: Case, batch: int) -> tuple[dict[str, Any], str]:
    """(change of the workload, words for the learning rate); no words where the study cannot change it."""
    workload = case.study.workloads[case.point["workload"]]
    growth = batch / workload.batch_size
    if not isinstance(workload, CommandWorkload):
        now, then = (workload.optimizer.learning_rate * by for by in (1, workload.optimizer.advised_scale(growth)))
        patch: dict[str, Any] = {"batch_size": batch, "optimizer": {"learning_rate": float(f"{then:.3g}")}}
    elif workload.learning_rate and workload.learning_rate_scaling != "none":
        now = workload.learning_rate
        then = now * FACTORS[workload.learning_rate_scaling](growth)
        patch = {"batch_size": batch, "learning_rate": float(f"{then:.3g}")}
    else:  # which optimizer the script has is its own
        return {"batch_size": batch}, ""
    return patch, f" and the learning rate from {now:g} to {then:.3g}"


def _global_batch(case: Case, batch: int) -> int:
    """Samples of a step of all ranks, where the workload's batch is this."""
    return batch if case.point["scaling"] == "strong" else batch * case.ranks


def _said(case: Case, noise: Interval, worth: Interval, progress: Interval) -> str:
    """What the larger batch brings, in a sentence; empty where that is not known."""
    if isnan(worth.value):
        return ""
    limits = "" if isnan(progress.low) else f" [{progress.low:.2f}, {progress.high:.2f}]"
    return (
        f" By {_source(case)}, {_samples(noise)}, a sample is then worth {worth.value:.0%} of what it is now, and"
        f" progress is {progress.value:.2f}{limits} times as fast, if the learning rate follows the batch."
    )


def _source(case: Case) -> str:
    """Where the noise scale is from."""
    source = "the gradient noise scale at the end of the training"
    if isnan(tried_noise_scale_of(case.point)):
        return source
    return f"{source} and larger batches that were tried from a checkpoint"


def _samples(noise: Interval) -> str:
    """Three digits are known of a noise scale, and often fewer."""
    return "larger than any batch" if isinf(noise.value) else f"{float(f'{noise.value:.3g}'):.0f} samples"


def _no_batch(case: Case, enough: int, samples: int | None) -> Recommendation:
    """The data hold no larger batch that leaves steps enough."""
    strong = case.point["scaling"] == "strong"
    steps = 0 if samples is None else samples // (enough if strong else enough * case.ranks)
    left = f"which leaves {steps} {'step' if steps == 1 else 'steps'} an epoch" if steps else "more than there are"
    return Recommendation(
        id="larger_model",
        change="Take a larger model or fewer ranks: with a larger batch an epoch of these data has fewer than"
        f" {FEWEST_STEPS} steps.",
        unpredicted=f"an efficiency of {case.target_efficiency:.0%} takes a batch of {enough} samples"
        f" {'in all' if strong else 'a rank'}, {left}.",
        changes=Changes.MODEL,
    )


def prediction_at(case: Case, model: StepModel, batch: int) -> Prediction:
    """At another batch of the workload: as the forecasts have it, and the progress by the gradient noise scale."""
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
        assumes=f"if the step of one process is linear in the batch (from {batches}), and a longer backward pass"
        " hides more communication and costs nothing else",
    )
