"""A fault that is really there, through the workflow: ranks with more threads than cores."""

from __future__ import annotations

import json
import os

import pytest
from conftest import Checkout, tiny_study

pytestmark = pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="one core only")


def test_more_threads_than_cores_are_oversubscribed(checkout: Checkout) -> None:
    cores = len(os.sched_getaffinity(0))
    study = tiny_study() | {"host": {"device": "cpu", "pin": False, "cores_per_rank": cores}}
    del study["workloads"]["second"]
    checkout.configure(study)
    checkout.run("snakemake", "results/tiny/findings.json")
    (diagnosis,) = json.loads((checkout.root / "results/tiny/findings.json").read_text())
    (finding,) = diagnosis["findings"]
    assert finding["cause"] == "oversubscribed"
    assert finding["evidence"][0]["value"] == 2.0
    patch = {"host": {"pin": True, "cores_per_rank": max(1, cores // 2)}}
    assert diagnosis["recommendations"][0]["patch"] == patch
