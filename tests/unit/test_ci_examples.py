"""The workflows for GitHub and GitLab: valid by the schemas of both, and the same in the documents."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import click
import pytest
import yaml
from conftest import ROOT
from scalestudy.cli.main import program

GITHUB = [ROOT / ".github/workflows/ci.yaml", ROOT / "examples/ci/github-guard.yaml"]
GITLAB = [ROOT / "examples/ci/gitlab-guard.yaml"]
SCHEMAS = [("github-workflows", path) for path in GITHUB] + [("gitlab-ci", path) for path in GITLAB]


def validation(schema: str, path: Path) -> subprocess.CompletedProcess[str]:
    """The result of check-jsonschema, which has the schemas in its package and needs no network."""
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", f"vendor.{schema}", str(path)]
    return subprocess.run(command, capture_output=True, text=True)


@pytest.mark.parametrize(("schema", "path"), SCHEMAS, ids=lambda value: getattr(value, "name", value))
def test_a_workflow_is_valid(schema: str, path: Path, tmp_path: Path) -> None:
    pytest.importorskip("check_jsonschema", reason="the extra `test` is not installed")
    done = validation(schema, path)
    assert done.returncode == 0, done.stdout + done.stderr
    wrong = tmp_path / path.name
    text = path.read_text(encoding="utf-8")
    wrong.write_text(text.replace("runs-on:", "runs_on:").replace("script:", "scripts:"), encoding="utf-8")
    assert validation(schema, wrong).returncode == 1, "the schema refuses nothing"


@pytest.mark.parametrize("path", [*GITHUB[1:], *GITLAB], ids=lambda path: path.name)
def test_the_page_of_guards_has_the_file(path: Path) -> None:
    page = (ROOT / "docs/guard.md").read_text(encoding="utf-8")
    assert f"```yaml\n{path.read_text(encoding='utf-8')}```" in page
    assert f"(../examples/ci/{path.name})" in page


@pytest.mark.parametrize("path", [*GITHUB[1:], *GITLAB], ids=lambda path: path.name)
def test_its_options_exist_and_its_shell_is_valid(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    (call,) = re.findall(r"scalestudy guard (.*?) -- train\.py", text.replace("\\\n", " "))
    guard = program.get_command(click.Context(program), "guard")
    assert guard is not None
    known = {name for option in guard.params for name in option.opts}
    assert set(re.findall(r"--[a-z-]+", call)) <= known
    for script in scripts(yaml.safe_load(text)):
        plain = re.sub(r"\$\{\{.*?\}\}", "value", script)
        assert subprocess.run(["bash", "-n"], input=plain, text=True).returncode == 0, script


def scripts(content: object) -> list[str]:
    """The shell scripts in a workflow: texts under `run` and lines under `script`."""
    if isinstance(content, list):
        return [script for item in content for script in scripts(item)]
    if not isinstance(content, dict):
        return []
    own = [text for key in ("run", "script") for text in _texts(content.get(key))]
    return own + [script for value in content.values() for script in scripts(value)]


def _texts(value: object) -> list[str]:
    return value if isinstance(value, list) else [value] if isinstance(value, str) else []


def test_our_own_workflow_runs_the_script_of_this_repository() -> None:
    workflow = yaml.safe_load(GITHUB[0].read_text(encoding="utf-8"))
    (job,) = workflow["jobs"].values()
    assert "bash .ci/run" in scripts(job)
    assert (ROOT / ".ci/run").is_file()
