"""The package from its wheel: in an empty folder, and with no right to write beside its modules."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
import sysconfig
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml
from conftest import BIN, mlp_workload, planned
from own_scripts import SCRIPTS

UNPRIVILEGED = ("setpriv", "--bounding-set=-dac_override", "--inh-caps=-dac_override")
"""Prefix under which root, too, may write only where permissions allow it."""


@dataclass(frozen=True)
class Installed:
    """An environment with the wheel in it, and an empty folder to work in."""

    root: Path
    place: Path

    @property
    def bin(self) -> Path:
        return self.root / "venv/bin"

    @property
    def package(self) -> Path:
        (path,) = (self.root / "venv/lib").glob("python*/site-packages/scalestudy")
        return path

    def run(self, *command: str, status: int = 0) -> str:
        """What a command of the environment prints, started in the folder."""
        kept = {
            name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "XDG_", "MPL"))
        }
        path = [folder for folder in os.get_exec_path() if Path(folder) != BIN]
        own = {"HOME": str(self.root / "home"), "TMPDIR": str(self.root / "tmp"), "PATH": os.pathsep.join(path)}
        result = subprocess.run(
            [*_unprivileged(), str(self.bin / command[0]), *command[1:]],
            cwd=self.place,
            env=kept | own,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        assert result.returncode == status, f"{' '.join(command)} ended with {result.returncode}:\n{result.stdout}"
        return result.stdout

    def written(self, folder: str) -> set[str]:
        """Files under a folder of the root."""
        top = self.root / folder
        return {path.relative_to(top).as_posix() for path in top.rglob("*") if not path.is_dir()}

    def state(self) -> dict[str, tuple[int, int]]:
        """Time and size of every file of the environment."""
        found = {path: path.lstat() for path in (self.root / "venv").rglob("*") if not path.is_dir()}
        return {str(path): (seen.st_mtime_ns, seen.st_size) for path, seen in found.items()}


def _unprivileged() -> tuple[str, ...]:
    if os.geteuid() != 0 or not shutil.which("setpriv"):
        return ()
    return UNPRIVILEGED if subprocess.run([*UNPRIVILEGED, "true"], capture_output=True).returncode == 0 else ()


@pytest.fixture
def installed(wheel: Path, tmp_path: Path) -> Installed:
    """The wheel with its extra, installed beside the dependencies of the environment that runs the tests."""
    made = Installed(tmp_path, tmp_path / "an empty folder")
    for folder in (made.place, tmp_path / "home", tmp_path / "tmp"):
        folder.mkdir()
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(tmp_path / "venv")], check=True)
    (site,) = (tmp_path / "venv/lib").glob("python*/site-packages")
    others = {sysconfig.get_path("purelib"), *(path for path in sys.path if path.endswith("-packages"))}
    (site / "others.pth").write_text("\n".join(sorted(others)) + "\n")  # their own .pth files are not read
    install = ["--python", str(made.bin / "python"), "install", "--quiet", "--no-index"]
    asked = f"scalestudy[study] @ {wheel.as_uri()}"
    done = subprocess.run([sys.executable, "-m", "pip", *install, asked], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    for path in (made.package, *made.package.rglob("*")):
        path.chmod(stat.S_IMODE(path.stat().st_mode) & 0o555)
    return made


def small_study() -> dict:
    """Two runs of a second or two."""
    return {
        "study": "small",
        "repeats": 1,
        "time_limit_min": 2,
        "scales": ["1x2"],
        "variants": {"single": {"strategy": "single"}, "ddp": {"strategy": "ddp"}},
        "workloads": {"mlp": mlp_workload(scaling=["strong"])},
        "host": {"device": "cpu"},
        "report": {"overhead_reference": False},
    }


def test_a_study_runs_from_the_wheel_and_writes_its_results_only(installed: Installed) -> None:
    before = installed.state()
    where = installed.run("python", "-c", "import scalestudy; print(scalestudy.__file__)")
    assert Path(where.strip()) == installed.package / "__init__.py"
    (installed.place / "small.yaml").write_text(yaml.safe_dump(small_study()))
    said = installed.run("scalestudy", "run", "--study", "small.yaml")
    assert "study small: 2 runs (2 ok)" in said
    assert "study small: 2 runs (2 ok)" in installed.run("scalestudy", "summary")
    results = installed.place / "results/small"
    for name in ("report.html", "performance_report.txt", "numbers.json", "figures/mlp_throughput.pdf"):
        assert (results / name).stat().st_size > 0
    artifact = (results / "artifact_description.tex").read_text(encoding="utf-8")
    assert "scalestudy run -{}-{}study" in artifact.replace("\\penalty0\\ ", " ")
    assert "make env" not in artifact
    assert planned(installed.run("scalestudy", "run", "--study", "small.yaml", "-n")) == {}

    assert {path.name for path in installed.place.iterdir()} == {"small.yaml", "results", ".snakemake"}
    assert {path.name for path in installed.root.iterdir()} == {"venv", "home", "tmp", "an empty folder"}
    assert {name.split("/")[0] for name in installed.written("home")} <= {".cache"}
    assert {name for name in installed.written("tmp") if not name.startswith("torch")} == set()
    assert installed.state() == before


@pytest.mark.slow
def test_studies_are_written_planned_and_found_in_an_empty_folder(installed: Installed) -> None:
    assert "name a study with --study FILE" in installed.run("scalestudy", "plan", status=2)
    assert "my-study.yaml: " in installed.run("scalestudy", "new", "--hidden-dim", "64", "--out", "my-study.yaml")
    assert "study my-study: " in installed.run("scalestudy", "plan", "--study", "my-study.yaml")
    ready = ("config/studies/digits.yaml", "config/studies/cpu-small/digits.yaml")
    assert "study digits-small: " in installed.run("scalestudy", "plan", "--study", *ready)
    dry = installed.run("scalestudy", "run", "--study", *ready, "-n")
    assert planned(dry)["train_baseline"] > 0
    slurm = installed.run("scalestudy", "run", "--study", *ready, "--profile", "slurm", "-n")
    assert planned(slurm) == planned(dry)
    assert "scalestudy/_project/profiles/slurm" in slurm


@pytest.mark.slow
def test_a_script_of_one_s_own_runs_from_the_wheel_by_one_command(installed: Installed) -> None:
    before = installed.state()
    shutil.copy(SCRIPTS / "ddp_tutorial.py", installed.place / "train me.py")
    (installed.place / "_count.py").write_text("def count(*_, **__):\n    pass\n")
    options = ["--scales", "1x2", "--batch-size", "16", "--scaling", "weak", "--repeats", "1", "--device", "cpu"]
    script = ["train me.py", "--epochs", "100", "--batch-size", "{batch_per_rank}"]
    refused = installed.run("scalestudy", "run", *options, "--", *script, status=2)
    assert "checkpoint.pt: each run writes there" in refused
    said = installed.run("scalestudy", "run", *options, "--allow-shared", "--", *script)
    assert "on one process: 16 samples per step" in said
    assert "on 2 ranks: 16 samples per step on each" in said
    assert "study train-me: 2 runs (2 ok)" in said
    study = yaml.safe_load((installed.place / "train-me.yaml").read_text())
    assert len((installed.place / "train-me.yaml").read_text().splitlines()) <= 13
    assert study["workloads"]["train-me"]["command"] == "'train me.py' --epochs 100 --batch-size {batch_per_rank}"
    assert (installed.place / "results/train-me/report.html").stat().st_size > 0
    written = {path.name for path in installed.place.iterdir()} - {"__pycache__"}
    of_the_script = {"checkpoint.pt"}
    assert written - of_the_script == {"train me.py", "_count.py", "train-me.yaml", "results", ".snakemake"}
    assert installed.state() == before


@pytest.mark.slow
def test_another_workflow_takes_the_rules_of_the_wheel(installed: Installed) -> None:
    (installed.place / "Snakefile").write_text(
        "import scalestudy\n\n"
        'configfile: "small.yaml"\n\n'
        "rule all:\n"
        '    input: "answer.csv"\n\n'
        "module scaling:\n"
        "    snakefile: scalestudy.snakefile()\n"
        '    config: config["scaling"]\n'
        '    prefix: "measured"\n\n'
        "use rule * from scaling as scaling_*\n\n"
        "rule answer:\n"
        "    input: rules.scaling_aggregate_runs.output.summary\n"
        '    output: "answer.csv"\n'
        '    shell: "cut -d , -f 1-3 {input} > {output}"\n'
    )
    (installed.place / "small.yaml").write_text(yaml.safe_dump({"scaling": small_study()}))
    before = installed.state()
    installed.run("python", "-m", "snakemake", "--cores", "2", "--resources", "slot=1")
    assert len((installed.place / "answer.csv").read_text().splitlines()) == 3
    expected = {"Snakefile", "small.yaml", "answer.csv", "measured", ".snakemake"}
    assert {path.name for path in installed.place.iterdir()} == expected
    assert installed.state() == before
