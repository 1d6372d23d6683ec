"""The config that jobs read, and the command line that a study came from."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from scalestudy.chain import config as module
from scalestudy.chain.config import SUBMITTED, command_line, config_json, keep_config_for_jobs, read_config
from scalestudy.study.config.load import parse_study


def test_a_job_reads_what_it_was_submitted_with(
    content: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(SUBMITTED, "")
    study = parse_study(content, source="x")
    keep_config_for_jobs(study, tmp_path)
    edited = {"study": "edited", "pathvars": {"results": "x"}}
    assert read_config(edited, job=False) == {"study": "edited"}
    assert read_config(edited, job=True) == json.loads(config_json(study))
    monkeypatch.delenv(SUBMITTED)
    assert read_config(edited, job=True) == {"study": "edited"}


def test_jobs_of_two_studies_of_a_workflow_read_their_own(
    content: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(SUBMITTED, "")
    studies = {name: parse_study(content | {"study": name}, source="x") for name in ("one", "two")}
    for name in ("one", "two", "one"):
        keep_config_for_jobs(studies[name], tmp_path / name)
    for name, study in studies.items():
        edited = content | {"study": name, "repeats": 9}
        assert read_config(edited, job=True) == json.loads(config_json(study))
    assert read_config({"study": "three"}, job=True) == {"study": "three"}


def test_a_module_is_run_by_the_snakefile_of_the_other_workflow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "installed", lambda: True)
    assert command_line([], {"x": 1}, imported=True) == "snakemake --config x=1"


def test_two_versions_of_a_study_are_kept_apart(
    content: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(SUBMITTED, "")
    for repeats in (2, 3, 3):
        keep_config_for_jobs(parse_study(content | {"repeats": repeats}, source="x"), tmp_path)
    assert len(list((tmp_path / "submitted").glob("*.json"))) == 2


def test_the_command_line_is_one_that_can_be_pasted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert command_line([], {}) == "snakemake"
    files = [tmp_path / "a b.yaml", Path("/elsewhere/c.yaml")]
    changes = {"study": "x", "repeats": 3, "scales": ["1x2"]}
    assert command_line(files, changes) == (
        "snakemake --configfile 'a b.yaml' /elsewhere/c.yaml --config study=x repeats=3 'scales=[\"1x2\"]'"
    )


def test_without_a_checkout_the_command_line_is_ours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    package = tmp_path / "site-packages/scalestudy/_project"
    monkeypatch.setattr(module, "installed", lambda: True)
    monkeypatch.setattr(module, "root", lambda: package)
    assert command_line([], {}) == "scalestudy run"
    files = [package / "config/studies/digits.yaml", tmp_path / "mine.yaml"]
    assert command_line(files, {"repeats": 3}) == (
        "scalestudy run --study config/studies/digits.yaml mine.yaml --config repeats=3"
    )
