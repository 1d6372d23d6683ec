"""The studies that are shipped: each plans in full and in the small, in one file or as Snakemake merges two."""

from __future__ import annotations

import pytest
from conftest import ROOT, Checkout
from scalestudy.study.load import load_study
from scalestudy.study.plan import make_plan

STUDIES = sorted(path.stem for path in (ROOT / "config/studies").glob("*.yaml"))
SMALL = {path.stem for path in (ROOT / "config/studies/cpu-small").glob("*.yaml")}


def test_every_study_has_a_small_form() -> None:
    assert set(STUDIES) == SMALL
    assert {"digits", "mlp_batch_sweep", "text_classification", "ddp_vs_fsdp", "llm_finetune"} == SMALL


@pytest.mark.parametrize("name", STUDIES)
def test_a_study_plans_in_full(checkout: Checkout, name: str) -> None:
    file = f"config/studies/{name}.yaml"
    plan = make_plan(load_study(ROOT / file))
    output = checkout.run("snakemake", "-n", "--configfile", file, "--resources", "gpu=8", "slot=1").stdout
    for run in plan.runs:
        assert run in output


@pytest.mark.parametrize("name", STUDIES)
def test_a_study_plans_in_the_small_on_two_cores(checkout: Checkout, name: str) -> None:
    files = [f"config/studies/{name}.yaml", f"config/studies/cpu-small/{name}.yaml"]
    full, small = load_study(ROOT / files[0]), load_study(*(ROOT / file for file in files))
    assert small.study == f"{full.study}-small", "results of the two must not share a folder"
    plan = make_plan(small)
    output = checkout.run("snakemake", "-n", "--cores", "2", "--configfile", *files).stdout
    for run, spec in plan.runs.items():
        assert run in output
        assert spec.world_size <= 2
        assert not spec.data.prepared, "the small form needs no download"
