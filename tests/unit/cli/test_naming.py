"""A study is named by its files, by its results folder, or by neither; every verb takes all of them."""

from __future__ import annotations

import shutil
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from zipfile import ZipFile

import pandas as pd
import pytest
import yaml
from builders import results_of, study_of
from conftest import small_content
from scalestudy.analyse.study.environment import StudyEnvironment
from scalestudy.cli.main import main
from scalestudy.cli.naming import find_results, find_study, home, study_files
from scalestudy.diagnose.findings import FindingsFile
from scalestudy.diagnose.study import diagnose_study
from scalestudy.errors import UserError
from scalestudy.project import root
from scalestudy.publish.numbers.ledger import make_numbers
from scalestudy.record.document import write_document
from scalestudy.registry.files import FILES
from scalestudy.registry.results import RESULTS
from scalestudy.study.config.load import parse_study
from scalestudy.study.plan import make_plan

TIMES = {("mlp", 1, 32): [0.010, 0.011], ("mlp", 1, 16): [0.006, 0.007]}
TIMES |= {("mlp", 2, 16): [0.007, 0.008], ("mlp", 2, 32): [0.012, 0.011]}
KEY = "mlp.ddp.strong.n2.speedup"


def write_study(folder: Path, name: str) -> Path:
    """A study file, and its results as far as verbs read them: the file."""
    shutil.copytree(Path(made(name).name) / "study", folder, dirs_exist_ok=True)
    return folder / f"{name}.yaml"


@cache
def made(name: str) -> TemporaryDirectory[str]:
    """The folder `study` in it has these files, which are made once."""
    kept = TemporaryDirectory(prefix="scalestudy-test-")
    folder = Path(kept.name) / "study"
    content = small_content(study=name)
    plan = make_plan(parse_study(content, source="x"))
    found = results_of(plan, study_of(plan, TIMES))
    results = folder / "results" / name
    results.mkdir(parents=True)
    (results / RESULTS["plan"]).write_text(plan.model_dump_json())
    found.runs["record_sha256"] = [f"{name}{index}" for index in range(len(found.runs))]
    for table in ("summary", "runs", "forecasts"):
        getattr(found, table).to_csv(results / RESULTS[table], index=False)
    pd.DataFrame(columns=[column.name for column in FILES["epochs.csv"].columns]).to_csv(
        results / RESULTS["epochs"], index=False
    )
    write_document(results / RESULTS["environment"], StudyEnvironment(facts={"device": ("cpu",)}))
    findings = diagnose_study(plan.study, found.summary, found.forecasts)
    write_document(results / RESULTS["findings"], FindingsFile(study=name, diagnoses=tuple(findings)))
    write_document(results / RESULTS["numbers"], make_numbers(plan, found))
    (folder / f"{name}.yaml").write_text(yaml.safe_dump(content))
    return kept


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the study `first` and its results, which commands are called in."""
    monkeypatch.chdir(tmp_path)
    write_study(tmp_path, "first")
    return tmp_path


def default_study(here: Path, name: str) -> None:
    (here / "config").mkdir()
    (here / "config/config.yaml").write_text((here / f"{name}.yaml").read_text())


@pytest.mark.parametrize("named", [[], ["--results", "results/first"], ["--study", "first.yaml"]], ids=str)
@pytest.mark.parametrize(
    ("verb", "said"),
    [
        (["plan"], "study first: 4 configurations"),
        (["summary"], "study first: 8 runs (8 ok)"),
        (["number", KEY], f"{KEY} = "),
        (["estimate", "--gpus", "8", "--params", "1M", "--bandwidth", "1GB/s"], "8 ranks; slowest link: 1 GB/s"),
        (["stage", "diagnose"], "mlp ddp strong on 2 ranks: "),
        (["retry"], "results/first: no runs found"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_every_verb_takes_every_way(
    here: Path, named: list[str], verb: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    status = main([*verb, *named])
    out, err = capsys.readouterr()
    assert said in " ".join((out + err).split())
    assert status == (2 if verb == ["retry"] else 0)


def test_options_come_before_an_argument_or_after_it(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["number", "--study", "first.yaml", KEY]) == 0
    before = capsys.readouterr().out
    assert main(["number", KEY, "--study", "first.yaml"]) == 0
    assert capsys.readouterr().out == before


def test_studies_are_compared_by_folder_or_by_file(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_study(here, "second")
    ways = (
        ["results/first", "results/second"],
        ["first.yaml", "second.yaml"],
        ["results/first", "--study", "second.yaml"],
        ["--results", "results/first", "results/second"],
        ["first.yaml", "--results", "results/second"],
    )
    said = set()
    for way in ways:
        assert main(["compare", *way, "--out", "both"]) == 0
        said.add(capsys.readouterr().out)
    (text,) = said
    assert text.startswith("mlp: second (B) is 1.00 [")


def test_of_several_studies_the_default_one_is_meant(here: Path) -> None:
    write_study(here, "second")
    with pytest.raises(UserError, match=r"--study FILE or --results FOLDER; results/ has first, second$"):
        find_results((), None)
    default_study(here, "second")
    assert find_results((), None) == Path("results/second")
    assert find_study((), None).name == "second"


def test_a_study_and_the_results_of_another_are_refused(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_study(here, "second")
    assert main(["summary", "--study", "second.yaml", "--results", "results/first"]) == 2
    said = "--results results/first: has the results of study first, but --study names second; give one of the two"
    assert said in capsys.readouterr().err
    assert main(["plan", "--study", "second.yaml", "--results", "missing"]) == 2
    assert "missing: no such folder" in capsys.readouterr().err
    (here / "results/first").rename(here / "moved")
    assert main(["summary", "--study", "first.yaml", "--results", "moved"]) == 0, "a place of its own is allowed"


def test_a_default_study_without_results_leaves_the_only_one_that_has_some(here: Path) -> None:
    (here / "third.yaml").write_text(yaml.safe_dump(small_content(study="third")))
    default_study(here, "third")
    assert find_results((), None) == Path("results/first")
    assert find_study((), None).name == "third", "what is planned is the default study"


@pytest.mark.parametrize(
    ("files", "results", "said"),
    [
        ([], "nowhere", "nowhere: no such folder; name the results of a study, such as results/STUDY"),
        (
            [],
            "first.yaml",
            "is a file, not a folder; name the results of a study, such as results/STUDY, or give a study file"
            " with --study first.yaml",
        ),
        (
            [],
            "a b.zip",
            "a b.zip: is an archive, not a folder; `scalestudy report 'a b.zip'` rebuilds the results",
        ),
        ([], "results", "it has no plan.json. Name the folder of one study; it contains first"),
        ([], "empty", "it has no plan.json. Name the folder of one study, such as results/STUDY"),
        (["third.yaml"], None, "results/third/plan.json: missing; `scalestudy run` runs the study and writes it"),
        (["nowhere.yaml"], None, "nowhere.yaml: no such study file"),
        (["first"], None, "first: no such study file; use --results results/first for its results"),
        (["digits"], None, r"digits: no such study file; did you mean config/studies/digits.yaml\?"),
    ],
)
def test_what_names_no_study_is_told_what_would(
    here: Path, files: list[str], results: str | None, said: str
) -> None:
    (here / "empty").mkdir()
    ZipFile(here / "a b.zip", "w").close()
    (here / "third.yaml").write_text(yaml.safe_dump(small_content(study="third")))
    with pytest.raises(UserError, match=said.replace(".", r"\.")):
        find_results([Path(file) for file in files], Path(results) if results else None)


def test_an_empty_folder_has_no_study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    monkeypatch.chdir(tmp_path)
    for verb in ("plan", "run", "summary", "retry"):
        assert main([verb]) == 2
        assert (
            "name a study with --study FILE or --results FOLDER; results/ has no study" in capsys.readouterr().err
        )


def test_a_study_that_is_not_complete_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_study(tmp_path, "first")
    Path("results/first", RESULTS["numbers"]).unlink()
    again = r"results/first/numbers.json: missing; `scalestudy run --results results/first`"
    with pytest.raises(UserError, match=again):
        find_results((), None, having="numbers")
    write_study(tmp_path, "second")
    Path("results/second", RESULTS["numbers"]).unlink()
    with pytest.raises(UserError, match="results/ has first, second, none complete"):
        find_results((), None, having="numbers")


def test_a_checkout_is_found_from_below(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "workflow").mkdir()
    (tmp_path / "rules/deep").mkdir(parents=True)
    (tmp_path / "workflow/Snakefile").write_text("# the workflow of scalestudy\n")
    monkeypatch.chdir(tmp_path / "rules/deep")
    assert home() == Path("../..")
    monkeypatch.chdir(tmp_path)
    assert home() == Path()


def test_an_example_is_a_place_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its script is found where its study is run, in a clone as in a copy of its folder."""
    for folder in ("workflow", "rules", "examples/ddp"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "workflow/Snakefile").write_text("# the workflow of scalestudy\n")
    monkeypatch.chdir(tmp_path / "examples/ddp")
    assert home() == Path()
    monkeypatch.chdir(tmp_path / "examples")
    assert home() == Path("..")


def test_another_workflow_is_no_checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "workflow").mkdir()
    (tmp_path / "rules/deep").mkdir(parents=True)
    (tmp_path / "workflow/Snakefile").write_text("rule all:\n    input: 'table.csv'\n")
    monkeypatch.chdir(tmp_path / "rules/deep")
    assert home() == Path()


def test_a_ready_study_is_found_in_the_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    ready = Path("config/studies/digits.yaml")
    assert study_files([ready], None) == (root() / ready,)
    ready.parent.mkdir(parents=True)
    ready.touch()
    assert study_files([ready], None) == (ready,), "a file of the user comes first"
    assert study_files([Path("digits.yaml")], None) == (Path("digits.yaml"),)
