"""The search space of `scalestudy tune`: the values of each key, and its bounds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, model_validator

from scalestudy.study.config.distinct import distinct
from scalestudy.study.config.entry import Entry, refuse
from scalestudy.study.config.variants import Knobs

BATCH = "batch_size"
SHARDING = "sharding"
"""Strategy and sharding as one key, since sharding is an option of FSDP alone."""
OF_KEYS = {
    "accumulation_steps": "accumulation_steps",
    "precision": "precision",
    "workers": "input.workers",
    "bucket_cap_mb": "ddp.bucket_cap_mb",
    "sharding": SHARDING,
    "batch_factors": BATCH,
}
"""Key of `tune` -> the key whose values it lists."""


AT_LEAST_ONE = (Field(min_length=1), AfterValidator(distinct))


class Tune(Entry):
    """Search space of `scalestudy tune` (docs/tune.md). The present value of a key is always among those tried."""

    batch_factors: Annotated[tuple[Annotated[float, Field(gt=0)], ...], *AT_LEAST_ONE] = (0.5, 1, 2, 4)
    """Multiples of the workload's `batch_size` to try, rounded down to whole samples. No batch per rank may exceed
    four times the largest measured one."""
    largest_batch: int | None = Field(None, ge=1)
    """Largest `batch_size` to try, in samples; no such limit if unset."""
    fewest_steps: int = Field(30, ge=1)
    """Fewest steps per epoch with a larger batch: with fewer steps a network is hardly trained."""
    accumulation_steps: Annotated[tuple[Annotated[int, Field(ge=1)], ...], *AT_LEAST_ONE] = (1, 2, 4)
    """Micro-batches of an optimizer step."""
    precision: Annotated[tuple[Literal["fp32", "tf32", "bf16", "fp16"], ...], *AT_LEAST_ONE] | None = None
    """Arithmetic of forward and backward. If unset, `fp32` and `bf16`; on CUDA devices also `tf32` and `fp16`."""
    workers: Annotated[tuple[Annotated[int, Field(ge=0)], ...], *AT_LEAST_ONE] = (0, 1, 2)
    """Values of `input.workers`."""
    bucket_cap_mb: Annotated[tuple[Annotated[float, Field(gt=0)], ...], *AT_LEAST_ONE] = (1, 5, 25, 100)
    """Values of `ddp.bucket_cap_mb`, in MiB."""
    sharding: (
        Annotated[tuple[Literal["ddp", "fsdp-full", "fsdp-gradients", "fsdp-hybrid"], ...], *AT_LEAST_ONE] | None
    ) = None
    """Strategy and FSDP's sharding as one key. If unset, all of them; `fsdp-hybrid` on several nodes only."""
    also: dict[str, Annotated[tuple[Any, ...], *AT_LEAST_ONE]] = Field({})
    """Further keys of a variant, with the values to try: `{compile: [true, false]}`."""
    hold: Annotated[tuple[str, ...], AfterValidator(distinct)] = ()
    """Keys that keep their present value: `[precision, ddp.bucket_cap_mb]`."""

    @property
    def given(self) -> list[str]:
        """Keys of OF_KEYS whose values are not the default ones."""
        return [name for name in OF_KEYS if getattr(self, name) != type(self).model_fields[name].default]

    @model_validator(mode="after")
    def _keys(self) -> Tune:
        """Every key exists, and is named in one place."""
        refuse(self._wrong_keys())
        return self

    def _wrong_keys(self) -> Iterator[str]:
        for name, keys in (("also", self.also), ("hold", self.hold)):
            yield from (f"{name}: {key}: {why}" for key in keys if (why := unknown(key)))
        mine = {key: name for name, key in OF_KEYS.items()}
        for key in self.also:
            if key in mine:
                yield f"also: {key}: give its values by tune.{mine[key]}"
            elif key in self.hold:
                yield f"hold: {key}: it has values in tune.also; leave out one of them"
        for name in self.given:
            if OF_KEYS[name] in self.hold:
                yield f"hold: {OF_KEYS[name]}: it has values in tune.{name}; leave out one of them"


def unknown(key: str) -> str:
    """Why a key cannot be searched, with the keys that can be; '' if it can."""
    parts = {name: list(getattr(one.annotation, "model_fields", ())) for name, one in Knobs.model_fields.items()}
    plain = [name for name, inner in parts.items() if not inner and name != "strategy"]
    inner = [f"{name}.{one}" for name, ones in parts.items() for one in ones if f"{name}.{one}" != "fsdp.sharding"]
    valid = [BATCH, SHARDING, *plain, *inner]
    if key in valid:
        return ""
    advice = f"use {SHARDING}" if key in ("strategy", "fsdp.sharding") else f"keys are {', '.join(valid)}"
    return f"no such key; {advice}"
