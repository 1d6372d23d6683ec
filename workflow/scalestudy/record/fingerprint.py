"""A fingerprint of what code *does*: comments, docstrings and layout do not count.

Snakemake reruns a job when a parameter changes. Training carries the fingerprint of the code that measures,
so that a changed measurement is measured again while a reworded comment costs nothing.
"""

from __future__ import annotations

import ast
import hashlib
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1]

# What a number depends on once its spec is fixed. The spec itself is in the run id.
MEASURING = ("train", "record", "measure")


def fingerprint(*packages: str) -> str:
    """Twelve hexadecimal digits over the behaviour of these packages of scalestudy."""
    digest = hashlib.sha256()
    for package in packages:
        for path in sorted((PACKAGE / package).rglob("*.py")):
            digest.update(path.relative_to(PACKAGE).as_posix().encode())
            digest.update(_behaviour(path.read_text(encoding="utf-8")).encode())
    return digest.hexdigest()[:12]


def _behaviour(source: str) -> str:
    """The syntax tree without docstrings; bare strings under fields go with them."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list):
            node.body = [
                item
                for item in body
                if not (
                    isinstance(item, ast.Expr)
                    and isinstance(item.value, ast.Constant)
                    and isinstance(item.value.value, str)
                )
            ]
    return ast.dump(tree)
