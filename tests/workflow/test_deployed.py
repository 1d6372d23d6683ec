"""The workflow as a user of the catalog gets it: deployed by snakedeploy from a git remote, and run.

The remote is a bare clone of this repository. Git uses it in place of github.com. So snakedeploy and Snakemake
run the code that they run for a repository on GitHub: neither takes the rules from a checkout. snakedeploy (0.17)
refuses file:// URLs, and for a path it writes a Snakefile that names itself.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml
from conftest import BIN, ROOT, mlp_workload

TAG = "v9.9.9"


@dataclass(frozen=True)
class Deployment:
    """A folder that snakedeploy has filled, and the environment in which github.com is the local remote."""

    folder: Path
    environment: dict[str, str]

    def snakemake(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run Snakemake in the folder; stdout and stderr are merged."""
        return run([str(BIN / "snakemake"), *arguments], self.folder, self.environment)


def run(command: list[str], folder: Path, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """Run a command in a folder; stdout and stderr are merged."""
    return subprocess.run(
        command,
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


@pytest.fixture(scope="module")
def snakedeploy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The newest snakedeploy in its own environment, as a new user gets it. The project does not need it."""
    folder = tmp_path_factory.mktemp("snakedeploy")
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    done = run([str(folder / "bin/pip"), "install", "snakedeploy"], folder, dict(os.environ))
    if done.returncode != 0:
        pytest.skip(f"snakedeploy could not be installed: {done.stdout.strip().splitlines()[-1]}")
    return folder / "bin/snakedeploy"


@pytest.fixture(scope="module")
def remote(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in place of github.com, with the working tree as a tagged release of scalestudy/scalestudy."""
    if not (ROOT / ".git").exists():
        pytest.skip("not a checkout of git")
    folder = tmp_path_factory.mktemp("remote")
    clone = folder / "work"
    subprocess.run(["git", "clone", "--quiet", "--depth", "1", f"file://{ROOT}", str(clone)], check=True)
    for name in ("workflow", "rules", "config", "profiles", "report"):  # with what is not committed yet
        shutil.rmtree(clone / name)
        shutil.copytree(ROOT / name, clone / name, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
    author = ("-c", "user.name=a", "-c", "user.email=a@localhost")
    subprocess.run(["git", "add", "--all"], cwd=clone, check=True)
    subprocess.run(["git", *author, "commit", "--quiet", "--allow-empty", "-m", "release"], cwd=clone, check=True)
    subprocess.run(["git", "tag", TAG], cwd=clone, check=True)
    bare = folder / "github/scalestudy/scalestudy.git"
    subprocess.run(["git", "clone", "--quiet", "--bare", str(clone), str(bare)], check=True)
    return folder / "github"


@pytest.fixture
def deployed(snakedeploy: Path, remote: Path, tmp_path: Path) -> Deployment:
    """The release in an empty folder, by the command of the catalog's page."""
    folder = tmp_path / "study"
    folder.mkdir()
    environment = os.environ | {
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": f"url.file://{remote}/.insteadOf",
        "GIT_CONFIG_VALUE_0": "https://github.com/",
        "PYTHONPATH": str(ROOT / "workflow"),
        "XDG_CACHE_HOME": str(tmp_path / "cache"),
    }
    repository = "https://github.com/scalestudy/scalestudy"
    done = run([str(snakedeploy), "deploy-workflow", repository, ".", "--tag", TAG], folder, environment)
    assert done.returncode == 0, done.stdout
    return Deployment(folder, environment)


@pytest.mark.slow
def test_a_deployed_workflow_plans_the_default_study(deployed: Deployment) -> None:
    text = (deployed.folder / "workflow/Snakefile").read_text(encoding="utf-8")
    assert f'github("scalestudy/scalestudy", path="workflow/Snakefile", tag="{TAG}")' in text
    done = deployed.snakemake("--dry-run")
    assert done.returncode == 0, done.stdout
    assert "train_distributed" in done.stdout and "results/digits/report.html" in done.stdout


@pytest.mark.slow
def test_a_deployed_workflow_runs_the_study_in_its_config(deployed: Deployment) -> None:
    study = {
        "study": "deployed",
        "repeats": 1,
        "time_limit_min": 2,
        "scales": ["1x2"],
        "variants": {"single": {"strategy": "single"}, "ddp": {"strategy": "ddp"}},
        "workloads": {"mlp": mlp_workload(epochs=1, scaling=["strong"])},
        "host": {"device": "cpu"},
        "report": {"overhead_reference": False},
    }
    (deployed.folder / "config/config.yaml").write_text(yaml.safe_dump(study), encoding="utf-8")
    done = deployed.snakemake()
    assert done.returncode == 0, done.stdout
    results = deployed.folder / "results/deployed"
    assert len(list((results / "runs").glob("*/run.json"))) == 2
    for name in ("report.html", "performance_report.txt", "tables/summary_table.tex", "numbers.json"):
        assert (results / name).stat().st_size > 0, name
    assert "Nothing to be done" in deployed.snakemake("--dry-run").stdout
    packed = deployed.snakemake("--report", "report.zip")
    assert packed.returncode == 0 and (deployed.folder / "report.zip").exists(), packed.stdout


@pytest.mark.slow
def test_without_the_package_the_error_is_what_to_install(deployed: Deployment, tmp_path: Path) -> None:
    hidden = tmp_path / "hidden/scalestudy"
    hidden.mkdir(parents=True)
    lacking = "raise ModuleNotFoundError(\"No module named 'scalestudy'\", name='scalestudy')\n"
    (hidden / "__init__.py").write_text(lacking, encoding="utf-8")
    environment = deployed.environment | {"PYTHONPATH": str(hidden.parent)}
    done = run([str(BIN / "snakemake"), "--dry-run"], deployed.folder, environment)
    assert done.returncode == 1
    assert "-m pip install torch 'scalestudy[study]'" in done.stdout
    assert "ModuleNotFoundError" not in done.stdout
