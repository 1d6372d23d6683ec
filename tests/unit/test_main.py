"""The command starts with the standard library alone, and names in one line what its environment lacks."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest
import scalestudy
from scalestudy import __main__ as module

PACKAGE = Path(scalestudy.__file__).parent
ALONE = f"import sys, runpy; sys.path.insert(0, {str(PACKAGE.parent)!r}); "
"""Run with `-I -S`, under which no installed package is found."""


def run_alone(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-I", "-S", "-c", ALONE + code], capture_output=True, text=True)


def test_the_package_is_imported_without_any_other() -> None:
    done = run_alone("import scalestudy; print(scalestudy.__version__)")
    assert (done.stdout, done.stderr) == (f"{scalestudy.__version__}\n", "")


def test_without_the_extra_one_line_says_how_to_install_it() -> None:
    done = run_alone("sys.argv = ['scalestudy', 'plan']; runpy.run_module('scalestudy', run_name='__main__')")
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr == (
        f"scalestudy: Python packages are missing: click, fontTools, jinja2 and {len(module.MODULES) - 3} more."
        f" Install them: {sys.executable} -m pip install 'scalestudy[study]'\n"
    )


def test_one_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MODULES", (*module.MODULES, "no_such_package"))
    assert module.requirement().startswith("Python packages are missing: no_such_package. Install them: ")


def test_an_older_python_is_told_which_one_is_needed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(module, "OLDEST", (4, 2))
    assert module.main() == 2
    here = "{}.{}".format(*sys.version_info)
    assert capsys.readouterr().err == (
        f"scalestudy: the command needs Python 4.2 or newer, but this is Python {here}."
        " Make a new environment: python4.2 -m venv .venv && .venv/bin/pip install 'scalestudy[study]'\n"
    )


def test_nothing_is_missing_here(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "argv", ["scalestudy", "--version"])
    assert module.main() == 0
    assert capsys.readouterr().out == f"scalestudy {scalestudy.__version__}\n"


@pytest.mark.parametrize("name", ["__init__.py", "__main__.py"])
def test_an_older_python_can_read_what_it_imports(name: str) -> None:
    source = (PACKAGE / name).read_text(encoding="utf-8")
    top = ast.parse(source, feature_version=(3, 9)).body
    plain = [alias.name for node in top if isinstance(node, ast.Import) for alias in node.names]
    named = [node.module or "" for node in top if isinstance(node, ast.ImportFrom)]
    assert {name.split(".")[0] for name in (*plain, *named)} <= sys.stdlib_module_names
