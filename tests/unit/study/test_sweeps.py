"""Sweeps are expanded, settings of a variant are listed, and all of them reach a run."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest
from scalestudy.errors import UserError
from scalestudy.study.config.load import parse_study
from scalestudy.study.config.sweep import expand_sweeps
from scalestudy.study.config.variants import Variant
from scalestudy.study.plan import make_plan
from scalestudy.study.spec import RunSpec, parse_spec

# Sweeps


def test_a_sweep_writes_out_every_combination(content: dict[str, Any]) -> None:
    content["variants"]["ddp"]["sweep"] = {"ddp.bucket_cap_mb": [5, 25.5], "compile": [False, True]}
    before = deepcopy(content)
    expanded = expand_sweeps(content, source="x")
    assert list(expanded["variants"]) == [
        "single",
        "ddp-bucket-cap-mb-5-compile-false",
        "ddp-bucket-cap-mb-5-compile-true",
        "ddp-bucket-cap-mb-25-5-compile-false",
        "ddp-bucket-cap-mb-25-5-compile-true",
    ]
    assert content == before
    assert expanded["variants"]["ddp-bucket-cap-mb-25-5-compile-true"] == {
        "strategy": "ddp",
        "ddp": {"bucket_cap_mb": 25.5},
        "compile": True,
    }
    variants = parse_study(content, source="x").variants
    assert [variants[name].ddp.bucket_cap_mb for name in variants] == [25, 5, 5, 25.5, 25.5]


def test_a_sweep_of_a_workload(content: dict[str, Any]) -> None:
    content["workloads"]["mlp"]["sweep"] = {"batch_size": [16, 32], "optimizer.type": ["sgd", "adam"]}
    content["scales"] = ["1x2"]
    workloads = parse_study(content, source="x").workloads
    assert {
        name: (w.batch_size, w.optimizer.type, w.optimizer.learning_rate) for name, w in workloads.items()
    } == {
        "mlp-batch-size-16-type-sgd": (16, "sgd", 0.05),
        "mlp-batch-size-16-type-adam": (16, "adam", 0.05),
        "mlp-batch-size-32-type-sgd": (32, "sgd", 0.05),
        "mlp-batch-size-32-type-adam": (32, "adam", 0.05),
    }


SWEEPS_REFUSED = [
    ({"sweep": {}}, r"refused\n  variants\.ddp\.sweep: a mapping of keys to lists"),
    ({"sweep": [1, 2]}, r"refused\n  variants\.ddp\.sweep: a mapping of keys to lists of values is expected"),
    ({"sweep": {"compile": True}}, r"refused\n  variants\.ddp\.sweep: a mapping of keys to lists"),
    ({"sweep": {"compile": []}}, r"refused\n  variants\.ddp\.sweep: a mapping of keys to lists"),
    (
        {"sweep": {"precision.a": ["x"]}, "precision": "fp32"},
        r"refused\n  variants\.ddp\.sweep: precision\.a: precision",
    ),
    ({"sweep": {"compile": [True, "TRUE"]}}, r"refused\n  variants\.ddp-compile-true: two entries have this name"),
    (
        {"sweep": {"ddp.bucket_cap": [5]}},
        r"variants\.ddp-bucket-cap-5\.ddp\.bucket_cap: unknown key; did you mean",
    ),
    ({"sweep": {"accumulation_steps": [2, 3]}}, r"does not make 3 micro-batches|does not divide"),
]


@pytest.mark.parametrize(("change", "message"), SWEEPS_REFUSED, ids=[str(change) for change, _ in SWEEPS_REFUSED])
def test_sweeps_that_cannot_be_written_out(content: dict[str, Any], change: dict[str, Any], message: str) -> None:
    content["variants"]["ddp"] |= change
    with pytest.raises(UserError, match=message):
        parse_study(content, source="x")


def test_a_swept_name_that_is_taken(content: dict[str, Any]) -> None:
    content["variants"] |= {
        "ddp-compile-true": {"strategy": "ddp"},
        "ddp": {"strategy": "ddp", "sweep": {"compile": [True]}},
    }
    with pytest.raises(UserError, match=r"variants\.ddp-compile-true: two entries have this name, one by a sweep"):
        parse_study(content, source="x")


# What a variant is called, and what of it reaches a run


def test_settings_are_what_differs_from_the_defaults() -> None:
    assert Variant.model_validate({"strategy": "fsdp"}).settings == ""
    variant = Variant.model_validate(
        {
            "strategy": "ddp",
            "precision": "bf16",
            "compile": True,
            "accumulation_steps": 4,
            "ddp": {"broadcast_buffers": False, "bucket_cap_mb": 25},
            "input": {"loader": "dataloader", "workers": 2},
            "base": "single",
        }
    )
    assert variant.settings == (
        "precision: bf16, compile: true, accumulation_steps: 4, ddp.broadcast_buffers: false,"
        " input.loader: dataloader, input.workers: 2"
    )


def specs_of(content: dict[str, Any]) -> dict[tuple[str, int], RunSpec]:
    """A spec by variant and global batch."""
    runs = make_plan(parse_study(content, source="x")).runs.values()
    return {(spec.variant, spec.global_batch): spec for spec in runs}


@pytest.mark.parametrize(("rule", "factor"), [("none", 1), ("linear", 4), ("sqrt", 2)])
def test_the_learning_rate_grows_with_the_global_batch(content: dict[str, Any], rule: str, factor: float) -> None:
    """That of weak scaling; strong scaling keeps the batch, and a reference of one process has less of it."""
    content["scales"] = ["1x4"]
    content["workloads"]["mlp"]["optimizer"]["learning_rate_scaling"] = rule
    specs = specs_of(content)
    assert specs["single", 32].learning_rate_factor == 1
    assert specs["ddp", 32].learning_rate_factor == 1
    assert specs["ddp", 128].learning_rate_factor == pytest.approx(factor)
    assert specs["single", 8].learning_rate_factor == pytest.approx(1 / factor)


def test_a_variant_has_its_own_environment_and_runs_of_its_own(content: dict[str, Any]) -> None:
    content["host"] = {"environment": {"NCCL_DEBUG": "INFO", "GLOO_X": "1"}}
    content["variants"]["quiet"] = {"strategy": "ddp", "environment": {"NCCL_DEBUG": "WARN"}}
    specs = specs_of(content)
    assert specs["ddp", 32].host.environment == {"NCCL_DEBUG": "INFO", "GLOO_X": "1"}
    assert specs["quiet", 32].host.environment == {"NCCL_DEBUG": "WARN", "GLOO_X": "1"}


def test_every_knob_reaches_the_spec_and_makes_a_run_of_its_own(content: dict[str, Any]) -> None:
    knobs: dict[str, Any] = {
        "precision": "bf16",
        "compile": True,
        "activation_checkpointing": True,
        "accumulation_steps": 2,
        "ddp": {"find_unused_parameters": True},
        "input": {"reshuffle": False},
        "log_every_steps": 3,
        "checkpoint_every_steps": 4,
    }
    for number, (knob, value) in enumerate(knobs.items()):
        content["variants"][f"v{number}"] = {"strategy": "ddp", knob: value}
    specs = specs_of(content)
    for number, (knob, value) in enumerate(knobs.items()):
        found = specs[f"v{number}", 32]
        dumped = found.model_dump()[knob]
        assert dumped == value or value.items() <= dumped.items()
        assert parse_spec(found.to_json()) == found
    assert (
        len({spec.run_id.rsplit("-", 1)[1] for (_, batch), spec in specs.items() if batch == 32}) == len(knobs) + 2
    )
