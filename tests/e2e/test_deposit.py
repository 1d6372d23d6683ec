"""A study that was really run, given to others: exports, archive, and its documents rebuilt."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml
from conftest import Checkout
from scalestudy.cli.main import main
from scalestudy.deposit.layout import SUMS
from scalestudy.deposit.private import refuse_secrets
from scalestudy.errors import UserError
from scalestudy.publish.typeset import missing_tex
from scalestudy.record.tables import read_observation

WHO = (
    "--licence",
    "cc-by-4.0",
    "--creator",
    "Doe, Jane; Some University; 0000-0002-1825-0097",
    "--creator",
    "A Lab",
)


@pytest.fixture(scope="module")
def results(finished: Checkout, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the results, which a description is written into."""
    folder = tmp_path_factory.mktemp("study") / "tiny"
    shutil.copytree(finished.root / "results/tiny", folder)
    return folder


@pytest.fixture(scope="module")
def archive(results: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("deposit") / "tiny.zip"
    assert main(["deposit", "--results", str(results), *WHO, "--to", str(target)]) == 0
    return target


def content(archive: Path, name: str) -> bytes:
    with zipfile.ZipFile(archive) as opened:
        return opened.read(f"tiny/{name}")


def changed(archive: Path, target: Path, name: str, change: Callable[[bytes], bytes]) -> Path:
    """A copy of an archive with another file, whose checksum is right."""
    with zipfile.ZipFile(archive) as old, zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as new:
        before = old.read(f"tiny/{name}")
        after = change(before)
        assert before != after
        digests = [hashlib.sha256(one).hexdigest().encode() for one in (before, after)]
        for entry in old.infolist():
            given = old.read(entry)
            if entry.filename == f"tiny/{name}":
                given = after
            if entry.filename == f"tiny/{SUMS}":
                given = given.replace(*digests)
            new.writestr(entry, given)
    return target


@pytest.mark.slow  # documents that are made again are compared byte for byte below
def test_equal_studies_have_equal_archives(archive: Path, results: Path, tmp_path: Path) -> None:
    """The place, the time and the order of files have no influence."""
    other = tmp_path / "elsewhere"
    other.mkdir()
    for path in sorted(results.rglob("*"), reverse=True):
        if path.is_file():
            (other / path.relative_to(results)).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, other / path.relative_to(results))
    assert main(["deposit", "--results", str(other), *WHO, "--to", str(tmp_path / "again.zip")]) == 0
    assert (tmp_path / "again.zip").read_bytes() == archive.read_bytes()


def test_the_archive_has_what_others_need(archive: Path, results: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(archive) as opened:
        names = {entry.filename.removeprefix("tiny/") for entry in opened.infolist()}
        assert {(entry.date_time, entry.external_attr >> 16) for entry in opened.infolist()} == {
            ((1980, 1, 1, 0, 0, 0), 0o100644)
        }
        assert [entry.filename for entry in opened.infolist()] == sorted(opened.namelist())
        opened.extractall(tmp_path)
    runs = {path.name for path in (results / "runs").iterdir() if path.is_dir() and path.name != ".partial"}
    assert {name.split("/")[1] for name in names if name.startswith("runs/")} == runs
    assert {"README.md", "LICENSE", "CITATION.cff", ".zenodo.json", "study.yaml", "requirements.txt"} <= names
    assert not [name for name in names if name.startswith(("logs/", ".snakemake"))]
    checked = subprocess.run(["sha256sum", "-c", "--quiet", SUMS], cwd=tmp_path / "tiny", capture_output=True)
    assert checked.returncode == 0, checked.stderr
    assert len((tmp_path / "tiny" / SUMS).read_text().splitlines()) == len(names) - 1
    assert str(Path.home()) not in content(archive, "README.md").decode()
    assert "have the names of hosts." in content(archive, "README.md").decode()
    zenodo = json.loads(content(archive, ".zenodo.json"))
    assert zenodo["license"] == "cc-by-4.0"
    assert zenodo["creators"][0] == {
        "name": "Doe, Jane",
        "affiliation": "Some University",
        "orcid": "0000-0002-1825-0097",
    }
    citation = yaml.safe_load(content(archive, "CITATION.cff"))
    assert citation["authors"][1] == {"name": "A Lab"}
    locked = content(archive, "requirements.txt").decode()
    assert f"\nmatplotlib=={__import__('matplotlib').__version__}\n" in locked
    assert not re.search(r"^torch==", locked, flags=re.M), "documents are made without it"


def test_the_study_of_the_archive_plans_the_same_runs(archive: Path, tmp_path: Path) -> None:
    (tmp_path / "study.yaml").write_bytes(content(archive, "study.yaml"))
    assert main(["stage", "plan", "--study", str(tmp_path / "study.yaml"), "--results", str(tmp_path)]) == 0
    assert (tmp_path / "plan.json").read_bytes() == content(archive, "plan.json")


def test_every_document_is_made_again_without_torch_and_snakemake(archive: Path, tmp_path: Path) -> None:
    refuse = (
        "import sys\n"
        "class Missing:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name.partition('.')[0] in ('torch', 'snakemake'):\n"
        "            raise ModuleNotFoundError(name)\n"
        "sys.meta_path.insert(0, Missing())\n"
    )
    code = f"{refuse}from scalestudy.cli.main import main\nsys.exit(main(sys.argv[1:]))"
    ended = subprocess.run(
        [sys.executable, "-c", code, "report", str(archive)], cwd=tmp_path, capture_output=True, text=True
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    made = re.search(r"(\d+) documents rebuilt, (\d+) equal byte for byte", ended.stdout)
    assert made and made[1] == made[2] and int(made[1]) > 60
    assert re.search(r"numbers.json: \d+ numbers, all equal", ended.stdout)
    rebuilt = tmp_path / "tiny-rebuilt"
    assert (rebuilt / "report.html").read_bytes() == content(archive, "report.html")
    assert (rebuilt / "report.pdf").exists() == (not missing_tex())


@pytest.mark.slow
def test_another_number_is_named(archive: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """As from a version that computes a number differently, and one that only writes it differently."""
    book = json.loads(content(archive, "numbers.json"))
    key = next(key for key in book["numbers"] if key.endswith(".speedup"))
    book["numbers"][key]["value"] *= 1.001
    other = changed(archive, tmp_path / "a.zip", "numbers.json", lambda _: json.dumps(book, indent=1).encode())
    assert main(["report", str(other), "--to", str(tmp_path / "a")]) == 1
    told = capsys.readouterr().out
    assert "not equal: numbers.json" in told
    assert f"numbers.json: 1 of {len(book['numbers'])} numbers differ\n  {key}: was " in told
    same = changed(archive, tmp_path / "b.zip", "report.html", lambda page: page + b"<!-- another version -->")
    assert main(["report", str(same), "--to", str(tmp_path / "b")]) == 1
    told = capsys.readouterr().out
    assert "not equal: report.html" in told
    assert f"numbers.json: {len(book['numbers'])} numbers, all equal" in told


def test_a_changed_measurement_is_refused(
    archive: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Also if its checksum in SHA256SUMS is right: a record has one of its own."""
    with zipfile.ZipFile(archive) as opened:
        name = next(name for name in sorted(opened.namelist()) if name.endswith("epochs.csv") and "/runs/" in name)
    name = name.removeprefix("tiny/")
    other = changed(archive, tmp_path / "a.zip", name, lambda table: table.replace(b"1,", b"2,", 1))
    assert main(["report", str(other), "--to", str(tmp_path / "a")]) == 2
    assert "differs from what was recorded" in capsys.readouterr().err
    assert not (tmp_path / "a").exists()


@pytest.mark.slow
def test_a_script_is_published_only_if_it_is_named_and_has_no_secret(
    results: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    script = tmp_path / "train.py"
    script.write_text("print('a training')\n")
    target = tmp_path / "tiny.zip"
    words = ["deposit", "--results", str(results), *WHO, "--to", str(target), "--script", str(script)]
    assert main(words) == 0
    assert content(target, "scripts/train.py") == script.read_bytes()
    assert "in `scripts/`" in content(target, "README.md").decode()
    assert main(["report", str(target), "--to", str(tmp_path / "fresh")]) == 0
    assert (tmp_path / "fresh/scripts/train.py").read_bytes() == script.read_bytes()
    monkeypatch.setenv("WANDB_API_KEY", "0123456789abcdef")
    script.write_text("key = '0123456789abcdef'\n")
    words[words.index(str(target))] = str(tmp_path / "other.zip")
    assert main(words) == 2
    assert "scripts/train.py: contains the value of the variable WANDB_API_KEY" in capsys.readouterr().err
    script.write_text(f"key = 'hf_{'a' * 34}'\n")
    assert main(words) == 2
    assert "scripts/train.py: contains a token of Hugging Face" in capsys.readouterr().err
    assert not (tmp_path / "other.zip").exists()


def test_a_secret_of_the_study_is_found_where_its_variable_is_not_set(tmp_path: Path) -> None:
    """`environment` of a study is in plan.json and in each record."""
    (tmp_path / "plan.json").write_text('{"WANDB_API_KEY": "0123456789abcdef"}')
    with pytest.raises(UserError, match=r"plan\.json: contains the value of the variable WANDB_API_KEY"):
        refuse_secrets(tmp_path, ["plan.json"], {"WANDB_API_KEY": "0123456789abcdef"})
    refuse_secrets(tmp_path, ["plan.json"], {"OMP_NUM_THREADS": "0123456789abcdef"})


def test_what_is_there_is_kept(archive: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "mine").write_text("x")
    assert main(["report", str(archive), "--to", str(tmp_path)]) == 2
    assert "exists and is not empty" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["--creator", "A"], "Missing option '--licence'"),
        (["--licence", "MIT"], "Missing option '--creator'"),
        (["--licence", "free", "--creator", "A"], "not the identifier of one licence"),
        (["--licence", "MIT OR Apache-2.0", "--creator", "A"], "not the identifier of one licence"),
        (["--licence", "MIT", "--creator", "A; B; 0000-0002-1825-0098"], "its last digit would be 7"),
        (["--licence", "MIT", "--creator", "a" * 501], "...: at most 500 printable characters, on one line"),
        (["--licence", "MIT", "--creator", "A", "--title", "a" * 501], "...: at most 500 printable characters"),
        (["--licence", "MIT", "--creator", "; B"], "write 'Family, Given; affiliation; ORCID'"),
    ],
)
def test_nothing_is_guessed(
    given: list[str], said: str, results: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["deposit", "--results", str(results), *given, "--to", str(tmp_path / "a.zip")]) == 2
    assert said in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("secret", "said"),
    [
        ("sk-this-is-the-value", "the value of the variable SERVICE_API_KEY"),
        (f"hf_{'a1B2' * 9}", "a token of Hugging Face"),
        ("-----BEGIN OPENSSH PRIVATE KEY-----", "a private key"),
        ("https://jane:pass4word@example.org/x", "a password in an address"),
    ],
)
def test_a_secret_is_not_published(
    secret: str,
    said: str,
    results: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The command that runs a study is the only text of a deposit that no record vouches for."""
    monkeypatch.setenv("SERVICE_API_KEY", "sk-this-is-the-value")
    shutil.copytree(results, tmp_path / "tiny")
    (tmp_path / "tiny/command.txt").write_text(f"snakemake --config x={secret}\n")
    assert main(["deposit", "--results", str(tmp_path / "tiny"), *WHO, "--to", str(tmp_path / "a.zip")]) == 2
    assert f"command.txt: contains {said}" in capsys.readouterr().err
    assert not (tmp_path / "a.zip").exists()


def test_a_link_to_a_file_outside_is_not_published(
    results: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A results folder of a stranger could contain one, to a private file of the user."""
    shutil.copytree(results, tmp_path / "tiny")
    (tmp_path / "tiny/decisions").mkdir(exist_ok=True)
    (tmp_path / "private").write_text("mine")
    (tmp_path / "tiny/decisions/after_9.json").symlink_to(tmp_path / "private")
    assert main(["deposit", "--results", str(tmp_path / "tiny"), *WHO, "--to", str(tmp_path / "a.zip")]) == 2
    assert "is a link to a file outside its folder" in capsys.readouterr().err
    assert not (tmp_path / "a.zip").exists()


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_tables_have_types_and_units(form: str, results: Path, tmp_path: Path) -> None:
    assert main(["export", "--results", str(results), "--format", form, "--to", str(tmp_path)]) == 0
    before = pd.read_csv(results / "runs.csv").set_index("run_id")
    if form == "parquet":
        from pyarrow import parquet

        table = parquet.read_table(tmp_path / "runs.parquet")
        assert table.schema.field("step_time_s").metadata[b"unit"] == b"s"
        assert table.schema.field("peak_resident_gib").metadata[b"unit"] == b"GiB"
        assert {str(table.schema.field(name).type) for name in ("world_size", "steps")} == {"int64"}
        assert {str(table.schema.field(name).type) for name in ("dirty", "compile")} == {"bool"}
        assert all(field.metadata[b"description"] for field in table.schema)
        after = table.to_pandas()
    else:
        after = pd.read_csv(tmp_path / "runs.csv", dtype={"world_size": str})
        assert set(after["world_size"]) == {"1", "2"}
    schema = json.loads((tmp_path / "datapackage.json").read_text())["resources"][0]["schema"]
    assert {one["name"]: one.get("unit") for one in schema["fields"]}["step_time_s"] == "s"
    for column in ("step_time_s", "throughput_samples_per_s", "backward_time_s"):
        assert after.set_index("run_id")[column].tolist() == pytest.approx(before[column].tolist(), rel=1e-15)


@pytest.mark.parametrize(
    "of", ["parquet", "deposit", *(pytest.param(of, marks=pytest.mark.slow) for of in ("csv", "datapackage"))]
)
def test_the_descriptions_are_valid(of: str, results: Path, archive: Path, tmp_path: Path) -> None:
    """By the packages of both formats, which read every table and check its types, keys and checksums."""
    frictionless = pytest.importorskip("frictionless", reason="pip install frictionless")
    mlcroissant = pytest.importorskip("mlcroissant", reason="pip install mlcroissant")
    if of == "deposit":
        with zipfile.ZipFile(archive) as opened:
            opened.extractall(tmp_path)
        folder = tmp_path / "tiny"
    else:
        folder = results if of == "datapackage" else tmp_path
        to = [] if of == "datapackage" else ["--to", str(folder)]
        assert main(["export", "--results", str(results), "--format", of, *to]) == 0
    found = frictionless.validate(str(folder / "datapackage.json"))
    assert found.valid, found.flatten(["name", "fieldName", "message"])[:5]
    described = json.loads((folder / "datapackage.json").read_text())
    assert len(found.tasks) == len(described["resources"]) > (1 if of in ("csv", "parquet") else 30)
    dataset = mlcroissant.Dataset(str(folder / "croissant.json"))
    assert not dataset.metadata.ctx.issues.errors
    for records in dataset.metadata.record_sets:
        source = folder / json.loads((folder / "croissant.json").read_text())["recordSet"][0]["field"][0][
            "source"
        ]["fileObject"]["@id"].replace("comprehensive_summary", records.id).replace("runs.", f"{records.id}.")
        rows = pd.read_parquet(source) if source.suffix == ".parquet" else pd.read_csv(source)
        assert len(list(dataset.records(records.id))) == len(rows)
    if of == "deposit":
        assert dataset.metadata.license == ["https://spdx.org/licenses/CC-BY-4.0.html"]


def test_mlflow_and_back(results: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("mlflow", reason="pip install mlflow-skinny")
    store = tmp_path / "mlruns"
    assert main(["export", "--results", str(results), "--format", "mlflow", "--to", str(store)]) == 0
    assert "4 runs in experiment tiny" in capsys.readouterr().out
    assert main(["export", "--results", str(results), "--format", "mlflow", "--to", str(store)]) == 0
    assert "0 runs in experiment tiny; 4 runs were there before" in capsys.readouterr().out
    from scalestudy.importers.logs.formats import read_log
    from scalestudy.importers.logs.model import Given

    logs = read_log(store, Given(), name=None)
    found = {tuple(np.round(log.columns["step_time_s"], 9)): log for log in logs}
    for run in sorted((results / "runs").glob("*/run.json")):
        observation = read_observation(run.parent)
        log = found[tuple(np.round(step_times(observation), 9))]
        assert log.facts.devices == observation.record.spec.world_size
        assert log.facts.global_batch == observation.record.spec.global_batch
        assert log.columns["clock_s"][-1] - log.columns["clock_s"][0] == pytest.approx(
            step_times(observation)[1:].sum(), abs=2e-3
        )


def test_tensorboard_and_back(results: Path, tmp_path: Path) -> None:
    pytest.importorskip("tensorboard", reason="pip install tensorboard")
    folder = tmp_path / "events"
    assert main(["export", "--results", str(results), "--format", "tensorboard", "--to", str(folder)]) == 0
    from scalestudy.importers.logs.formats import read_log
    from scalestudy.importers.logs.model import Given

    for run in sorted((results / "runs").glob("*/run.json")):
        observation = read_observation(run.parent)
        (path,) = (folder / run.parent.name).iterdir()
        (log,) = read_log(path, Given(devices=observation.record.spec.world_size), name=None)
        assert log.columns["step_time_s"].tolist() == pytest.approx(step_times(observation).tolist(), rel=1e-6)
        assert log.columns["loss"].tolist() == pytest.approx(losses(observation).tolist(), rel=1e-6)


@pytest.mark.slow
def test_an_imported_study_is_exported_deposited_and_rebuilt(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its records have no date and no machine. Exported and imported again, it has the same speedups."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(1)
    for devices, time_s in ((1, 1.0), (2, 0.55), (4, 0.3)):
        for repeat in (1, 2):
            times_s = time_s * rng.uniform(0.98, 1.02, 60)
            rows = "".join(f"{step},{time_s:.6f},{5 - step / 100}\n" for step, time_s in enumerate(times_s))
            Path(f"g{devices}-r{repeat}.csv").write_text(f"step,step_time_s,loss\n{rows}")
    devices = [word for number in (1, 2, 4) for word in ("--gpus", f"g{number}-*={number}")]
    logs = sorted(path.name for path in tmp_path.glob("*.csv"))
    assert main(["import", *logs, "--study", "gpt", *devices, "--batch", "64", "--no-documents"]) == 0
    assert main(["deposit", "--results", "results/gpt", "--licence", "CC0-1.0", "--creator", "A"]) == 0
    assert main(["report", "gpt.zip"]) == 0
    readme = Path("gpt-rebuilt/README.md").read_text()
    assert "Imported with scalestudy" in readme
    assert "names of hosts" not in readme
    pytest.importorskip("mlflow", reason="pip install mlflow-skinny")
    assert main(["export", "--results", "results/gpt", "--format", "mlflow"]) == 0
    assert main(["import", "gpt-mlflow", "--study", "back", "--no-documents"]) == 0
    before, after = (pd.read_csv(f"results/{name}/comprehensive_summary.csv") for name in ("gpt", "back"))
    keys = ["world_size", "speedup", "speedup_low", "speedup_high", "step_time_s"]
    assert len(before) == 3
    for key in keys:
        assert after[key].tolist() == pytest.approx(before[key].tolist(), rel=1e-6, nan_ok=True), key


def step_times(observation: object) -> np.ndarray:
    """Step times of the training, by the record: the maximum over ranks."""
    steps = observation.steps
    training = steps[~steps["phase"].str.startswith("probe")]
    return training.groupby("step")["step_time_s"].max().to_numpy()


def losses(observation: object) -> np.ndarray:
    steps = observation.steps
    return steps[~steps["phase"].str.startswith("probe")].groupby("step")["loss"].mean().to_numpy()


@pytest.mark.parametrize(
    ("form", "package"),
    [("mlflow", "mlflow"), pytest.param("tensorboard", "tensorboard", marks=pytest.mark.slow)],
)
def test_a_missing_package_is_named_with_its_extra(form: str, package: str, results: Path, tmp_path: Path) -> None:
    code = (
        f"import sys\nsys.modules[{package!r}] = None\n"
        "from scalestudy.cli.main import main\nsys.exit(main(sys.argv[1:]))"
    )
    words = ["export", "--results", str(results), "--format", form, "--to", str(tmp_path / "x")]
    ended = subprocess.run([sys.executable, "-c", code, *words], capture_output=True, text=True, env=os.environ)
    assert ended.returncode == 2
    assert ended.stderr.splitlines() == [
        f"scalestudy export: --format {form}: the package {package} is missing; install it: pip install"
        f" 'scalestudy[{form}]'"
    ]
