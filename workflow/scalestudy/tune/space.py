"""The space of a search: keys of the config model that apply to the workload, each with its levels."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product
from typing import Any

from scalestudy.errors import RefusedStudyError, UserError
from scalestudy.study.config.commands import CommandWorkload
from scalestudy.study.config.meaning.buckets import distinct_sizes
from scalestudy.study.config.report import FARTHEST_BATCH
from scalestudy.study.config.tune import BATCH, OF_KEYS, SHARDING, unknown
from scalestudy.study.config.yaml_file import read_value
from scalestudy.tune.target import STRATEGIES, WORKERS, Setting, Target

MOST = 4000
"""Largest number of settings of a space; each is checked with the config model before the first run."""
KEEPS_TRAINING = {
    *("accumulation_steps", "accumulation_sync", SHARDING, WORKERS),
    *("compile", "activation_checkpointing", "ddp.bucket_cap_mb", "ddp.broadcast_buffers", "ddp.static_graph"),
    *("ddp.find_unused_parameters", "ddp.gradient_as_bucket_view", "fsdp.wrap"),
    *("log_every_steps", "checkpoint_every_steps", "checkpoints_kept", "checkpoint_async"),
    *("input.loader", "input.pin_memory", "input.persistent_workers", "input.prefetch_factor"),
}
"""Keys that change how a step is computed but not its result, rounding aside."""


@dataclass(frozen=True)
class Knob:
    """A key that is searched."""

    key: str
    levels: tuple[Any, ...]
    present: Any


@dataclass(frozen=True)
class Space:
    """All valid settings, including the present one, and why other keys are held."""

    target: Target
    knobs: tuple[Knob, ...]
    settings: tuple[Setting, ...]
    refused: tuple[tuple[Setting, str], ...] = ()
    """(setting, why the config model refuses it), in the order of the settings."""
    held: Mapping[str, str] = field(default_factory=dict)
    """Key -> why it is not searched."""

    @property
    def present(self) -> Setting:
        """The setting that the study has now."""
        return self.settings[0]

    def index(self, setting: Setting) -> int:
        """Index of a setting."""
        return self._places[frozenset(setting.items())]

    @cached_property
    def _places(self) -> dict[frozenset[tuple[str, Any]], int]:
        return {frozenset(one.items()): at for at, one in enumerate(self.settings)}

    def name(self, setting: Setting) -> str:
        """Name of a setting in tables: workload and variant of its study."""
        return f"{self.target.workload_name(setting)}, {self.target.variant_name(setting, self.present)}"

    def changes(self, setting: Setting) -> dict[str, Any]:
        """Keys in which a setting differs from the present one."""
        return {key: value for key, value in setting.items() if value != self.present.get(key)}

    def keeps_training(self, setting: Setting) -> bool:
        """Whether a setting computes the same training steps as the present one, rounding aside."""
        return set(self.changes(setting)) <= KEEPS_TRAINING


def make_space(
    target: Target,
    *,
    levels: Mapping[str, Sequence[Any]],
    hold: Iterable[str] = (),
    hold_batch: str = "",
    largest_batch: int = 0,
    cuda: bool = False,
) -> Space:
    """The space of a target.

    Values and bounds come from the key `tune` of the study, unless the options give others.

    levels: key -> values to try, which replace the study's or add keys. hold: keys that are not changed.
    hold_batch: why the batch is not searched, unless levels contains it; '' if it may be searched. largest_batch:
    largest measured number of samples per rank; a batch may be up to FARTHEST_BATCH times that. cuda: whether runs
    use CUDA devices. Raises UserError if the config model has no such key, the present setting is refused, or
    there is nothing to search.
    """
    held = dict.fromkeys(hold, "--hold")
    for option, keys in (("--hold", held), ("--try", levels)):
        for key in keys:
            _refuse_key(target, option, key)
    if both := [key for key in levels if key in held]:
        raise UserError(f"--hold {both[0]}: --try has values for it; give one of the two")
    bounds = target.study.tune
    held = dict.fromkeys(bounds.hold, "tune.hold") | held
    asked = {OF_KEYS[name]: f"tune.{name}" for name in bounds.given if OF_KEYS[name] != BATCH}
    asked |= {key: f"tune.also.{key}" for key in bounds.also} | {key: f"--try {key}" for key in levels}
    ours = _our_levels(target, cuda, held)
    if hold_batch and BATCH in ours:
        held[BATCH] = hold_batch
    wanted = {key: values for key, values in ours.items() if key not in held} | dict(levels)
    for key in levels:
        held.pop(key, None)
    for batch in wanted.get(BATCH, ()):
        _refuse_batch(target, f"--try {BATCH}" if BATCH in levels else "tune.batch_factors", batch, largest_batch)
    knobs = []
    for key, values in wanted.items():
        present = target.present_value(key)
        every = list(dict.fromkeys([present, *values]))
        if len(every) > 1:
            knobs.append(Knob(key, tuple(every), present))
        else:
            held.setdefault(key, "it has only one value")
    if not knobs:
        raise UserError(f"nothing to search: {'; '.join(f'{key}: {why}' for key, why in held.items())}")
    settings, refused = _settings(target, knobs)
    _refuse_levels(knobs, wanted, asked, settings, refused)
    if len(settings) < 2:
        raise UserError(f"nothing to search: every other setting is refused, the first because of {refused[0][1]}")
    return Space(target, tuple(knobs), settings, tuple(refused), held)


def parse_levels(words: Iterable[str]) -> dict[str, list[Any]]:
    """{'precision': ['fp32', 'bf16']} from 'precision=fp32,bf16'. Raises UserError for anything else."""
    found: dict[str, list[Any]] = {}
    for word in words:
        key, sign, values = word.partition("=")
        if not (sign and key and values):
            raise UserError(f"--try {word}: must be KEY=VALUE,VALUE, such as ddp.bucket_cap_mb=5,25")
        if key in found:
            raise UserError(f"--try {word}: {key} is given twice; list all its values once")
        found[key] = [read_value(value, source=f"--try {word}") for value in values.split(",")]
    return found


def _our_levels(target: Target, cuda: bool, held: dict[str, str]) -> dict[str, list[Any]]:
    """The study's values of each key that applies to the workload. Why other keys are held is added to `held`."""
    workload, variant = target.study.workloads[target.workload], target.study.variants[target.variant]
    bounds = target.study.tune
    batches = [batch for factor in bounds.batch_factors if (batch := int(workload.batch_size * factor))]
    batches = [one for one in batches if one == workload.batch_size or _within(target, one)]
    if isinstance(workload, CommandWorkload):
        for key in (*OF_KEYS.values(), *bounds.also):
            if key != BATCH:
                held.setdefault(key, "the command has no placeholder for it")
        if not workload.follows_batch:
            held.setdefault(BATCH, "the command has neither {batch_per_rank} nor {global_batch}")
            return {}
        return {BATCH: batches}
    found: dict[str, list[Any]] = {
        BATCH: batches,
        "accumulation_steps": list(bounds.accumulation_steps),
        "precision": list(bounds.precision or (("fp32", "tf32", "bf16", "fp16") if cuda else ("fp32", "bf16"))),
        WORKERS: list(bounds.workers),
    }
    if target.ranks > 1:
        if variant.strategy == "ddp":
            sizes = list(bounds.bucket_cap_mb)
            if "bucket_cap_mb" not in bounds.given:
                sizes = distinct_sizes(workload, sizes)
            if set(sizes) == {variant.ddp.bucket_cap_mb}:
                held.setdefault("ddp.bucket_cap_mb", "the gradients fit into one bucket")
            found["ddp.bucket_cap_mb"] = [_whole(size) for size in sizes]
        every = [one for one in STRATEGIES if one != "fsdp-hybrid" or target.nodes > 1]
        found[SHARDING] = list(bounds.sharding or every)
    else:
        held.setdefault(SHARDING, "one process has nothing to shard")
        held.setdefault("ddp.bucket_cap_mb", "one process has nothing to synchronise")
    return found | {key: list(values) for key, values in bounds.also.items()}


def _whole(value: float) -> float:
    return int(value) if value == int(value) else value


def _within(target: Target, batch: int) -> bool:
    """Whether a batch is within the study's bounds: not too large, and with enough steps per epoch."""
    bounds, samples = target.study.tune, target.study.workloads[target.workload].known_train_samples
    if bounds.largest_batch is not None and batch > bounds.largest_batch:
        return False
    return samples is None or samples >= bounds.fewest_steps * target.global_batch({BATCH: batch})


def _refuse_batch(target: Target, key: str, batch: Any, largest: int) -> None:
    """Raise UserError if a batch is not a number of samples, or is too large. key: origin of the batch."""
    if not isinstance(batch, int) or batch < 1:
        raise UserError(f"{key}: {batch} is not a number of samples")
    measured = max(largest, target.batch_per_rank({}))
    if target.batch_per_rank({BATCH: batch}) > FARTHEST_BATCH * measured:
        raise UserError(
            f"{key}: {batch} is more than {FARTHEST_BATCH:g} times the largest measured batch,"
            f" {measured} samples per rank; run the study at a larger batch first"
        )


def _refuse_levels(
    knobs: Sequence[Knob],
    wanted: Mapping[str, Sequence[Any]],
    asked: Mapping[str, str],
    settings: Sequence[Setting],
    refused: Sequence[tuple[Setting, str]],
) -> None:
    """Raise UserError if a requested value cannot be run in any setting. asked: key -> origin of the request."""
    for knob in (one for one in knobs if one.key in asked):
        possible = {setting.get(knob.key) for setting in settings}
        for value in wanted.get(knob.key, ()):
            if value not in possible:
                why = next(why for setting, why in refused if setting.get(knob.key) == value)
                raise UserError(f"{asked[knob.key]}: {value} cannot be run: {why}")


def _refuse_key(target: Target, option: str, key: str) -> None:
    """Raise UserError if there is no such key, or it does not apply to the workload."""
    if key in (BATCH, SHARDING):
        return
    if isinstance(target.study.workloads[target.workload], CommandWorkload):
        raise UserError(f"{option} {key}: {target.workload} is a command, for which only {BATCH} can be changed")
    if why := unknown(key):
        raise UserError(f"{option} {key}: {why}")


def _settings(target: Target, knobs: Sequence[Knob]) -> tuple[tuple[Setting, ...], list[tuple[Setting, str]]]:
    """(valid settings, the present one first; (setting, why it is refused))."""
    combinations = product(*(knob.levels for knob in knobs))
    every = [meaningful(dict(zip([k.key for k in knobs], values, strict=True))) for values in combinations]
    present = {knob.key: knob.present for knob in knobs}
    distinct = {tuple(one.items()): one for one in [meaningful(present), *every]}
    if len(distinct) > MOST:
        raise UserError(
            f"the space has {len(distinct)} settings, more than {MOST}; give fewer values with --try or in"
            " the key tune of the study"
        )
    valid: list[Setting] = []
    refused: list[tuple[Setting, str]] = []
    for setting in distinct.values():
        try:
            target.study_of(setting, present, name="space", repeats=1, whole=True)
        except RefusedStudyError as error:
            if not valid:
                raise UserError(f"the present setting is refused: {error.problems[0]}") from None
            refused.append((setting, error.problems[0]))
        else:
            valid.append(setting)
    return tuple(valid), refused


def meaningful(setting: Setting) -> Setting:
    """The setting without keys that have no meaning with the others: no DDP options with FSDP, and no FSDP options
    with DDP."""
    sharding = setting.get(SHARDING)
    other = {None: "", "ddp": "fsdp."}.get(sharding, "ddp.")
    return {key: value for key, value in setting.items() if not other or not key.startswith(other)}
