"""The conda environments follow pyproject.toml and the pins. No solver is called: it needs conda's channels."""

from __future__ import annotations

import re
import tomllib

import yaml
from conftest import ROOT
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
PYPI = {"matplotlib-base": "matplotlib", "snakemake-minimal": "snakemake", "pytorch": "torch"}
"""Names on conda-forge and bioconda that differ from those on PyPI."""
LINE = re.compile(r"(?P<name>[a-z0-9-]+)(?: (?P<bound>[<>=][^ ]*))?")


def specs(path: str) -> dict[str, str]:
    """Name on PyPI -> bound, of the packages that an environment file takes from conda."""
    lines = yaml.safe_load((ROOT / path).read_text(encoding="utf-8"))["dependencies"]
    found = [LINE.fullmatch(line) for line in lines if isinstance(line, str)]
    assert all(found), lines
    return {PYPI.get(match["name"], match["name"]): match["bound"] or "" for match in found if match}


def declared(*extras: str) -> dict[str, str]:
    """Name -> bound, as pyproject.toml has them."""
    texts = [text for extra in extras for text in PROJECT["optional-dependencies"][extra]]
    requirements = [Requirement(text) for text in texts]
    return {canonicalize_name(requirement.name): str(requirement.specifier) for requirement in requirements}


def pins(*files: str) -> dict[str, str]:
    """Name -> exact version."""
    texts = [(ROOT / "constraints" / file).read_text(encoding="utf-8") for file in files]
    found = re.findall(r"^([\w-]+)==([^\s+]+)", "\n".join(texts), flags=re.M)
    return {canonicalize_name(name): version for name, version in found}


def test_environment_yaml_has_the_bounds_of_pyproject() -> None:
    given = specs("environment.yaml")
    (lowest_torch,) = re.findall(
        r"^torch==(\d+\.\d+)", (ROOT / "constraints/lowest.txt").read_text(encoding="utf-8"), flags=re.M
    )
    own = {"python": ">=3.11", "pip": "", "pygments": "", "torch": f">={lowest_torch}"}
    assert given == declared("study", "slurm") | own


def test_environment_yaml_installs_the_package_without_its_own_dependencies() -> None:
    """What pip would fetch could replace what conda has installed; the package by itself needs nothing."""
    content = yaml.safe_load((ROOT / "environment.yaml").read_text(encoding="utf-8"))
    assert content["dependencies"][-1] == {"pip": ["--editable ."]}
    assert PROJECT["dependencies"] == []
    assert content["channels"] == ["conda-forge", "bioconda", "nodefaults"]


def test_the_environment_of_the_rules_has_the_pinned_versions() -> None:
    given = specs("workflow/envs/scalestudy.yaml")
    pinned = pins("base.txt", "torch.txt")
    for name, bound in given.items():
        if name != "python":
            version = bound.removeprefix("=")
            assert f"{pinned[name]}.".startswith(f"{version}."), f"{name}: {bound}, pinned {pinned[name]}"


def test_the_environment_of_the_rules_has_what_the_rules_import() -> None:
    run_by_snakemake = {"rich", "snakemake"}  # the screen, and the program that reads the rules
    assert set(declared("study")) - run_by_snakemake <= set(specs("workflow/envs/scalestudy.yaml"))
