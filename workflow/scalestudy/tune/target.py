"""The target of a search, a variant of a workload at one scale, and the studies of its settings."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

from scalestudy.errors import UserError
from scalestudy.study.config.load import parse_study
from scalestudy.study.config.scales import nodes_and_devices, world_size
from scalestudy.study.config.study import Study
from scalestudy.study.config.sweep import write_at
from scalestudy.study.config.tune import BATCH, SHARDING

WORKERS = "input.workers"
STRATEGIES: dict[str, dict[str, Any]] = {
    "ddp": {"strategy": "ddp"},
    "fsdp-full": {"strategy": "fsdp", "fsdp": {"sharding": "full"}},
    "fsdp-gradients": {"strategy": "fsdp", "fsdp": {"sharding": "gradients"}},
    "fsdp-hybrid": {"strategy": "fsdp", "fsdp": {"sharding": "hybrid"}},
}
SHORT = {
    BATCH: "b",
    "accumulation_steps": "acc",
    "ddp.bucket_cap_mb": "bucket",
    "precision": "",
    WORKERS: "workers",
    SHARDING: "",
}
"""Abbreviation of a key in the name of a variant; a key that is not listed uses its last word."""
LONGEST = 60

Setting = Mapping[str, Any]
"""Value of each key of the space. A key that has no meaning with the others is left out."""


@dataclass(frozen=True)
class Target:
    """A variant of a workload at one scale, with one kind of scaling."""

    study: Study
    workload: str
    variant: str
    scale: str
    scaling: str

    @classmethod
    def of(
        cls, study: Study, workload: str | None, variant: str | None, scale: str | None, scaling: str | None = None
    ) -> Target:
        """The target that the options name. Raises UserError if the study has no such target, or several."""
        scale = scale or study.scales[0]
        ranks = world_size(scale)
        workload = _named("--workload", workload, list(study.workloads))
        alone = ranks == 1
        fitting = [name for name, one in study.variants.items() if (one.strategy == "single") == alone]
        if not fitting:
            kind = "a single variant" if alone else "a distributed variant"
            raise UserError(f"--scale {scale}: needs {kind}, and the study has {', '.join(study.variants)}")
        variant = variant or fitting[0]
        if variant not in fitting:
            known = "not in the study" if variant not in study.variants else f"does not run at {scale}"
            raise UserError(f"--variant {variant}: {known}; at {scale} there are {', '.join(fitting)}")
        ways = study.workloads[workload].scaling
        if scaling and scaling not in ways:
            raise UserError(f"--scaling {scaling}: {workload} has scaling: [{', '.join(ways)}]")
        return cls(study, workload, variant, scale, scaling or ways[0])

    @property
    def ranks(self) -> int:
        """Number of processes of a run."""
        return world_size(self.scale)

    @property
    def nodes(self) -> int:
        """Number of nodes of a run."""
        return nodes_and_devices(self.scale)[0]

    @property
    def present_batch(self) -> int:
        """`batch_size` of the workload, samples."""
        return self.study.workloads[self.workload].batch_size

    def present_value(self, key: str) -> Any:
        """The present value of a key in the study."""
        variant = self.study.variants[self.variant]
        if key == BATCH:
            return self.present_batch
        if key == SHARDING:
            return variant.strategy if variant.strategy != "fsdp" else f"fsdp-{variant.fsdp.sharding}"
        value: Any = variant
        for part in key.split("."):
            value = getattr(value, part)
        return int(value) if isinstance(value, float) and value.is_integer() else value

    def global_batch(self, setting: Setting) -> int:
        """Samples per step over all ranks."""
        batch = int(setting.get(BATCH, self.present_batch))
        return batch if self.scaling == "strong" else batch * self.ranks

    def batch_per_rank(self, setting: Setting) -> int:
        """Samples per step of one rank."""
        return self.global_batch(setting) // self.ranks

    def variant_of(self, setting: Setting) -> dict[str, Any]:
        """The variant with a setting, as written in a study file."""
        dumped = self.study.model_dump(mode="json", exclude_defaults=True)["variants"][self.variant]
        entry: dict[str, Any] = deepcopy(dumped)
        if self.study.variants[self.variant].strategy != "single":
            entry["base"] = self.study.base_of(self.variant)
        changes = {key: value for key, value in setting.items() if value != self.present_value(key)}
        if SHARDING in changes:
            change = STRATEGIES[setting[SHARDING]]
            if change["strategy"] != entry["strategy"]:
                entry.pop("ddp" if change["strategy"] == "fsdp" else "fsdp", None)
            else:
                change = {**change, "fsdp": entry.get("fsdp", {}) | change["fsdp"]} if "fsdp" in change else change
            entry |= deepcopy(change)
        for key, value in changes.items():
            if key == WORKERS:
                entry["input"] = _input(entry.get("input", {}), int(value))
            elif key not in (BATCH, SHARDING):
                write_at(entry, key.split("."), value, f"--try {key}")
        return entry

    def workload_of(self, setting: Setting, *, whole: bool) -> dict[str, Any]:
        """The workload with a setting, as written in a study file. whole: with epochs, else for step times only.

        The learning rate is scaled with the batch by the workload's own rule, because a study file gives the
        learning rate for its own `batch_size`.
        """
        dumped = self.study.model_dump(mode="json", exclude_defaults=True)["workloads"][self.workload]
        entry: dict[str, Any] = {**deepcopy(dumped), "scaling": [self.scaling]}
        batch = int(setting.get(BATCH, self.present_batch))
        if batch != self.present_batch:
            entry[BATCH] = batch
            growth = batch / self.present_batch
            workload = self.study.workloads[self.workload]
            if "optimizer" in entry:
                rate = workload.optimizer.learning_rate * workload.optimizer.scale(growth)  # type: ignore[union-attr]
                entry["optimizer"]["learning_rate"] = rate
            elif entry.get("learning_rate"):
                entry["learning_rate"] = workload.learning_rate_at(growth)  # type: ignore[union-attr]
        if not whole and "command" not in entry:
            entry |= {"epochs": 0}
            entry["optimizer"].pop("decay", None)  # there is no end to decay towards
            entry.pop("target_accuracy", None)  # nothing is validated
        return entry

    def variant_name(self, setting: Setting, present: Setting) -> str:
        """Name of the variant with a setting: it lists what differs from the present one."""
        said = [
            f"{SHORT.get(key, key.split('.')[-1].replace('_', '-'))}{_plain(setting[key])}"
            for key in setting
            if key != BATCH and setting[key] != present.get(key)
        ]
        return short_name("-".join([self.variant, *said])) if said else self.variant

    def workload_name(self, setting: Setting) -> str:
        """Name of the workload with the batch of a setting."""
        batch = setting.get(BATCH, self.present_batch)
        return self.workload if batch == self.present_batch else short_name(f"{self.workload}-b{batch}")

    def content(
        self, settings: list[Setting], present: Setting, *, name: str, description: str, repeats: int, whole: bool
    ) -> dict[str, Any]:
        """An ordinary study of these settings at the scale, as the content of its file.

        whole: trains as the study does, with all epochs; else for step times only. It has no probes and no turns.
        """
        dumped = self.study.model_dump(mode="json", exclude_defaults=True)
        base = self.study.base_of(self.variant)
        measure = {key: value for key, value in dumped.get("measure", {}).items() if key not in _NOT_OURS}
        measure |= {"probe_rounds": 0} | ({} if whole else {"launch_half_width": SCREEN_HALF_WIDTH})
        first = {"study": name, "description": description, "defaults": self.study.defaults}
        return {
            **first,
            **{key: value for key, value in dumped.items() if key not in ("repeats", "max_repeats", "profile")},
            **first,
            "repeats": repeats,
            "max_repeats": repeats,
            "scales": [self.scale],
            "variants": {
                base: dumped["variants"][base],
                **{self.variant_name(one, present): self.variant_of(one) for one in settings},
            },
            "workloads": {self.workload_name(one): self.workload_of(one, whole=whole) for one in settings},
            "measure": measure,
            "report": dumped.get("report", {}) | {"forecast_scales": [], "overhead_reference": False},
        }

    def study_of(self, setting: Setting, present: Setting, *, name: str, repeats: int, whole: bool) -> Study:
        """The study of one setting. Raises RefusedStudyError if the config model refuses it."""
        content = self.content([setting], present, name=name, description="", repeats=repeats, whole=whole)
        return parse_study(content, source=self.variant_name(setting, present))


SCREEN_HALF_WIDTH = 0.03
"""Relative half-width of the step time at which a short run ends. Runs scatter by about as much."""
_NOT_OURS = ("floor", "alternating_rounds", "speedup_within", "budget_device_hours", "until")


def _named(option: str, name: str | None, known: list[str]) -> str:
    if name is None and len(known) == 1:
        return known[0]
    if name is None:
        raise UserError(f"{option}: missing; the study has {', '.join(known)}")
    if name not in known:
        raise UserError(f"{option} {name}: not in the study; it has {', '.join(known)}")
    return name


def _input(entry: Mapping[str, Any], workers: int) -> dict[str, Any]:
    """Input settings for this number of worker processes. Without workers, the kind of loader is unchanged."""
    if workers:
        return {**entry, "loader": "dataloader", "workers": workers}
    return {
        key: one for key, one in entry.items() if key not in ("workers", "persistent_workers", "prefetch_factor")
    }


def _plain(value: Any) -> str:
    """A value in the characters that a name may have."""
    text = f"{value:g}" if isinstance(value, float) else str(value)
    return "".join(sign if sign.isalnum() and sign.isascii() else "-" for sign in text.lower()).strip("-")


def short_name(name: str) -> str:
    """The name, shortened to the permitted length; a checksum keeps shortened names distinct."""
    if len(name) <= LONGEST:
        return name
    from hashlib import sha256

    return f"{name[: LONGEST - 7].rstrip('-')}-{sha256(name.encode()).hexdigest()[:6]}"
