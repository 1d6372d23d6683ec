"""What a column of a log means, by its name: quantity, unit, and whether it is of one device."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

TIMES = {
    **dict.fromkeys(("s", "sec", "secs", "second", "seconds"), 1.0),
    **dict.fromkeys(("ms", "msec", "millisecond", "milliseconds"), 1e-3),
    **dict.fromkeys(("us", "µs", "microseconds"), 1e-6),
    "ns": 1e-9,
    **dict.fromkeys(("min", "minutes"), 60.0),
}
"""Unit of a time -> seconds."""
WORK = {
    **dict.fromkeys(("tokens", "token", "tok", "toks"), "tokens"),
    **dict.fromkeys(
        ("samples", "sample", "images", "image", "imgs", "img", "examples", "sequences", "seqs"), "samples"
    ),
    **dict.fromkeys(("steps", "step", "it", "its", "iter", "iters", "iterations", "batches"), "steps"),
}
"""Word for work -> samples, tokens or steps."""
_NAMES = {
    "step": "step steps global_step iteration iterations iter it training_step current_step",
    "clock_s": "timestamp time_stamp wall_time walltime datetime date runtime elapsed elapsed_time elapsedtime"
    " relative_time",
    "step_time_s": "step_time time_per_step step_timing step_duration iteration_time time_per_iteration iter_time"
    " batch_time time_per_batch seconds_per_step step_seconds train_step_timing train_step_time elapsed_per_step"
    " elapsed_time_per_iteration training_step_time end_to_end",
    "work_per_s": "throughput tps rate speed",
    "work": "consumed_samples samples_seen consumed_tokens tokens_seen num_input_tokens_seen ntokens_seen"
    " n_tokens_seen total_tokens total_samples samples_done",
    "loss": "loss train_loss training_loss lm_loss reduced_train_loss global_avg_loss loss_step train_loss_step",
    "devices": "gpus gpu num_gpus ngpus n_gpus gpu_num #gpus #gpu world_size worldsize ranks devices num_devices",
    "nodes": "nodes num_nodes nnodes #nodes",
    "batch": "global_batch global_batch_size total_batch_size total_batch train_batch_size_global"
    " effective_batch_size",
    "batch_per_device": "batch_per_gpu batch_per_rank batch_per_device per_device_batch_size local_batch_size",
    "sequence_length": "sequence_length seq_length seq_len",
    "run": "run run_id run_name repeat trial job job_id",
    "variant": "variant strategy method configuration",
    "rank": "rank global_rank",
}
_QUANTITY = {name: quantity for quantity, names in _NAMES.items() for name in names.split()}
_UNIT = re.compile(r"[\[(]\s*([^\])]+?)\s*[\])]|\bin (s|ms)$|[_ ](s|sec|secs|seconds|ms|us|ns)$")
_EACH = re.compile(r"(?:_|/|\bper[_ ])?(?:per[_ ]|/ ?)(?:gpu|device|rank|chip|accelerator)s?\b", re.IGNORECASE)
_RATE = re.compile(r"([a-z]+) ?(?:/ ?|_?per_?| per )(?:s|sec|second)s?$")
_PER_STEP = re.compile(r"(?:s|sec|seconds) ?(?:/|_per_| per )(?:step|it|iter|iteration|batch)$")


@dataclass(frozen=True)
class Meaning:
    """What a column holds. factor: of its values to seconds; None if its time has no unit."""

    quantity: str
    factor: float | None = 1.0
    unit: str = ""
    """Unit of work: samples, tokens or steps; '' if it is not said."""
    per: str = ""
    """`device` if the name says so; else ''."""


def meaning_of(name: str) -> Meaning | None:
    """Return what a column means; None for a column that is not read."""
    full = name.strip().lower()
    if full.startswith(("val", "eval", "test", "validation")):
        return None
    plain = _without_group(full)
    each = _EACH.search(plain)
    plain = (plain[: each.start()] + plain[each.end() :]) if each else plain
    unit = _UNIT.search(plain)
    said = next((group for group in unit.groups() if group), "") if unit else ""
    bare = _key(_UNIT.sub("", plain, count=1) if unit else plain)
    found = _of(bare, said) or _of(_key(plain), "")
    if found is None:
        return None
    return replace(found, per="device") if each and found.quantity == "work_per_s" else found


def _without_group(name: str) -> str:
    """The name without the group in front of it, as in `train/loss`; slashes of units stay."""
    group, slash, rest = name.partition("/")
    unit = set("([") & set(group) or group in {*TIMES, *WORK} or (_RATE.search(name) and "/" not in rest)
    return name if not slash or unit else rest


def _key(text: str) -> str:
    key = re.sub(r"[\s\-.]+", "_", text.strip()).strip("_")
    return key.removeprefix("train_per_") if key.startswith("train_per_") else key


def _of(bare: str, said: str) -> Meaning | None:
    """The meaning of a name without its unit, and that unit."""
    if _PER_STEP.search(bare) or _PER_STEP.search(said):
        return Meaning("step_time_s")
    for text in (bare, said):
        rate = _RATE.search(text)
        if rate and (word := rate[1].rpartition("_")[2]) in WORK:
            return Meaning("work_per_s", unit=WORK[word])
    quantity = _QUANTITY.get(bare) or _QUANTITY.get(bare.removeprefix("train_"))
    if quantity is None:
        return None
    if quantity == "work_per_s":
        unit = WORK.get(said.partition("/")[0].strip(), "")
        return Meaning(quantity, unit="tokens" if bare == "tps" or said == "tps" else unit)
    if quantity in ("step_time_s", "clock_s"):
        return Meaning(quantity, factor=TIMES.get(said) if said else None)
    if quantity == "work":
        return Meaning(quantity, unit="tokens" if "token" in bare else "samples")
    return Meaning(quantity)
