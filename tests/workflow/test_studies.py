"""The studies that are shipped: each plans in full and in the small, in one file or as Snakemake merges two."""

from __future__ import annotations

import pytest
from conftest import ROOT, Checkout
from scalestudy.study.config.load import load_study
from scalestudy.study.plan import make_plan

STUDIES = sorted(path.stem for path in (ROOT / "config/studies").glob("*.yaml"))
SMALL = {path.stem for path in (ROOT / "config/studies/cpu-small").glob("*.yaml")}


def test_every_study_has_a_small_form() -> None:
    assert set(STUDIES) == SMALL
    first = {"digits", "mlp_batch_sweep", "text_classification", "ddp_vs_fsdp", "llm_finetune"}
    assert first | {"agnews_before_after", "llm_before_after"} == SMALL


ALWAYS = "ddp_vs_fsdp"


@pytest.mark.parametrize(
    "name", [name if name == ALWAYS else pytest.param(name, marks=pytest.mark.slow) for name in STUDIES]
)
def test_a_study_plans_in_full(checkout: Checkout, name: str) -> None:
    file = f"config/studies/{name}.yaml"
    plan = make_plan(load_study(ROOT / file))
    output = checkout.run("snakemake", "-n", "--configfile", file, "--resources", "gpu=8", "slot=1").stdout
    for run in plan.runs:
        assert run in output


def small_form(name: str) -> list[str]:
    """A study's file and the file that scales it down."""
    return [f"config/studies/{name}.yaml", f"config/studies/cpu-small/{name}.yaml"]


@pytest.mark.parametrize("name", STUDIES)
def test_a_study_in_the_small_needs_two_cores_and_no_download(name: str) -> None:
    files = [ROOT / file for file in small_form(name)]
    full, small = load_study(files[0]), load_study(*files)
    assert small.name == f"{full.name}-small", "results of the two must not share a folder"
    for spec in make_plan(small).runs.values():
        assert spec.world_size <= 2
        assert not spec.data.prepared


def test_two_files_are_one_study_to_snakemake_too(checkout: Checkout) -> None:
    files = small_form("llm_finetune")
    plan = make_plan(load_study(*(ROOT / file for file in files)))
    output = checkout.run("snakemake", "-n", "--cores", "2", "--configfile", *files).stdout
    assert all(run in output for run in plan.runs)
