"""Faults that are really there: a run made unlike its base case, and ranks with more threads than cores."""

from __future__ import annotations

import json
import os
from typing import Any

import pytest
from conftest import Checkout, tiny_study

pytestmark = pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="one core only")


def findings(checkout: Checkout, **changes: Any) -> list[dict[str, Any]]:
    """Diagnoses of the tiny study with one workload and these changes, after running it."""
    study = tiny_study()
    del study["workloads"]["second"]
    checkout.configure(study | changes)
    checkout.run("snakemake", "results/tiny/findings.json")
    return json.loads((checkout.root / "results/tiny/findings.json").read_text())


def test_another_precision_than_the_base_is_confounded(checkout: Checkout) -> None:
    variants = {"single": {"strategy": "single"}, "ddp": {"strategy": "ddp", "precision": "bf16"}}
    (diagnosis,) = findings(checkout, variants=variants)
    assert diagnosis["verdict"] == "confounded"
    assert "precision: fp32 at the base, bf16 here" in diagnosis["findings"][0]["explanation"]


def test_more_threads_than_cores_are_oversubscribed(checkout: Checkout) -> None:
    cores = len(os.sched_getaffinity(0))
    host = {"device": "cpu", "pin": False, "cores_per_rank": cores}
    (diagnosis,) = findings(checkout, host=host)
    (finding,) = diagnosis["findings"]
    assert finding["cause"] == "oversubscribed"
    assert finding["evidence"][0]["value"] == 2.0
    patch = {"host": {"pin": True, "cores_per_rank": max(1, cores // 2)}}
    assert diagnosis["recommendations"][0]["patch"] == patch
