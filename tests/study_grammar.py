"""Studies that are valid by construction, and all of their keys in the JSON schema."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from math import lcm
from typing import Any

from conftest import ROOT
from hypothesis import strategies as st

Content = dict[str, Any]
Path = tuple[str, ...]


@cache
def schema() -> Content:
    return json.loads((ROOT / "workflow/schemas/config.schema.json").read_text(encoding="utf-8"))


@dataclass(frozen=True)
class Site:
    """A key that a study has or may have."""

    path: Path
    schema: Content
    """Schema of its value, without `null`."""
    required: bool
    given: bool

    @property
    def dotted(self) -> str:
        return ".".join(self.path)

    @property
    def kind(self) -> str:
        return str(self.schema.get("type", "mapping" if "properties" in self.schema else "any"))


def sites(study: Content) -> list[Site]:
    """Return all keys of the models that make up a study."""
    return list(_sites(study, schema(), ()))


def _sites(value: Content, of: Content, path: Path) -> Iterator[Site]:
    of = resolved(of, value)
    for key, inner in of.get("properties", {}).items():
        given = key in value
        found = resolved(inner, value.get(key))
        yield Site((*path, key), found, key in of.get("required", ()), given)
        if given and isinstance(value[key], dict):
            if "patternProperties" in found:
                (entry,) = found["patternProperties"].values()
                for name, one in value[key].items():
                    yield from _sites(one, entry, (*path, key, name))
            else:
                yield from _sites(value[key], found, (*path, key))


def resolved(of: Content, value: Any) -> Content:
    """Resolve the schema of a value: follow references, drop `null`, choose the member of a union by the value."""
    if "$ref" in of:
        return resolved(schema()["$defs"][of["$ref"].rpartition("/")[2]], value)
    if "anyOf" in of:
        (kind,) = [one for one in of["anyOf"] if one.get("type") != "null"]
        return resolved(kind, value)
    if "oneOf" in of:
        members = [resolved(one, value) for one in of["oneOf"]]
        if "discriminator" in of:
            tag = value.get("type") if isinstance(value, dict) else None
            return next((one for one in members if one["properties"]["type"]["const"] == tag), members[0])
        is_command = isinstance(value, dict) and "command" in value
        return next(one for one in members if ("command" in one["properties"]) == is_command)
    return of


WORDS = st.text(alphabet="abcdefghijklmnopqrstuvwxyz0123456789-", min_size=1, max_size=20).filter(
    lambda text: text[0] != "-" and text[-1] != "-"
)
MODELS: dict[str, st.SearchStrategy[Content]] = {
    "images": st.one_of(
        st.fixed_dictionaries(
            {"type": st.just("mlp")}, optional={"widths": st.lists(st.integers(1, 64), min_size=1)}
        ),
        st.fixed_dictionaries(
            {"type": st.just("convnet")},
            optional={"channels": st.integers(1, 4096), "norm": st.sampled_from(["none", "batch"])},
        ),
    ),
    "vectors": st.fixed_dictionaries(
        {"type": st.just("mlp")}, optional={"hidden_dim": st.integers(1, 16384), "num_layers": st.integers(1, 100)}
    ),
    "texts": st.builds(
        lambda heads, width: {"type": "text-classifier", "heads": heads, "d_model": heads * width},
        st.integers(1, 64),
        st.integers(2, 128),
    ),
    "stream": st.one_of(
        st.just({"type": "language-model", "parameters": "1.3B"}),
        st.just(
            {"type": "hugging-face", "architecture": "gpt2", "task": "next-token", "settings": {"n_layer": 2}}
        ),
    ),
}
SYNTHETIC = {"images": "synthetic-images", "vectors": "synthetic-vectors", "texts": "synthetic-tokens"}
SYNTHETIC["stream"] = "synthetic-tokens"


@st.composite
def optimizers(draw: st.DrawFn, *, epochs: int) -> Content:
    found = {"type": draw(st.sampled_from(["sgd", "adam", "adamw"]))}
    optional = {
        "learning_rate": st.sampled_from([1e-6, 0.1, 1, "1e-3"]),
        "weight_decay": st.sampled_from([0, 0.5]),
        "warmup_steps": st.integers(0, 1 if epochs else 299),
        "gradient_clip": st.sampled_from([1, 0.25, None]),
        "learning_rate_scaling": st.sampled_from(["none", "linear", "sqrt"]),
    }
    if epochs:
        optional["decay"] = st.sampled_from(["none", "linear", "cosine"])
    return found | draw(st.fixed_dictionaries({}, optional=optional))


@st.composite
def workloads(draw: st.DrawFn, *, ranks: list[int]) -> Content:
    """Draw a workload whose batch divides among these ranks, each with up to four micro-batches."""
    batch = lcm(*ranks) * 4 * draw(st.integers(1, 8))
    scaling = draw(st.sampled_from([["strong"], ["weak"], ["weak", "strong"]]))
    epochs = draw(st.sampled_from([0, 0, 1, 3]))
    common: Content = {"batch_size": batch, "scaling": scaling, "epochs": epochs}
    gives = draw(st.sampled_from(sorted(MODELS)))
    # More steps than any warm-up of this grammar, even at the largest batch, so that there is a step time.
    samples = batch * max(ranks) * draw(st.integers(60, 70) if epochs else st.integers(1, 3))
    data = {"type": SYNTHETIC[gives], "samples": samples}
    if draw(st.booleans()):
        data |= {"on_device": False, "sample_delay_us": draw(st.sampled_from([0, 0.5, 100]))}
    return common | {"model": draw(MODELS[gives]), "data": data, "optimizer": draw(optimizers(epochs=epochs))}


@st.composite
def variants(draw: st.DrawFn) -> Content:
    """Draw a distributed variant with compatible options."""
    strategy = draw(st.sampled_from(["ddp", "fsdp"]))
    of_strategy: dict[str, st.SearchStrategy[Any]] = {
        "ddp": st.fixed_dictionaries(
            {},
            optional={
                "bucket_cap_mb": st.sampled_from([0.5, 1, 25.5, 1000]),
                "find_unused_parameters": st.booleans(),
                "communication_hook": st.sampled_from(["none", "fp16", "powersgd"]),
            },
        ),
        "fsdp": st.fixed_dictionaries(
            {},
            optional={
                "sharding": st.sampled_from(["full", "gradients"]),
                "wrap": st.sampled_from(["block", "model"]),
            },
        ),
    }
    return draw(
        st.fixed_dictionaries(
            {"strategy": st.just(strategy)},
            optional={
                strategy: of_strategy[strategy],
                "precision": st.sampled_from(["fp32", "bf16"]),
                "accumulation_steps": st.sampled_from([1, 2, 4]),
                "log_every_steps": st.one_of(st.none(), st.integers(1, 50)),
                "activation_checkpointing": st.booleans(),
                "environment": st.dictionaries(
                    st.from_regex(r"[A-Z_][A-Z0-9_.]{0,20}", fullmatch=True).map(lambda name: f"MY_{name}"),
                    st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=30),
                    max_size=3,
                ),
            },
        )
    )


OPTIONS: dict[str, st.SearchStrategy[Any]] = {
    "description": st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=200),
    "seed": st.integers(0, 2**53 - 1),
    "profile": st.booleans(),
    "time_limit_min": st.sampled_from([0.5, 1, 90, 2880]),
    "stall_limit_s": st.sampled_from([1, 1e3]),
    "allocations": st.sampled_from(["auto", "blocks", "scales"]),
    "report": st.fixed_dictionaries(
        {},
        optional={
            "confidence": st.sampled_from([0.51, 0.999]),
            "goal": st.sampled_from(["throughput", "time_to_accuracy", "cost_per_sample"]),
            "target_efficiency": st.sampled_from([1, 0.01]),
            "target_margin": st.sampled_from([0, 0.1]),
            "accuracy_margin": st.sampled_from([0.001, 0.1]),
            "forecast_batches": st.sampled_from([[], [2], [3, 4]]),
            "tables": st.sampled_from([{}, {"summary": ["ranks", "speedup"]}, {"memory": ["ranks"]}]),
            "paper": st.sampled_from(["ieee", "acm", "neurips", "article"]),
            "forecast_scales": st.sampled_from([[], ["1x8"], ["8x8"], ["8x2"], None]),
            "overhead_reference": st.booleans(),
        },
    ),
    "measure": st.fixed_dictionaries(
        {},
        optional={
            "warmup_steps": st.integers(0, 50),
            "min_steps": st.integers(10, 200),
            "max_steps": st.sampled_from([200, 5000]),
            "half_width": st.sampled_from([0.001, 0.5]),
            "until": st.sampled_from(["decided", "precise"]),
            "probe_rounds": st.sampled_from([0, 4]),
            "probe_steps": st.sampled_from([5, 20]),
            "batch_trial_share": st.sampled_from([0, 0.1, 0.5]),
            "profile_steps": st.sampled_from([1, 20]),
            "alternating_rounds": st.sampled_from([0, 6]),
            "launch_half_width": st.sampled_from([0.02, None]),
            "replace_spoiled": st.booleans(),
            "floor": st.booleans(),
        },
    ),
    "host": st.fixed_dictionaries(
        {},
        optional={
            "device": st.sampled_from(["auto", "cpu"]),
            "cores_per_rank": st.sampled_from([1, 64, None]),
            "pin": st.booleans(),
            "memory_limit_gib": st.sampled_from([0.5, 80, None]),
        },
    ),
    "verify": st.fixed_dictionaries({}, optional={"most": st.integers(0, 9), "budget_device_hours": st.just(0.5)}),
    "tune": st.fixed_dictionaries(
        {}, optional={"hold": st.just(["precision"]), "also": st.just({"compile": [True]})}
    ),
}


@st.composite
def studies(draw: st.DrawFn) -> Content:
    """Draw a study that is valid by construction, however unusual."""
    scales = draw(st.lists(st.sampled_from(["1x1", "1x2", "1x3", "2x2", "4x8", "1x16"]), min_size=1, unique=True))
    ranks = [int(scale[0]) * int(scale[2:]) for scale in scales]
    repeats = draw(st.integers(2, 6))
    study: Content = {
        "study": draw(WORDS),
        "scales": scales,
        "variants": {"single": {"strategy": "single"}}
        | draw(st.dictionaries(WORDS.map(lambda name: f"v-{name}"), variants(), max_size=3)),
        "workloads": draw(st.dictionaries(WORDS, workloads(ranks=ranks), min_size=1, max_size=2)),
        "repeats": repeats,
    }
    if draw(st.booleans()):
        study["max_repeats"] = draw(st.integers(repeats, 12))
    study |= draw(st.fixed_dictionaries({}, optional=OPTIONS))
    return without_what_means_nothing(study, ranks)


def without_what_means_nothing(study: Content, ranks: list[int]) -> Content:
    """The study without keys that have no effect beside the others. ranks: of its scales."""
    variants, workloads = study["variants"], study["workloads"]
    if study.get("host", {}).get("device") == "cpu":  # torch has no such layer in bf16 with fsdp there
        for workload in workloads.values():
            workload["model"].pop("norm", None)
    if not any(map(_has_buckets, workloads.values())):
        for variant in variants.values():
            variant.get("ddp", {}).pop("bucket_cap_mb", None)
    _without_equals(variants)
    report, measure = study.get("report", {}), study.get("measure", {})
    wide = len(variants) > 1 and max(ranks) > 1
    if len(variants) == 1:  # one process alone
        study |= {"scales": ["1x1"], "max_repeats": study["repeats"]}
        for key in ("accuracy_margin", "probe_steps", "alternating_rounds"):
            report.pop(key, None)
            measure.pop(key, None)
    if not wide:
        _of_one_rank(study, report)
    strong = any("strong" in workload["scaling"] for workload in workloads.values())
    if not wide or not strong:
        report.pop("overhead_reference", None)
    if not (wide and strong and report.get("overhead_reference", True)):
        report.pop("forecast_batches", None)
    if report.get("overhead_reference") is False or report.get("target_efficiency") == 1:
        for workload in workloads.values():
            if workload["scaling"] == ["strong"]:
                workload["optimizer"].pop("learning_rate_scaling", None)
    if study.get("verify", {}).get("most") == 0:
        study["verify"].pop("budget_device_hours", None)
    epochs = [workload["epochs"] for workload in workloads.values()]
    if not any(epochs):
        report.pop("accuracy_margin", None)
    if all(epochs):
        measure.pop("launch_half_width", None)
    _without_probes(study, measure)
    _within_limits(study)
    to = report.get("forecast_scales") or []
    if to and not (
        _in_reach(to[0], study["scales"])
        and any("weak" in one["scaling"] or not one["batch_size"] % _ranks(to[0]) for one in workloads.values())
    ):
        del report["forecast_scales"]
    noise = measure.get("probe_rounds", 4) and any(workload["epochs"] for workload in workloads.values())
    if not wide or (report.get("goal") == "time_to_accuracy" and not noise):
        report.pop("goal", None)
    if study.get("max_repeats", study["repeats"]) == study["repeats"]:
        measure.pop("until", None)
        measure.pop("replace_spoiled", None)
    if measure.get("until") == "precise":
        measure.pop("replace_spoiled", None)
    if study.get("time_limit_min", 30) * 60 < study.get("stall_limit_s", 0):
        study.pop("stall_limit_s")
    _without_equals(workloads)  # last: keys that were removed may have been all that differed
    return study


def _without_equals(entries: Content) -> None:
    """Remove entries that are the same as one before them."""
    seen: list[Content] = []
    for name, entry in list(entries.items()):
        plain = {key: value for key, value in without_defaults(entry).items() if key != "scaling"}
        if entry.get("epochs") == 0:  # how a network learns is all that some of them differ in
            plain["optimizer"] = plain["optimizer"]["type"]
        if plain in seen:
            del entries[name]
        seen.append(plain)


def _has_buckets(workload: Content) -> bool:
    """Whether a network has more gradients than the first bucket of DDP, 1 MiB, for certain."""
    model, images = workload["model"], workload["data"]["type"] == "synthetic-images"
    tables = model["type"] in ("language-model", "hugging-face") or model.get("d_model", 0) >= 64
    return tables or (images and model == {"type": "mlp"})


def _of_one_rank(study: Content, report: Content) -> None:
    """Remove the keys of runs of several ranks, of their jobs and of advice for them."""
    for key in ("allocations", "verify"):
        study.pop(key, None)
    for key in ("target_efficiency", "target_margin", "forecast_scales"):
        report.pop(key, None)
    for workload in study["workloads"].values():
        workload["scaling"] = workload["scaling"][:1]
        workload["optimizer"].pop("learning_rate_scaling", None)


def _within_limits(study: Content) -> None:
    """Remove limits of memory, time and progress from networks that may not keep them."""
    models = [workload["model"] for workload in study["workloads"].values()]
    data = [workload["data"]["samples"] for workload in study["workloads"].values()]
    if all("widths" in model or model == {"type": "mlp"} for model in models) and max(data) < 5000:
        return
    if study.get("host", {}).get("memory_limit_gib"):
        del study["host"]["memory_limit_gib"]
    study.pop("stall_limit_s", None)
    study["time_limit_min"] = 20_000
    if study.get("host", {}).get("device") == "cpu":
        study["host"] |= {"cores_per_rank": 64, "pin": False}
        study |= {"time_limit_min": 90_000, "stall_limit_s": 3000}


DEFAULTS = {
    "precision": "fp32",
    "accumulation_steps": 1,
    "activation_checkpointing": False,
    "log_every_steps": None,
    "environment": {},
    "find_unused_parameters": False,
    "communication_hook": "none",
    "sharding": "full",
    "wrap": "block",
    "channels": 48,
    "norm": "none",
    "hidden_dim": 256,
    "num_layers": 3,
    "d_model": 256,
    "heads": 4,
    "on_device": True,
    "sample_delay_us": 0,
    "warmup_steps": 0,
    "weight_decay": 0,
    "learning_rate": "1e-3",
    "gradient_clip": None,
    "learning_rate_scaling": "none",
    "decay": "none",
}


def without_defaults(entry: Content) -> Content:
    """An entry without keys that have their default, so that equal entries look equal."""
    plain = {key: without_defaults(value) if isinstance(value, dict) else value for key, value in entry.items()}
    return {key: value for key, value in plain.items() if value != {} and DEFAULTS.get(key, ...) != value}


def _in_reach(scale: str, measured: list[str]) -> bool:
    """Whether a scale that is not measured is at most four times a measured one on as many devices of a node."""
    nodes, devices = map(int, scale.split("x"))
    places = [tuple(map(int, one.split("x"))) for one in measured]
    if nodes == 1:
        largest = max((inside for many, inside in places if many == 1), default=1)
        return scale not in measured and largest > 1 and devices <= 4 * largest
    alike = {many for many, inside in places if inside == devices}
    return len(alike) > 1 and nodes <= 4 * max(alike)


def _ranks(scale: str) -> int:
    nodes, devices = scale.split("x")
    return int(nodes) * int(devices)


def _without_probes(study: Content, measure: Content) -> None:
    """Remove the keys of probes, traces and trials that the study does not use."""
    strategies = [variant["strategy"] for variant in study["variants"].values()]
    epochs = any(workload["epochs"] for workload in study["workloads"].values())
    if not study.get("profile"):
        measure.pop("profile_steps", None)
    if not ("ddp" in strategies and epochs and measure.get("probe_rounds", 4)):
        measure.pop("batch_trial_share", None)
    narrowest = min(map(_ranks, study["scales"]))
    steps = [
        one["epochs"]
        * (one["data"]["samples"] // one["batch_size"])
        // (1 if "strong" in one["scaling"] else narrowest)
        for one in study["workloads"].values()
    ]
    if int(measure.get("batch_trial_share", 1) * max(steps)) < 24:  # of a trial
        measure.pop("batch_trial_share", None)
    plain = [
        one.get("precision", "fp32") == "fp32" and not one.get("environment") and not one.get("log_every_steps")
        for one in study["variants"].values()
        if one["strategy"] != "single"
    ]
    if not any(plain):
        measure.pop("alternating_rounds", None)
    turns = measure.get("alternating_rounds")
    if not (turns or (measure.get("probe_rounds", 4) and len(strategies) > 1)):
        measure.pop("probe_steps", None)
