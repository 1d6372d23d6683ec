"""Advice for a user's own script: a patch of the study if its command has a placeholder for it, else a line of it.

The causes give advice for our own training, whose settings are keys of the study. A workload with a command has no
such keys: `IN_SCRIPT` maps the id of a recommendation to the advice for a script.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from math import isnan
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from pydantic import BaseModel

from scalestudy.diagnose.findings import Recommendation
from scalestudy.registry.codes import Wrapper
from scalestudy.registry.words.percent import percent
from scalestudy.study.config.commands import BATCH, placeholders
from scalestudy.study.config.variants import Variant

LOGGING = 'with rec.part("logging"):'

if TYPE_CHECKING:
    from scalestudy.diagnose.case import Case

Model = TypeVar("Model", bound=BaseModel)


def with_seen(variant: Variant, seen: str) -> Variant:
    """The variant with the observed settings of the script instead of its defaults. seen: JSON from runs.csv."""
    return _updated(variant, json.loads(seen))


def _updated(model: Model, changes: dict[str, Any]) -> Model:
    """A copy with the observed values, without checking whether the config would accept their combination."""
    inner = {
        name: _updated(current, value)
        for name, value in changes.items()
        if isinstance(value, dict) and isinstance(current := getattr(model, name), BaseModel)
    }
    return model.model_copy(update=changes | inner)


def has_place(case: Case, *names: str) -> bool:
    """Whether the commands of the point and of its baseline both have one of these placeholders."""
    assert case.script is not None
    return all(
        placeholders((*case.script.command, *case.study.variants[variant].arguments)) & set(names)
        for variant in (case.point["variant"], case.base["variant"])
    )


def name_the_rest(case: Case, threshold: float) -> tuple[Recommendation, ...]:
    """Advice on the line that names the rest of a step, if much of the step is outside the observed parts."""
    outside = case.point["remainder_time_s"] / case.point["step_time_s"]
    if case.script is None or not isnan(case.point["logging_time_s"]) or not outside >= threshold:
        return ()
    sent = ", communication between ranks included" if is_unwrapped(case) else ""
    change = (
        f"Find out what the script does outside the observed parts ({percent(outside)} of a step{sent}). If it"
        f" logs there, put `{LOGGING}` around these lines."
    )
    return (Recommendation(id="name_logging", change=change, unpredicted="this part was not observed."),)


def is_unwrapped(case: Case) -> bool:
    """Whether ranks of a script communicate outside of DDP and FSDP, so that no part of a step shows it."""
    return bool(case.point["world_size"] > 1 and case.point["wrapper"] == Wrapper.NONE)


class Change(NamedTuple):
    """The advice for a script that replaces the advice for our own training."""

    change: str
    patch: dict[str, Any] | None = None
    warning: str | None = None
    """None keeps the warning unchanged."""


def for_script(recommendation: Recommendation, case: Case) -> Recommendation:
    """The same advice for a script. Advice that IN_SCRIPT does not list suits any training and is unchanged."""
    known = IN_SCRIPT.get(recommendation.id)
    if known is None:
        return recommendation
    found = known(recommendation, case)
    warning = recommendation.warning if found.warning is None else found.warning
    return recommendation.model_copy(update={"change": found.change, "patch": found.patch, "warning": warning})


def _words(change: str, warning: str | None = None) -> Callable[[Recommendation, Case], Change]:
    return lambda recommendation, case: Change(change, warning=warning)


def _threads(recommendation: Recommendation, case: Case) -> Change:
    """A script is started with as many threads as cores. If it has more, it sets them itself."""
    assert recommendation.patch is not None
    host, wanted = case.study.host_of(case.point["variant"]), recommendation.patch["host"]
    own = "remove torch.set_num_threads from the script and OMP_NUM_THREADS from its environment"
    if all(getattr(host, name) == value for name, value in wanted.items()):
        return Change(f"Use as many threads as cores; each rank already has its own cores: {own}.")
    more = f"If it still has too many threads, {own}."
    return Change(recommendation.change, recommendation.patch, f"{recommendation.warning} {more}".strip())


def _read_ahead(recommendation: Recommendation, case: Case) -> Change:
    assert recommendation.patch is not None
    options = recommendation.patch["variants"][case.point["variant"]]["input"]
    words = [f"num_workers={options['workers']}", "persistent_workers=True"]
    words += ["pin_memory=True"] if options.get("pin_memory") else []
    now = case.knobs.input.workers
    return Change(
        f"Read ahead: `{', '.join(words)}` in the DataLoader of the training set (now num_workers={now}).",
        warning="The processes need cores of the host. If it has none to spare, prepare the data beforehand.",
    )


def _larger_batch(recommendation: Recommendation, case: Case) -> Change:
    if has_place(case, *BATCH):
        return Change(recommendation.change, recommendation.patch)
    place = "Put {batch_per_rank} where the command takes its batch, so that the study can measure other batches."
    return Change(f"{recommendation.change} {place}")


def _learning_rate(recommendation: Recommendation, case: Case) -> Change:
    warm_up = "Scale the learning rate with the global batch, with warm-up"
    if has_place(case, "learning_rate"):
        patch = {"workloads": {case.point["workload"]: {"learning_rate_scaling": "linear"}}}
        return Change(f"{warm_up}. The script must do the warm-up itself.", patch)
    return Change(
        f"{warm_up}, in the script; or put {{learning_rate}} into its command so that the study scales it."
    )


def _equal_batch(recommendation: Recommendation, case: Case) -> Change:
    if has_place(case, *BATCH):
        return Change(recommendation.change, recommendation.patch)
    return Change(f"{recommendation.change} Put {{batch_per_rank}} where the command takes its batch.")


def _log_less(recommendation: Recommendation, case: Case) -> Change:
    return Change("Log only every tenth step: `if step % 10 == 0:` before the lines that log.")


def _save_less(recommendation: Recommendation, case: Case) -> Change:
    assert recommendation.patch is not None
    every = recommendation.patch["variants"][case.point["variant"]]["checkpoint_every_steps"]
    return Change(f"Call `torch.save` every {every} steps.")


def _shard(recommendation: Recommendation, case: Case) -> Change:
    if recommendation.prediction is not None:
        return Change(recommendation.change)
    how = "`fully_shard(model)` instead of DistributedDataParallel"
    return Change(f"{recommendation.change} In the script: {how}.")


def _compile(recommendation: Recommendation, case: Case) -> Change:
    if case.knobs.compile:
        return Change(
            "Launch fewer and larger operations. The model is already compiled: look for parts that are not."
        )
    return Change(f"{recommendation.change} In the script: `model = torch.compile(model)`.")


IN_SCRIPT: dict[str, Callable[[Recommendation, Case], Change]] = {
    "cores_of_its_own": _threads,
    "read_ahead": _read_ahead,
    "log_less_often": _log_less,
    "save_less_often": _save_less,
    "save_asynchronously": _words(
        "Write checkpoints in the background: `torch.distributed.checkpoint.async_save`."
    ),
    "synchronise_once": _words(
        "Synchronise gradients only after the last batch of a step: `with model.no_sync():` around the forward and"
        " backward pass of all other batches."
    ),
    "find_unused_off": _words("Remove `find_unused_parameters=True` from DistributedDataParallel(...)."),
    "default_buckets": _words("Remove `bucket_cap_mb` from DistributedDataParallel(...), or try other values."),
    "plain_batch_norm": _words(
        "Remove `SyncBatchNorm.convert_sync_batchnorm` if a rank has enough samples for its own statistics, or use"
        " GroupNorm, which needs none."
    ),
    "broadcast_buffers_off": _words(
        "Set `broadcast_buffers=False` in DistributedDataParallel(...). Masks and tables that never change need"
        " not be buffers."
    ),
    "shard_gradients": _words(
        "Or shard gradients and optimizer states only: `reshard_after_forward=False` in fully_shard(...)."
    ),
    "use_fsdp": _shard,
    "more_micro_batches": _words(
        "Split the batch into more and smaller batches: accumulate their gradients, and call `optimizer.step()`"
        " after the last one."
    ),
    "larger_micro_batches": _words("Accumulate fewer and larger batches, if memory allows."),
    "larger_batch": _larger_batch,
    "equal_batch_reference": _equal_batch,
    "compile": _compile,
    "scale_learning_rate": _learning_rate,
    "same_settings": _words(
        "Run the baseline with the same arguments, devices, threads and versions, and at the batch that the study"
        " sets."
    ),
}
