"""What a column of a log means: what only logs have by its name, the rest by `headers/`, as in any table."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import lru_cache

from scalestudy.importers.headers.meaning import meaning_of as meaning_of_header
from scalestudy.importers.headers.terms import SECONDS

TIMES = {
    **dict.fromkeys(("s", "sec", "secs", "second", "seconds"), 1.0),
    **dict.fromkeys(("ms", "msec", "millisecond", "milliseconds"), 1e-3),
    **dict.fromkeys(("us", "µs", "microseconds"), 1e-6),
    "ns": 1e-9,
    **dict.fromkeys(("min", "minutes"), 60.0),
}
"""Unit of a time, as `--time` takes it -> seconds."""
_ONLY_IN_LOGS = {
    "step": "step steps global_step iteration iterations iter it training_step training_iteration"
    " current_step current_steps num_updates",
    "clock_s": "timestamp time_stamp wall_time walltime datetime date runtime elapsed elapsed_time elapsedtime"
    " relative_time",
    "step_time_s": "end_to_end time_this_iter bch",
    "epoch_time_s": "epoch_time time_per_epoch epoch_duration time/epoch",
    "work_per_s": "rate tps",
    "work": "consumed_samples samples_seen consumed_tokens tokens_seen num_input_tokens_seen ntokens_seen"
    " n_tokens_seen total_tokens total_samples samples_done",
    "loss": "loss train_loss training_loss lm_loss reduced_train_loss global_avg_loss loss_step train_loss_step",
    "devices": "gpu",
    "sequence_length": "sequence_length seq_length seq_len",
    "run": "run run_id run_name repeat trial job job_id",
    "variant": "variant strategy method configuration",
    "rank": "rank global_rank local_rank rank_id process process_index worker worker_id gpu_id device_id",
}
_QUANTITY = {name: quantity for quantity, names in _ONLY_IN_LOGS.items() for name in names.split()}
_OF_ROLE = {
    "gpus": "devices",
    "nodes": "nodes",
    "global_batch": "batch",
    "batch_per_gpu": "batch_per_device",
    "accumulation": "accumulation",
    "throughput": "work_per_s",
    "throughput_per_gpu": "work_per_s",
    "steps_per_s": "work_per_s",
    "step_time_s": "step_time_s",
    "step_time_ms": "step_time_s",
}
"""Role of a column of a table -> our quantity. The other roles are not read from logs."""
_UNIT = re.compile(r"\s*[\[(]\s*([^\])]*?)\s*[\])]$|(?<=[a-z])_(s|sec|secs|seconds|ms|us|ns)$")
# in the log of a training, TPS are tokens
_TOKENS, _STEPS = re.compile(r"tok|words?/|TPS"), re.compile(r"steps?|it|batch")
_NO_WORK = re.compile(r"flop|nodes?/")
_OF_MAXIMUM = re.compile(r"(?:global_)?steps?/(?:max|total)_steps")
"""A column of steps done and steps in total: `10/100`."""
_PART = re.compile(r"optimi[sz]er|data|update|micro")
"""Words of a time that is not that of a whole step."""
_SEVERAL = re.compile(r"s\b|num|#|count|size|\bn\b")
_NEUTRAL = frozenset(
    (
        *("elapsed", "duration", "tps", "iteration", "in", "wall", "wallclock", "clock", "reduced", "interval"),
        *("rate", "mean", "median", "current", "timing", "running", "second", "by", "local", "effective"),
        *("performance", "k", "m", "g", "us", "each"),
    )
)
"""Words of a header that change nothing: another word, as in `forward step time`, is of a part of a step."""


@dataclass(frozen=True)
class Meaning:
    """What a column holds. factor: of its values to our unit; None if its time has no unit."""

    quantity: str
    factor: float | None = 1.0
    unit: str = ""
    """Unit of work: samples, tokens or steps; '' if it is not said."""
    per: str = ""
    """`device` or `all` if the name says so; else ''."""


@lru_cache(maxsize=8192)
def meaning_of(name: str) -> Meaning | None:
    """Return what a column means; None for a column that is not read."""
    full = name.strip().lower()
    if full.startswith(("val", "eval", "test", "validation")):
        return None
    if _OF_MAXIMUM.fullmatch(full):
        return Meaning("step")
    group, plain = _group(full)
    found = _of_logs(plain) or _of_tables(plain)
    if found and found.quantity == "work_per_s" and group.endswith(("/device", "/gpu")):
        return replace(found, per="device")
    return found


def _group(name: str) -> tuple[str, str]:
    """(group, name) of `train/loss` or `throughput/device/tokens_per_sec`; slashes of units stay."""
    parts = name.split("/")
    group, start = "", 0
    while start < len(parts) - 1 and not _begins_a_unit(parts, start):
        start += 1
        group = "/".join(parts[:start])
    return group and f"/{group}", "/".join(parts[start:])


def _begins_a_unit(parts: list[str], at: int) -> bool:
    """Whether the slash after a part is that of a unit, as in `tok/s/device` or `time (s/step)`."""
    this, rest = parts[at], "/".join(parts[at:])
    if set("([") & set(this):
        return True
    after = re.match(r"(?:s|sec|secs|second|seconds|min|step|it|iter|iteration|batch|gpu|device)\b", parts[at + 1])
    return bool(after) and meaning_of_header(rest).role != "ignore"


def _of_logs(plain: str) -> Meaning | None:
    """The meaning of a name that only logs have."""
    found = _UNIT.search(plain)
    said = next((one for one in found.groups() if one), "") if found else ""
    for name, unit in ((plain, ""), (plain[: found.start()], said)) if found else ((plain, ""),):
        key = re.sub(r"[\s\-.]+", "_", name.strip()).strip("_")
        quantity = _QUANTITY.get(key) or _QUANTITY.get(key.removeprefix("train_"))
        if quantity == "step" and unit:
            continue  # `step (ms)` is a time
        if quantity in ("step_time_s", "epoch_time_s", "clock_s"):
            return Meaning(quantity, factor=TIMES.get(unit))
        if quantity == "work_per_s":
            return Meaning(quantity, unit="tokens" if key == "tps" else "")
        if quantity == "work":
            return Meaning(quantity, unit="tokens" if "token" in key else "samples")
        if quantity:
            return Meaning(quantity)
    return None


def _of_tables(plain: str) -> Meaning | None:
    """The meaning of a name as a header of a table has it, if a log may have such a column."""
    known = meaning_of_header(plain)
    quantity = _OF_ROLE.get(known.role)
    if quantity in ("devices", "nodes") and not _SEVERAL.search(plain):
        return None  # the number of one of them
    if known.role == "batch_per_gpu" and "micro" in plain:
        return None  # how many of them a step has is not said
    if quantity in ("step_time_s", "work_per_s"):
        if set(known.rest.split()) - _NEUTRAL or _NO_WORK.search(known.unit):
            return None
        if quantity == "step_time_s":
            if _PART.search(plain):
                return None
            unit = "ms" if known.role == "step_time_ms" else known.unit
            return Meaning(quantity, factor=SECONDS.get(unit))
        per = {"gpu": "device"}.get(known.per, known.per)
        return Meaning(
            quantity, known.factor, "steps" if known.role == "steps_per_s" else work_of(known.unit), per
        )
    return Meaning(quantity) if quantity else None


def work_of(unit: str) -> str:
    """Return what a throughput such as `img/s` counts: samples, tokens or steps; '' if it is not said."""
    if not unit or _NO_WORK.search(unit):
        return ""
    return "tokens" if _TOKENS.match(unit) else "steps" if _STEPS.match(unit) else "samples"


def is_of_flops(unit: str) -> bool:
    """Return whether a throughput counts floating-point operations, from which no step time follows."""
    return "flop" in unit
