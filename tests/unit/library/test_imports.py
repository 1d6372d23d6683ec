"""The library where torch, Snakemake and the packages of the command are missing."""

from __future__ import annotations

import ast
import subprocess
import sys
from importlib.metadata import packages_distributions, requires
from pathlib import Path

import pytest
import scalestudy
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from scalestudy.library.needs import MODULES

PACKAGE = Path(scalestudy.__file__).parent
ROOT = PACKAGE.parents[1]
ALONE = f"import sys; sys.path.insert(0, {str(PACKAGE.parent)!r}); "
"""Run with `-I -S`, under which no installed package is found."""

ONLY = """
import sys
from importlib.abc import MetaPathFinder

allowed = set(ALLOWED) | set(sys.stdlib_module_names)


class Only(MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        top = name.partition(".")[0]
        if top not in allowed and not top.startswith("_sysconfigdata"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


sys.meta_path.insert(0, Only())
"""
"""Makes an environment of one that has more packages: other modules are not found."""


def allowed() -> set[str]:
    """Import names of the packages of the extra `analysis`, and of all that they need."""
    modules: dict[str, set[str]] = {}
    for module, distributions in packages_distributions().items():
        for name in distributions:
            modules.setdefault(canonicalize_name(name), set()).add(module)
    found, left = set(), [canonicalize_name(packages_distributions()[module][0]) for module in MODULES]
    while left:
        name = left.pop()
        if name not in found:
            found.add(name)
            needs = [Requirement(text) for text in requires(name) or []]
            left += [
                canonicalize_name(one.name)
                for one in needs
                if (one.marker is None or one.marker.evaluate({"extra": ""}))
                and canonicalize_name(one.name) in modules
            ]
    return {"scalestudy"}.union(*(modules[name] for name in found))


def run(code: str, *options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *options, "-c", code], capture_output=True, text=True)


def test_the_import_finds_all_names_without_any_package() -> None:
    code = "import scalestudy as ss; print([getattr(ss, name).__name__ for name in ss.__all__ if name[0] != '_'])"
    done = run(ALONE + code, "-I", "-S")
    assert done.stderr == ""
    assert ast.literal_eval(done.stdout) == [name for name in scalestudy.__all__ if name != "__version__"]


def test_the_import_is_fast_since_it_imports_nothing_of_the_library() -> None:
    code = "import sys; before = set(sys.modules); import scalestudy; print(sorted(set(sys.modules) - before))"
    done = run(f"import typing; {ALONE}{code}", "-I", "-S")
    assert done.stdout == "['scalestudy']\n", done.stderr


def test_a_missing_extra_is_named_in_one_line() -> None:
    for call in ("speedup([1], [2], quantity='throughput')", "read('x')", "audit('x')", "efficiency(1.5, 2)"):
        code = f"import scalestudy as ss\ntry:\n    ss.{call}\nexcept ImportError as error:\n    print(error)"
        done = run(ALONE + "\n" + code, "-I", "-S")
        said = f"scalestudy.{call.split('(')[0]} needs {', '.join(MODULES)}. Install them: "
        assert done.stdout == f"{said}{sys.executable} -m pip install 'scalestudy[analysis]'\n", done.stderr


def test_a_name_that_does_not_exist_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'scalestudy' has no attribute 'speed_up'"):
        _ = scalestudy.speed_up  # type: ignore[attr-defined]
    assert set(scalestudy.__all__) <= set(dir(scalestudy))


@pytest.mark.parametrize("path", sorted(PACKAGE.glob("library/*.py")), ids=lambda path: path.name)
def test_python_3_9_can_import_the_library(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"), feature_version=(3, 9))
    later = {
        id(node)
        for part in ast.walk(tree)
        if isinstance(part, ast.If | ast.FunctionDef)
        for node in ast.walk(part)
    }
    names = [
        name
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom) and id(node) not in later
        for name in ([node.module or ""] if isinstance(node, ast.ImportFrom) else [one.name for one in node.names])
    ]
    light = {"scalestudy.errors", *(f"scalestudy.library.{path.stem}" for path in PACKAGE.glob("library/*.py"))}
    assert {name for name in names if name.split(".")[0] not in sys.stdlib_module_names} <= light


def test_the_statistics_and_audits_need_only_the_extra() -> None:
    code = (
        "import pandas as pd\nimport scalestudy as ss\n"
        "found = ss.speedup([412.0, 409.5, 410.8], [2711.0, 2745.0, 2698.0], quantity='throughput')\n"
        "print(found, ss.efficiency(found, 8).verdict)\n"
        "table = pd.DataFrame({'GPUs': [1, 2], 'images/s': [410, 790], 'Speedup': [1, 2.5]})\n"
        "print(ss.audit(table).remarks[0].kind)\n"
        "print(sorted({'torch', 'snakemake', 'click', 'psutil', 'matplotlib'} & set(sys.modules)))\n"
    )
    done = run(ONLY.replace("ALLOWED", repr(allowed())) + code)
    assert done.stdout.splitlines() == ["6.62 [6.49, 6.75] healthy", "speedup", "[]"], done.stderr


def test_all_that_the_library_imports_later_needs_only_the_extra() -> None:
    """Also what reads the results of a study, which tests/e2e/test_library.py calls."""
    imports = [
        node.module
        for path in sorted(PACKAGE.glob("library/*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("scalestudy.")
    ]
    assert len(imports) > 15
    code = ONLY.replace("ALLOWED", repr(allowed())) + "".join(f"import {name}\n" for name in imports)
    assert run(code).stderr == ""


def test_the_extra_has_what_the_library_looks_for() -> None:
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    import tomllib

    extras = tomllib.loads(text)["project"]["optional-dependencies"]
    names = {canonicalize_name(Requirement(one).name) for one in extras["analysis"]}
    assert names == {canonicalize_name(packages_distributions()[module][0]) for module in MODULES}
    assert set(extras["analysis"]) <= set(extras["study"]), "with the same bounds"
