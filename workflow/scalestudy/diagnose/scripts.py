"""Advice for somebody's own script: a patch of the study where its command has a place for it, else a line.

The causes give advice as for our own training, whose settings are keys of the study. A workload with a command
takes none of them: `IN_SCRIPT` says by the id of a recommendation what becomes of it.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from math import isnan
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from pydantic import BaseModel

from scalestudy.diagnose.findings import Recommendation
from scalestudy.study.config.commands import BATCH, placeholders
from scalestudy.study.config.variants import Variant

LOGGING = 'with rec.part("logging"):'

if TYPE_CHECKING:
    from scalestudy.diagnose.case import Case

Model = TypeVar("Model", bound=BaseModel)


def with_seen(variant: Variant, seen: str) -> Variant:
    """A variant with what was seen of the script in the place of its defaults. seen: JSON, as runs.csv has it."""
    return _updated(variant, json.loads(seen))


def _updated(model: Model, changes: dict[str, Any]) -> Model:
    """A copy; values are what was seen, whether the config would take them together or not."""
    inner = {
        name: _updated(current, value)
        for name, value in changes.items()
        if isinstance(value, dict) and isinstance(current := getattr(model, name), BaseModel)
    }
    return model.model_copy(update=changes | inner)


def has_place(case: Case, *names: str) -> bool:
    """Whether the commands of a point and of its base case both have one of these words in braces."""
    assert case.script is not None
    return all(
        placeholders((*case.script.command, *case.study.variants[variant].arguments)) & set(names)
        for variant in (case.point["variant"], case.base["variant"])
    )


def name_the_rest(case: Case, threshold: float) -> tuple[Recommendation, ...]:
    """Where much of a step is outside of the parts that were seen: which line says what it is."""
    outside = case.point["remainder_time_s"] / case.point["step_time_s"]
    if case.script is None or not isnan(case.point["logging_time_s"]) or not outside >= threshold:
        return ()
    change = (
        f"Say what the script does outside of the parts that were seen: {outside:.0%} of a step. If it logs there:"
        f" `{LOGGING}` around these lines."
    )
    return (Recommendation(id="name_logging", change=change, unpredicted="what that is was not seen."),)


class Change(NamedTuple):
    """What is advised in the place of a change of our own training."""

    change: str
    patch: dict[str, Any] | None = None
    warning: str | None = None
    """None: as it is."""


def for_script(recommendation: Recommendation, case: Case) -> Recommendation:
    """The same advice for a script. What IN_SCRIPT does not name is advice for any training, and stays."""
    known = IN_SCRIPT.get(recommendation.id)
    if known is None:
        return recommendation
    found = known(recommendation, case)
    warning = recommendation.warning if found.warning is None else found.warning
    return recommendation.model_copy(update={"change": found.change, "patch": found.patch, "warning": warning})


def _words(change: str, warning: str | None = None) -> Callable[[Recommendation, Case], Change]:
    return lambda recommendation, case: Change(change, warning=warning)


def _threads(recommendation: Recommendation, case: Case) -> Change:
    """As many threads as cores are what a script is told, so that more are its own choice."""
    assert recommendation.patch is not None
    host, wanted = case.study.host_of(case.point["variant"]), recommendation.patch["host"]
    own = "leave out torch.set_num_threads in the script, and OMP_NUM_THREADS in its environment"
    if all(getattr(host, name) == value for name, value in wanted.items()):
        return Change(f"Let each rank have as many threads as cores, which are its own already: {own}.")
    more = f"If it has too many threads still: {own}."
    return Change(recommendation.change, recommendation.patch, f"{recommendation.warning} {more}".strip())


def _read_ahead(recommendation: Recommendation, case: Case) -> Change:
    assert recommendation.patch is not None
    options = recommendation.patch["variants"][case.point["variant"]]["input"]
    words = [f"num_workers={options['workers']}", "persistent_workers=True"]
    words += ["pin_memory=True"] if options.get("pin_memory") else []
    now = case.knobs.input.workers
    return Change(
        f"Read ahead: `{', '.join(words)}` in the DataLoader of the training set; it has num_workers={now} now.",
        warning="The processes take cores of the host; where it has none to spare, prepare the data beforehand.",
    )


def _larger_batch(recommendation: Recommendation, case: Case) -> Change:
    if has_place(case, *BATCH):
        return Change(recommendation.change, recommendation.patch)
    place = "Put {batch_per_rank} where the command takes its batch: then the study can measure another one."
    return Change(f"{recommendation.change} {place}")


def _learning_rate(recommendation: Recommendation, case: Case) -> Change:
    warm_up = "Let the learning rate follow the global batch, with warm-up"
    if has_place(case, "learning_rate"):
        patch = {"workloads": {case.point["workload"]: {"learning_rate_scaling": "linear"}}}
        return Change(f"{warm_up}; the warm-up is the script's own.", patch)
    return Change(f"{warm_up}, in the script; or put {{learning_rate}} in its command and let the study scale it.")


def _equal_batch(recommendation: Recommendation, case: Case) -> Change:
    if has_place(case, *BATCH):
        return Change(recommendation.change, recommendation.patch)
    return Change(f"{recommendation.change} Put {{batch_per_rank}} where the command takes its batch.")


def _log_less(recommendation: Recommendation, case: Case) -> Change:
    return Change("Log ten times less often: `if step % 10 == 0:` before the lines that log.")


def _save_less(recommendation: Recommendation, case: Case) -> Change:
    assert recommendation.patch is not None
    every = recommendation.patch["variants"][case.point["variant"]]["checkpoint_every_steps"]
    return Change(f"Call `torch.save` every {every} steps.")


def _shard(recommendation: Recommendation, case: Case) -> Change:
    if recommendation.prediction is not None:
        return Change(recommendation.change)
    how = "`fully_shard(model)` in the place of DistributedDataParallel"
    return Change(f"{recommendation.change} In the script: {how}.")


def _compile(recommendation: Recommendation, case: Case) -> Change:
    if case.knobs.compile:
        return Change(
            "Start fewer and larger operations: the model is compiled already, so look at what is left out of it."
        )
    return Change(f"{recommendation.change} In the script: `model = torch.compile(model)`.")


IN_SCRIPT: dict[str, Callable[[Recommendation, Case], Change]] = {
    "cores_of_its_own": _threads,
    "read_ahead": _read_ahead,
    "log_less_often": _log_less,
    "save_less_often": _save_less,
    "save_asynchronously": _words(
        "Write checkpoints while training goes on: `torch.distributed.checkpoint.async_save`."
    ),
    "synchronise_once": _words(
        "Synchronise gradients with the last batch of a step only: `with model.no_sync():` around forward and"
        " backward pass of all the others."
    ),
    "find_unused_off": _words("Leave out `find_unused_parameters=True` in DistributedDataParallel(...)."),
    "default_buckets": _words("Leave out `bucket_cap_mb` in DistributedDataParallel(...), or try other values."),
    "plain_batch_norm": _words(
        "Leave out `SyncBatchNorm.convert_sync_batchnorm`, where a rank has samples enough for its own statistics;"
        " or use GroupNorm, which needs none."
    ),
    "broadcast_buffers_off": _words(
        "`broadcast_buffers=False` in DistributedDataParallel(...); masks and tables that never change may be no"
        " buffers at all."
    ),
    "shard_gradients": _words(
        "Or shard gradients and optimizer states only: `reshard_after_forward=False` in fully_shard(...)."
    ),
    "use_fsdp": _shard,
    "more_micro_batches": _words(
        "Pass the batch in more and smaller batches: accumulate their gradients, and call `optimizer.step()` after"
        " the last."
    ),
    "larger_micro_batches": _words("Accumulate fewer and larger batches, as far as memory goes."),
    "larger_batch": _larger_batch,
    "equal_batch_reference": _equal_batch,
    "compile": _compile,
    "scale_learning_rate": _learning_rate,
    "same_settings": _words(
        "Run the base case with the same arguments, on the same devices, threads and versions, and at the batch"
        " that the study says."
    ),
}
