"""Calls of the workflow: every command of the documents plans what it should, and the linters have no finding."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
import yaml
from conftest import BIN, Checkout, planned, tiny_study
from scalestudy.publish.typeset import missing_tex

ALL_RULES = {
    "plan_study": 1,
    "train_baseline": 2,
    "train_distributed": 2,
    "aggregate_runs": 1,
    "diagnose_study": 1,
    "plot_figures": 1,
    "render_tables": 1,
    "write_numbers": 1,
    "write_text_report": 1,
    "write_page": 1,
    "write_documents": 1,
    **({} if missing_tex() else {"typeset_document": 2}),
    "report": 1,
}


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("--profile", "slurm"),
        pytest.param(("-s", "workflow/Snakefile", "--cores", "2", "report"), marks=pytest.mark.slow),
    ],
    ids=lambda a: " ".join(a) or "plain",
)
def test_each_way_of_calling_plans_the_whole_study(checkout: Checkout, arguments: tuple[str, ...]) -> None:
    output = checkout.run("snakemake", "-n", *arguments).stdout
    assert planned(output) == ALL_RULES


@pytest.mark.slow
def test_where_latex_is_missing_everything_else_is_planned(checkout: Checkout, tmp_path: Path) -> None:
    """Reported in one line, and the .tex files are written anyway."""
    programs = tmp_path / "programs"
    programs.mkdir()
    for name in ("sh", "bash", "env", "uname", "cat", "which"):
        (programs / name).symlink_to(shutil.which(name) or "")
    result = subprocess.run(
        [str(BIN / "snakemake"), "-n"],
        cwd=checkout.root,
        env=checkout.environment | {"PATH": f"{BIN}:{programs}"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert result.returncode == 0, result.stdout
    assert planned(result.stdout) == {name: n for name, n in ALL_RULES.items() if name != "typeset_document"}
    said = [line for line in result.stdout.splitlines() if "PDF documents are not made" in line]
    assert len(said) == 1
    assert "latexmk, pdflatex are missing; on Debian and Ubuntu: apt-get install latexmk" in said[0]


@pytest.mark.slow  # test_modules.py imports it too
def test_a_workflow_that_imports_ours_as_a_module(checkout: Checkout) -> None:
    other = checkout.root / "other"
    other.mkdir()
    (other / "Snakefile").write_text(
        "module scaling:\n"
        f'    snakefile: "{checkout.root}/workflow/Snakefile"\n'
        "    config: config\n\n"
        "use rule * from scaling as scaling_*\n"
    )
    command = ["snakemake", "-n", "-c2", "-d", str(other), "-s", str(other / "Snakefile")]
    output = checkout.run(*command, "--configfile", "config/config.yaml").stdout
    assert planned(output)["scaling_train_distributed"] == 2


def test_a_study_given_by_hand_is_not_mixed_with_the_default(checkout: Checkout) -> None:
    """Snakemake lays a --configfile over the one a Snakefile names, key by key."""
    study = tiny_study() | {"study": "mine"}
    study["workloads"] = {"only": study["workloads"]["first"]}
    (checkout.root / "mine.yaml").write_text(yaml.safe_dump(study, sort_keys=False))
    for snakefile in ("Snakefile", "workflow/Snakefile"):
        output = checkout.run("snakemake", "-n", "-s", snakefile, "--configfile", "mine.yaml").stdout
        assert planned(output)["train_baseline"] == planned(output)["train_distributed"] == 1
        assert "results/mine/runs/only-single-" in output
        assert "first" not in output


def test_slurm_jobs_ask_for_what_the_scale_needs(checkout: Checkout) -> None:
    study = tiny_study() | {"host": {"device": "auto", "cores_per_rank": 3}}
    checkout.configure(study)
    output = checkout.run("snakemake", "-n", "--profile", "slurm", "--cores", "64").stdout
    blocks = [block for block in output.split("\nrule ") if block.startswith("train_distributed")]
    assert len(blocks) == 2
    for block in blocks:
        assert "threads: 6" in block
        for resource in ("gres=gpu:2", "nodes=1", "tasks=1", "slot=1", "runtime=4", "mem_mb=16000"):
            assert resource in block, block


def test_slurm_jobs_ask_for_gpus_by_type(checkout: Checkout) -> None:
    checkout.configure(tiny_study() | {"host": {"device": "auto"}, "allocations": "scales"})
    arguments = ("--profile", "slurm", "--cores", "64", "--default-resources", "gpu_type=a100")
    output = checkout.run("snakemake", "-n", *arguments).stdout
    for rule, gres in (("train_baseline", "gres=gpu:a100:1"), ("train_distributed", "gres=gpu:a100:2")):
        blocks = [block for block in output.split("\nrule ") if block.startswith(rule)]
        assert blocks
        assert all(gres in block for block in blocks), output


def test_launches_follow_the_shuffled_order_of_the_plan(finished: Checkout) -> None:
    from scalestudy.study.plan import Plan

    plan = Plan.model_validate_json((finished.root / "results/tiny/plan.json").read_bytes())
    runs = finished.root / "results/tiny/runs"
    finished_at = {run: (runs / run / "run.json").stat().st_mtime for run in plan.runs}
    assert sorted(plan.runs, key=finished_at.__getitem__) == list(plan.runs)


def test_a_bad_config_is_refused_before_any_job(checkout: Checkout) -> None:
    """tests/unit/study/test_config.py checks what is refused, and in which words."""
    result = checkout.run("snakemake", "-n", "--config", "repeatz=3", check=False)
    assert result.returncode != 0
    assert "repeatz: unknown key; did you mean repeats?" in result.stdout
    assert "Traceback" not in result.stdout
    assert "Job stats" not in result.stdout


def test_a_key_that_is_there_twice_is_refused_though_snakemake_takes_the_last(checkout: Checkout) -> None:
    study = checkout.root / "twice.yaml"
    text = yaml.safe_dump(tiny_study() | {"seed": 1})
    study.write_text(text + "seed: 2\n")
    result = checkout.run("snakemake", "-n", "--configfile", str(study), check=False)
    assert result.returncode == 1
    line = text.count("\n") + 1
    assert f"{study}: not valid YAML: key seed is given twice (line {line}, column 1)" in result.stdout


def test_braces_of_a_user_are_no_wildcards(checkout: Checkout) -> None:
    folder = checkout.root / "{folder}"
    folder.mkdir()
    study = tiny_study()
    study["variants"]["ddp"]["environment"] = {"PLACE": "{HOME}"}
    (folder / "study.yaml").write_text(yaml.safe_dump(study))
    changes = ("--config", "description='a {thing}, {{twice}}, { alone'")
    output = checkout.run("snakemake", "-n", "--configfile", str(folder / "study.yaml"), *changes).stdout
    assert planned(output)["write_documents"] == 1


def test_more_ranks_than_cores_are_refused_before_any_job(checkout: Checkout) -> None:
    """Snakemake would cap the threads in silence and run two ranks on one core."""
    result = checkout.run("snakemake", "--cores", "1", check=False)
    assert result.returncode != 0
    assert "scales[0]: 1x2 needs 2 ranks x 1 core = 2 cores on one host; available: 1." in result.stdout
    assert not list(checkout.root.glob("results/*/runs/*/run.json"))


def test_more_ranks_than_gpus_are_refused_before_any_job(checkout: Checkout) -> None:
    checkout.configure(tiny_study() | {"host": {"device": "cuda"}})
    result = checkout.run("snakemake", "--resources", "gpu=1", "slot=1", check=False)
    assert result.returncode != 0
    assert "scales[0]: 1x2 needs 2 CUDA devices on one host; available: 1." in result.stdout
    assert not list(checkout.root.glob("results/*/runs/*/run.json"))
