"""Another workflow uses ours as a module: its names, its places and its own rules."""

from __future__ import annotations

import json
import re
import zipfile
from pathlib import Path

import pytest
import yaml
from conftest import Checkout, mlp_workload, planned

ALL = {
    "plan_study": 1,
    "train_baseline": 1,
    "train_distributed": 1,
    "aggregate_runs": 1,
}


def study_of(name: str) -> dict:
    """Two runs of a second or two."""
    return {
        "study": name,
        "repeats": 1,
        "time_limit_min": 2,
        "scales": ["1x2"],
        "variants": {"single": {"strategy": "single"}, "ddp": {"strategy": "ddp"}},
        "workloads": {"mlp": mlp_workload(scaling=["strong"])},
        "host": {"device": "cpu"},
        "report": {"overhead_reference": False},
    }


def module(name: str, prefix: str, config: str, *options: str) -> str:
    """A module statement with the path from scalestudy, as in docs/library.md. options: its further lines."""
    lines = [f"module {name}:", "    snakefile: scalestudy.snakefile()", f"    config: {config}"]
    lines += [f"    {line}" for line in options]
    return "\n".join([*lines, "", f"use rule * from {name} as {prefix}_*", ""])


BEGIN = 'import scalestudy\n\nconfigfile: "own.yaml"\n\n'
ALL_RULE = 'rule all:\n    input: "answer.txt"\n\n'
DOWNSTREAM = (
    "rule answer:\n"
    "    input: rules.scaling_aggregate_runs.output.summary\n"
    '    output: "answer.txt"\n'
    '    shell: "cut -d , -f 1-3 {input} > {output}"\n'
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An empty folder with the config of another workflow, which has other keys too."""
    place = tmp_path / "another workflow"
    place.mkdir()
    content = {"samples": ["a", "b"], "study": "not ours", "scaling": study_of("mine"), "more": study_of("more")}
    (place / "own.yaml").write_text(yaml.safe_dump(content, sort_keys=False))
    return place


def dry_run(checkout: Checkout, folder: Path, text: str, *targets: str) -> str:
    """The output of a dry run of a Snakefile in the folder."""
    (folder / "Snakefile").write_text(text)
    return checkout.run("snakemake", "-n", "--cores", "2", *targets, at=folder).stdout


PLACES = [
    ((), "results/mine"),
    (('prefix: "bench"',), "bench/results/mine"),
    (('replace_prefix: {"results/": "bench/"}',), "bench/mine"),
    (("pathvars:", '    results="some/where",'), "some/where"),
]


@pytest.mark.parametrize(
    ("options", "place"),
    [PLACES[0], *(pytest.param(*place, marks=pytest.mark.slow) for place in PLACES[1:3]), PLACES[3]],
)
def test_all_files_are_where_the_module_statement_says(
    checkout: Checkout, folder: Path, options: tuple[str, ...], place: str
) -> None:
    text = BEGIN + ALL_RULE + module("scaling", "scaling", 'config["scaling"]', *options) + DOWNSTREAM
    said = dry_run(checkout, folder, text)
    assert planned(said) == {f"scaling_{name}": count for name, count in ALL.items()} | {"answer": 1, "all": 1}
    paths = [word.rstrip(",") for line in said.splitlines() if line.startswith("    ") for word in line.split()]
    of_study = [path for path in paths if path.endswith((".csv", ".json", ".log", ".sha256"))]
    assert len(of_study) > 10
    assert {path for path in of_study if not path.startswith(f"{place}/")} == set()
    assert f"{place}/logs/plan_study.log" in of_study


def runs_in(said: str) -> set[str]:
    return set(re.findall(r"runs/([^/,\s]+)/", said))


@pytest.mark.slow
@pytest.mark.parametrize(("options", "place"), PLACES)
def test_a_study_keeps_the_defaults_of_its_plan_wherever_it_is(
    checkout: Checkout, folder: Path, options: tuple[str, ...], place: str
) -> None:
    """Else runs of an earlier release would be measured again: the cores of a rank have another default."""
    content = yaml.safe_load((folder / "own.yaml").read_text())
    content["scaling"]["host"] = {"device": "auto"}
    (folder / "own.yaml").write_text(yaml.safe_dump(content, sort_keys=False))
    text = BEGIN + ALL_RULE + module("scaling", "scaling", 'config["scaling"]', *options) + DOWNSTREAM
    new = runs_in(dry_run(checkout, folder, text))
    (folder / place).mkdir(parents=True)
    (folder / place / "plan.json").write_text(json.dumps({"study": {"study": "mine", "defaults": 3}}))
    planned_before = runs_in(dry_run(checkout, folder, text))
    content["scaling"]["host"]["cores_per_rank"] = 1
    (folder / "own.yaml").write_text(yaml.safe_dump(content, sort_keys=False))
    assert (len(new), planned_before & new) == (2, set())
    assert planned_before == runs_in(dry_run(checkout, folder, text))


@pytest.mark.slow
def test_the_default_target_is_the_one_of_the_workflow_that_imports(checkout: Checkout, folder: Path) -> None:
    text = module("scaling", "scaling", 'config["scaling"]')
    assert "answer" in planned(dry_run(checkout, folder, BEGIN + ALL_RULE + text + DOWNSTREAM))
    marked = ALL_RULE.rstrip() + "\n    default_target: True\n\n"
    assert "answer" in planned(dry_run(checkout, folder, BEGIN + text + DOWNSTREAM + marked))
    assert "scaling_report" in planned(dry_run(checkout, folder, BEGIN + text))


@pytest.mark.slow
def test_two_studies_in_one_workflow(checkout: Checkout, folder: Path) -> None:
    text = (
        BEGIN + module("one", "one", 'config["scaling"]') + module("two", "two", 'config["more"]', 'prefix: "b"')
    )
    text += (
        "rule both:\n"
        "    default_target: True\n"
        "    input: rules.one_aggregate_runs.output.summary, rules.two_render_tables.output\n"
        '    output: "both.txt"\n'
        '    shell: "cat {input} > {output}"\n'
    )
    said = dry_run(checkout, folder, text)
    count = planned(said)
    assert count["one_train_distributed"] == count["two_train_distributed"] == count["two_render_tables"] == 1
    assert "results/mine/comprehensive_summary.csv" in said
    assert "b/results/more/tables/summary_table.tex" in said
    assert "one_render_tables" not in count


def test_keys_of_another_workflow_are_refused_by_name(checkout: Checkout, folder: Path) -> None:
    (folder / "Snakefile").write_text(BEGIN + module("scaling", "scaling", "config"))
    done = checkout.run("snakemake", "-n", "--cores", "2", at=folder, check=False)
    assert done.returncode == 1
    assert "samples: unknown key" in done.stdout
    assert "Traceback" not in done.stdout


@pytest.mark.slow
def test_a_study_runs_as_a_module_and_its_table_is_used(checkout: Checkout, folder: Path) -> None:
    text = BEGIN + 'rule all:\n    input: "answer.csv", "table.tex"\n\n'
    text += module("scaling", "scaling", 'config["scaling"]', 'prefix: "bench"')
    text += (
        "rule answer:\n"
        "    input: rules.scaling_aggregate_runs.output.summary\n"
        '    output: "answer.csv"\n'
        "    run:\n"
        "        import pandas as pd\n"
        "        points = pd.read_csv(input[0])\n"
        '        points[points["world_size"] > 1][["variant", "speedup"]].to_csv(output[0], index=False)\n\n'
        "rule table:\n"
        "    input: rules.scaling_render_tables.output\n"
        '    output: "table.tex"\n'
        '    shell: "cat {input} > {output}"\n'
    )
    (folder / "Snakefile").write_text(text)
    checkout.run("snakemake", "--cores", "2", "--resources", "slot=1", at=folder)
    results = folder / "bench/results/mine"
    head, row = (folder / "answer.csv").read_text().split()
    assert head == "variant,speedup"
    assert row.startswith("ddp,") and float(row.split(",")[1]) > 0
    assert "\\begin{tab" in (folder / "table.tex").read_text()
    assert {path.name for path in folder.iterdir()} == {
        *("own.yaml", "Snakefile", ".snakemake", "answer.csv", "table.tex", "bench")
    }

    checkout.run("snakemake", "--cores", "2", "scaling_report", at=folder)
    assert (results / "report.html").stat().st_size > 0
    assert (
        "Nothing to be done" in checkout.run("snakemake", "-n", "--cores", "2", "scaling_report", at=folder).stdout
    )
    artifact = (results / "artifact_description.tex").read_text(encoding="utf-8")
    assert "snakemake" in artifact and "scalestudy run" not in artifact
    assert (
        "study mine: 2 runs (2 ok)"
        in checkout.run("scalestudy", "summary", "--results", str(results), at=folder).stdout
    )

    checkout.run("snakemake", "--cores", "2", "--report", "report.zip", "scaling_report", at=folder)
    with zipfile.ZipFile(folder / "report.zip") as packed:
        page = packed.read(min((name for name in packed.namelist() if name.endswith("report.html")), key=len))
    assert b'study in <tt class=\\"docutils literal\\">bench/results/mine</tt>' in page
    assert b"problematic" not in page, "markup of a caption that found no name"


@pytest.mark.slow
@pytest.mark.parametrize("options", [('prefix: "bench"',), ('replace_prefix: {"results/": "bench/"}',)])
def test_trials_are_beside_the_study(checkout: Checkout, folder: Path, options: tuple[str, ...]) -> None:
    """Advice on a checkpoint after every step, which is tried by the workflow and not run again by hand."""
    study = study_of("mine")
    study["variants"]["ddp"]["checkpoint_every_steps"] = 1
    study["workloads"]["mlp"] |= {"model": {"type": "mlp", "hidden_dim": 512, "num_layers": 3}, "epochs": 0}
    study["measure"] = {"probe_rounds": 0, "floor": False, "min_steps": 20, "max_steps": 20}
    (folder / "own.yaml").write_text(yaml.safe_dump({"scaling": study}, sort_keys=False))
    text = BEGIN + module("scaling", "scaling", 'config["scaling"]', *options)
    (folder / "Snakefile").write_text(text)
    checkout.run("snakemake", "scaling_verify", "--cores", "2", "--resources", "slot=1", at=folder)
    (table,) = folder.glob("bench/**/mine/verification.csv")
    beside = {path.name for path in table.parent.parent.iterdir()}
    trials = {path.stem for path in (table.parent / "verification").glob("*.yaml")}
    assert trials and beside == {"mine", *trials}
    assert {path.name for path in folder.iterdir()} == {"own.yaml", "Snakefile", ".snakemake", "bench"}
    records = {path: path.stat().st_mtime_ns for path in folder.glob("bench/**/run.json")}
    words = ["--results", str(table.parent.relative_to(folder)), "--data", "bench/resources/data"]
    assert ": finished" in checkout.run("scalestudy", "verify", *words, at=folder).stdout
    assert {path: path.stat().st_mtime_ns for path in folder.glob("bench/**/run.json")} == records
