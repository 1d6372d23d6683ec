"""A hash of what each module of the package does, and its imports; comments, docstrings and layout do not count.

Parsing the package takes a quarter of a second, and every run needs the hashes. They are therefore cached, by
the content of each file: in `__pycache__` in a checkout, else in the user's cache folder.
"""

import ast
import contextlib
import functools
import hashlib
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from scalestudy.project import installed
from scalestudy.record.files import write_text
from scalestudy.record.user_cache import user_cache

MOST_KEPT = 5000
"""Most entries in the cache. Beyond this number, entries that this process did not add are dropped."""


class Behaviour(NamedTuple):
    """The hash and the imports of one file."""

    digest: str
    """Twelve hexadecimal digits."""
    imports: list[str]
    """Imported modules of scalestudy, and names imported from them: `scalestudy.record.files.write_text`."""


_found: dict[str, Behaviour] = {}
"""Results for the files that this process parsed, by the checksum of their content."""


def behaviour(path: Path) -> Behaviour:
    """Return the hash and the imports of a Python file."""
    content = path.read_bytes()
    key = hashlib.sha256(content).hexdigest()
    known = _kept().get(key) or _found.get(key)
    if known is None:
        known = _found[key] = _parse(content.decode("utf-8"))
    return known


def keep() -> None:
    """Save what this process parsed for the next one. A cache that cannot be written is left as it is."""
    if _found.keys() <= _kept().keys():
        return
    kept = _kept() if len(_kept()) + len(_found) <= MOST_KEPT else {}
    with contextlib.suppress(OSError, RuntimeError):
        write_text(_cache(), json.dumps(kept | _found))
    _kept().update(_found)


@functools.cache
def _kept() -> dict[str, Behaviour]:
    try:
        content = json.loads(_cache().read_text(encoding="utf-8"))
        return {key: Behaviour(*value) for key, value in content.items()}
    except (OSError, RuntimeError, ValueError, TypeError, AttributeError):
        return {}


@functools.cache
def _cache() -> Path:
    """Return the path of the cache. Each version of this module has a file of its own."""
    here = Path(__file__)
    version = hashlib.sha256(here.read_bytes()).hexdigest()[:12]
    folder = user_cache() / "scalestudy" if installed() else here.parent / "__pycache__"
    return folder / f"behaviour-{version}.json"


def _parse(source: str) -> Behaviour:
    imports: list[ast.AST] = []
    text = _text(ast.parse(source), imports)
    return Behaviour(hashlib.sha256(text.encode()).hexdigest()[:12], sorted(set(_imported(imports))))


def _imported(imports: Iterable[ast.AST]) -> Iterator[str]:
    for node in imports:
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import | ast.ImportFrom) else []
        if isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module, *(f"{node.module}.{name}" for name in names)]
        yield from (name for name in names if name.split(".")[0] == "scalestudy")


def _text(node: object, imports: list[ast.AST]) -> str:
    """Return a part of a syntax tree as text, the same in every version of Python; append its imports to a list.

    Empty fields are left out, since versions of Python differ in them. Docstrings and the bare strings under
    fields are left out too.
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
