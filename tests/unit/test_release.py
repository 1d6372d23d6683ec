"""The files of a release have the same version, title and licence, and the fields that archives need."""

from __future__ import annotations

import json
import re
import tomllib

import pytest
import yaml
from conftest import ROOT
from scalestudy import __version__

CITATION = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
ZENODO = json.loads((ROOT / ".zenodo.json").read_text(encoding="utf-8"))
CATALOG = yaml.safe_load((ROOT / ".snakemake-workflow-catalog.yml").read_text(encoding="utf-8"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def test_the_citation_has_the_version_of_the_package() -> None:
    assert CITATION["version"] == __version__


def test_the_changelog_has_the_version_or_its_predecessor_below_unreleased() -> None:
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    released = re.findall(r"^## (\d+\.\d+\.\d+)", changelog, flags=re.M)
    assert released and released[0] == __version__


def test_zenodo_and_the_citation_describe_one_work() -> None:
    assert ZENODO["title"] == CITATION["title"]
    assert ZENODO["keywords"] == CITATION["keywords"]
    assert ZENODO["license"] == CITATION["license"] == PROJECT["license"]
    assert [person["name"] for person in ZENODO["creators"]] == [person["name"] for person in CITATION["authors"]]


def test_zenodo_has_the_fields_that_a_deposit_needs() -> None:
    """Zenodo's deposit API refuses other values. The version and the date come from the release."""
    assert ZENODO["upload_type"] == "software"
    assert ZENODO["access_right"] == "open"
    assert len(ZENODO["description"]) > 100
    assert not {"version", "publication_date", "doi"} & set(ZENODO)
    for related in ZENODO["related_identifiers"]:
        assert related["relation"] == "isSupplementTo" and related["identifier"].startswith("https://")


def test_the_catalog_accepts_the_workflow() -> None:
    """What the Snakemake workflow catalog requires of a workflow with standardized usage."""
    usage = CATALOG["usage"]
    assert set(usage) == {"mandatory-flags", "software-stack-deployment", "report"}
    assert set(usage["mandatory-flags"]) == {"desc", "flags"}
    assert set(usage["software-stack-deployment"]) <= {"conda", "apptainer", "apptainer+conda"}
    assert usage["report"] is True
    for path in (
        "workflow/Snakefile",
        "config/README.md",
        "config/config.yaml",
        "workflow/schemas/config.schema.json",
    ):
        assert (ROOT / path).is_file(), path
    readme = (ROOT / "README.md").read_text(encoding="utf-8").lower()
    assert "snakemake" in readme and "workflow" in readme


@pytest.mark.parametrize("place", ["config/README.md", ".snakemake-workflow-catalog.yml"])
def test_whoever_finds_the_workflow_in_the_catalog_reads_what_to_install(place: str) -> None:
    assert "pip install torch 'scalestudy[study]'" in (ROOT / place).read_text(encoding="utf-8")
