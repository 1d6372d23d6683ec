"""The library on a study that was run, its documentation, and an environment without torch and Snakemake."""

from __future__ import annotations

import doctest
import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pandas as pd
import pytest
import scalestudy as ss
import yaml
from conftest import ROOT, Checkout, planned

PAGE = ROOT / "docs/library.md"
LOOSE = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
"""The width of a column depends on the digits of the times that were measured."""
FENCED = re.compile(r"^( *)```(\w+)\n(.*?)^\1```$", flags=re.DOTALL | re.MULTILINE)

USER = '''
"""A program of a user, for mypy --strict."""
from __future__ import annotations

import scalestudy as ss


def verdict(one: list[float], eight: list[float]) -> str:
    found: ss.Speedup = ss.speedup(one, eight, quantity="throughput", paired=True)
    kept: ss.Efficiency = ss.efficiency(found, devices=8)
    low: float = found.low
    return f"{found} {low:.2f} {kept.verdict}"


def remarks(path: str) -> list[str]:
    try:
        audited: ss.Audit = ss.audit(path, columns={"Speed": "throughput"}, scaling="weak")
    except (ss.UserError, ss.MissingPackageError) as error:
        return [str(error)]
    return [remark.sentence for remark in audited.remarks]


def study(folder: str) -> tuple[str, list[str]]:
    results: ss.Results = ss.read(folder)
    return results.latex_table("summary"), [str(one.verdict) for one in results.diagnose()]


path: str = ss.snakefile()
'''
WRONG = 'import scalestudy as ss\n\nss.speedup([1.0], [2.0], quantity="speed")\nss.no_such_name\n'


def blocks(language: str) -> list[str]:
    """The blocks of code of the page in a language."""
    found = FENCED.findall(PAGE.read_text(encoding="utf-8"))
    return [textwrap.dedent(text) for _, name, text in found if name == language]


@pytest.fixture(scope="module")
def study(finished: Checkout) -> ss.Results:
    return ss.read(finished.root / "results/tiny")


def test_the_sessions_of_the_page_print_what_it_says(
    finished: Checkout, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "results").symlink_to(finished.root / "results")
    monkeypatch.chdir(tmp_path)
    sessions = blocks("pycon")
    assert len(sessions) > 4
    globs: dict[str, object] = {}
    for text in sessions:
        test = doctest.DocTestParser().get_doctest(text, globs, "library.md", str(PAGE), 0)
        said: list[str] = []
        failed, tried = doctest.DocTestRunner(optionflags=LOOSE).run(test, out=said.append, clear_globs=False)
        assert tried and not failed, "".join(said)
        globs = test.globs
    assert "\\begin{tab" in (tmp_path / "table.tex").read_text()


def test_the_workflow_of_the_page_runs_its_rules(checkout: Checkout, tmp_path: Path) -> None:
    (config,), (snakefile,) = blocks("yaml"), (text for text in blocks("text") if "use rule" in text)
    folder = tmp_path / "own"
    folder.mkdir()
    (folder / "config.yaml").write_text(config)
    (folder / "Snakefile").write_text(snakefile)
    said = checkout.run("snakemake", "-n", "--cores", "2", "--resources", "slot=1", at=folder).stdout
    count = planned(said)
    assert (
        count["speedups"] == 1
        and count["scaling_train_distributed"] == yaml.safe_load(config)["scaling"]["repeats"]
    )
    assert "measured/results/mine/comprehensive_summary.csv" in said


def test_points_have_the_numbers_of_the_file_and_units(study: ss.Results) -> None:
    file = pd.read_csv(study.folder / "comprehensive_summary.csv")
    points = study.points
    assert list(points) == list(file) and len(points) == len(file) == 4
    assert points["speedup"].tolist() == pytest.approx(file["speedup"].tolist(), nan_ok=True)
    units = points.attrs["units"]
    assert (units["step_time_s"], units["step_time_s_low"], units["peak_resident_gib"]) == ("s", "s", "GiB")
    assert "speedup" not in units
    assert set(units) <= set(points)


def test_every_frame_of_the_page_can_be_read(study: ss.Results) -> None:
    names = ("points", "runs", "epochs", "forecasts", "factors", "floors", "collectives", "step_quantiles")
    frames = {name: study.frame(name) for name in names}
    assert len(frames["runs"]) == len(study.runs) == 4
    with pytest.raises(ss.UserError, match=r"frame: 'steps'; must be one of points, runs"):
        study.frame("steps")


def test_diagnoses_tables_and_numbers_are_those_of_the_documents(study: ss.Results) -> None:
    import json

    written = json.loads((study.folder / "findings.json").read_text())["diagnoses"]
    found = study.diagnose()
    assert [(one.workload, one.verdict, one.sentence) for one in found] == [
        (one["workload"], one["verdict"], one["sentence"]) for one in written
    ]
    for name, file in (("summary", "summary_table"), ("memory", "memory")):
        assert study.latex_table(name) == (study.folder / f"tables/{file}.tex").read_text(encoding="utf-8")
    numbers = json.loads((study.folder / "numbers.json").read_text())["numbers"]
    assert study.number("first.ddp.n2.speedup") == numbers["first.ddp.strong.n2.speedup"]["shown"]["value"]
    with pytest.raises(ss.UserError, match="latex_table: 'none'; must be one of summary"):
        study.latex_table("none")  # type: ignore[arg-type]
    with pytest.raises(ss.UserError, match=r"first\.ddp\.n2\.sped: no such number in .*similar keys are"):
        study.number("first.ddp.n2.sped")


def test_damaged_results_are_refused_by_the_name_of_the_file(edited: Checkout) -> None:
    folder = edited.root / "results/tiny"
    study = ss.read(folder)
    summary = folder / "comprehensive_summary.csv"
    summary.write_text(summary.read_text().replace("first", "fierst"))
    with pytest.raises(ss.UserError, match=r"comprehensive_summary\.csv: changed since it was written"):
        _ = study.points
    (folder / "plan.json").write_text("{")
    with pytest.raises(ss.UserError, match=r"plan\.json: not valid JSON"):
        ss.read(folder)
    with pytest.raises(ss.UserError, match="no such folder; name the results of a study"):
        ss.read(folder / "elsewhere")
    with pytest.raises(ss.UserError, match="folder: 3; must be a path"):
        ss.read(3)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def environment(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A new environment with the wheel and its extra `analysis`, from the package index. Returns its Python."""
    folder = tmp_path_factory.mktemp("environment")
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    python = folder / "bin/python"
    asked = f"scalestudy[analysis] @ {wheel.as_uri()}"
    done = subprocess.run([python, "-m", "pip", "install", "--quiet", asked], capture_output=True, text=True)
    if done.returncode != 0:
        pytest.skip(f"the packages could not be installed: {done.stderr.strip().splitlines()[-1]}")
    return python


def program(python: Path, text: str, place: Path) -> str:
    """What a program prints in an environment, in a folder."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    done = subprocess.run([python, "-c", text], cwd=place, env=kept, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
def test_an_environment_without_torch_and_snakemake(environment: Path, finished: Checkout, tmp_path: Path) -> None:
    example = ROOT / "docs/audit.md"
    lines = example.read_text(encoding="utf-8").splitlines()
    line = 1 + next(place for place, words in enumerate(lines) if words.strip().startswith("| GPUs |"))
    text = (
        "import importlib.util as found, sys\n"
        "for name in ('torch', 'snakemake', 'click', 'matplotlib', 'psutil'):\n"
        "    assert found.find_spec(name) is None, name\n"
        "import scalestudy as ss\n"
        f"study = ss.read({str(finished.root / 'results/tiny')!r})\n"
        "print(len(study.points), len(study.runs), [str(one.verdict) for one in study.diagnose()])\n"
        "print(study.number('first.ddp.n2.speedup'))\n"
        "assert '\\\\begin{tab' in study.latex_table()\n"
        "found = ss.speedup([412.0, 409.5, 410.8], [2711.0, 2745.0, 2698.0], quantity='throughput')\n"
        "print(found, ss.efficiency(found, 8).verdict)\n"
        f"print(ss.audit({str(example)!r}, line={line}).remarks[0].sentence)\n"
    )
    said = program(environment, text, tmp_path).splitlines()
    assert said[0].startswith("4 4 [")
    assert said[1] == ss.read(finished.root / "results/tiny").number("first.ddp.n2.speedup")
    assert said[2] == "6.62 [6.49, 6.75] healthy"
    assert said[3].startswith("printed 6.7, but the throughputs give 6.37")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_a_typed_program_passes_mypy_strict(environment: Path, tmp_path: Path) -> None:
    (tmp_path / "user.py").write_text(USER)
    (tmp_path / "wrong.py").write_text(WRONG)

    def check(name: str) -> subprocess.CompletedProcess[str]:
        options = ["--strict", "--config-file=", "--python-executable", str(environment)]
        line = [sys.executable, "-m", "mypy", *options, name]
        kept = {key: value for key, value in os.environ.items() if key not in ("MYPYPATH", "PYTHONPATH")}
        return subprocess.run(line, cwd=tmp_path, env=kept, capture_output=True, text=True)

    done = check("user.py")
    assert done.returncode == 0, done.stdout + done.stderr
    said = check("wrong.py").stdout
    assert 'Argument "quantity" to "speedup" has incompatible type' in said
    assert 'Module has no attribute "no_such_name"' in said
