"""A fingerprint of what code *does*: comments, docstrings and layout do not count.

Snakemake runs a job again when a parameter changes: analysis and documents carry the fingerprint of their code.
Training does not. What its code measures has a version (record/protocol.py), and every record has the fingerprint
of the code that measured it.
"""

import ast
import hashlib
from collections.abc import Iterable, Iterator
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1]
CHECKOUT = PACKAGE.parents[1]
"""The checkout that this package belongs to, with the workflow's rules, profiles and templates."""

MEASURING = ("train", "record", "measure", "launch", "demo/rank.py")
"""What measures; whatever all of these import takes part in it too."""


def fingerprint(*packages: str) -> str:
    """Twelve hexadecimal digits over the behaviour of these packages, or files, of scalestudy."""
    return _digest({name: _read(PACKAGE / name)[0] for package in packages for name in _files(package)})


def measuring_fingerprint() -> str:
    """Twelve hexadecimal digits over the behaviour of all code that takes part in a measurement."""
    return _digest(measuring_code())


def measuring_code() -> dict[str, str]:
    """File of the package -> hash of its behaviour, for every file that takes part in a measurement."""
    found: dict[str, str] = {}
    waiting = [name for package in MEASURING for name in _files(package)]
    while waiting:
        name = waiting.pop()
        if name not in found:
            behaviour, imports = _read(PACKAGE / name)
            found[name] = hashlib.sha256(behaviour.encode()).hexdigest()[:12]
            waiting += _imported(imports)
    return dict(sorted(found.items()))


def _files(package: str) -> list[str]:
    found = [PACKAGE / package] if package.endswith(".py") else (PACKAGE / package).rglob("*.py")
    return sorted(path.relative_to(PACKAGE).as_posix() for path in found)


def _imported(imports: Iterable[ast.AST]) -> Iterator[str]:
    """Files of scalestudy that these statements import; its version is no behaviour."""
    for node in imports:
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import | ast.ImportFrom) else []
        if isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module, *(f"{node.module}.{name}" for name in names)]
        for name in names:
            base, *parts = name.split(".")
            for count in range(1, len(parts) + 1) if base == "scalestudy" else ():
                stem = "/".join(parts[:count])
                yield from (file for file in (f"{stem}.py", f"{stem}/__init__.py") if (PACKAGE / file).exists())


def _digest(content: dict[str, str]) -> str:
    digest = hashlib.sha256()
    for name, behaviour in content.items():
        digest.update(name.encode())
        digest.update(behaviour.encode())
    return digest.hexdigest()[:12]


def _read(path: Path) -> tuple[str, list[ast.AST]]:
    """(the syntax tree of a module, as text that is the same in every version of Python; what it imports)."""
    imports: list[ast.AST] = []
    return _text(ast.parse(path.read_text(encoding="utf-8")), imports), imports


def _text(node: object, imports: list[ast.AST]) -> str:
    """A part of a syntax tree; its imports are added to a list. Every launch takes one look at each node.

    Empty fields are left out, since versions of Python differ in them. So are docstrings, and the bare strings
    under fields with them.
    """
    if isinstance(node, list):
        return f"[{','.join([_text(item, imports) for item in node if not _is_bare_string(item)])}]"
    if not isinstance(node, ast.AST):
        return repr(node)
    if isinstance(node, ast.Import | ast.ImportFrom):
        imports.append(node)
    names = ("value",) if isinstance(node, ast.Constant) else node._fields
    said = []
    for name in names:
        value = getattr(node, name, None)
        if isinstance(node, ast.Constant) or (value is not None and value != []):
            said.append(f"{name}={_text(value, imports)}")
    return f"{type(node).__name__}({','.join(said)})"


def _is_bare_string(node: object) -> bool:
    return (
        isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
    )
