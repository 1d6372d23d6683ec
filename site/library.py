"""The page of the library's reference, from signatures and docstrings."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from itertools import pairwise

import scalestudy

ARGUMENTS = re.compile(r"\w+(, \w+)*: ")
"""The beginning of a line on arguments in a docstring."""


def text(escaped: Callable[[str], str]) -> str:
    """Return the page: each public name with its signature and its docstring, and the methods of a class.

    escaped: makes plain text into Markdown.
    """
    parts = ["# Library", escaped(f"`import scalestudy`, release {scalestudy.__version__}.")]
    for name in sorted(set(scalestudy.__all__) - {"__version__"}, key=str.lower):
        found = getattr(scalestudy, name)
        parts += [f"## {name}", *_described(found, f"scalestudy.{name}", escaped)]
        if inspect.isclass(found):
            if is_dataclass(found):
                meanings = {name: said for one in reversed(found.__mro__) for name, said in _meanings(one)}
                lines = [
                    f"- `{field.name}: {field.type}` {escaped(meanings.get(field.name, ''))}"
                    for field in fields(found)
                ]
                parts.append("\n".join(map(str.rstrip, lines)))
            for member, value in _members(found):
                parts += [f"### {name}.{member}", *_described(value, member, escaped)]
    return "\n\n".join(parts) + "\n"


def _members(found: type) -> Iterator[tuple[str, object]]:
    """Yield the public methods and properties that the class or our base of it defines."""
    for name, value in inspect.getmembers(found):
        ours = inspect.isfunction(value) or isinstance(value, property)
        if ours and not name.startswith("_"):
            yield name, value


def _meanings(found: type) -> Iterator[tuple[str, str]]:
    """Yield the name and the docstring of each attribute of a class of ours that has one."""
    if not found.__module__.startswith("scalestudy."):
        return
    (tree,) = ast.parse(inspect.getsource(found)).body
    for node, after in pairwise(tree.body):
        if (
            isinstance(node, ast.AnnAssign)
            and isinstance(after, ast.Expr)
            and isinstance(after.value, ast.Constant)
        ):
            yield ast.unparse(node.target), " ".join(str(after.value.value).split())


def _described(found: object, name: str, escaped: Callable[[str], str]) -> Iterator[str]:
    """Yield the signature of a function as a block, and the docstring with a list of its arguments."""
    if inspect.isfunction(found):
        yield f"```text\n{name}{_signature(found)}\n```"
    for paragraph in re.split(r"\n\s*\n", inspect.getdoc(found) or ""):
        lines = [""]
        for line in paragraph.splitlines():
            if ARGUMENTS.match(line):
                lines.append(line)
            else:
                lines[-1] += f" {line}"
        yield "\n".join([escaped(lines[0]), *(f"- {escaped(line)}" for line in lines[1:])]).strip()


def _signature(found: Callable[..., object]) -> str:
    """Return a signature, one argument per line if it is long."""
    signature = inspect.signature(found)
    words = [_argument(one) for one in signature.parameters.values() if one.name != "self"]
    kinds = [one.kind for one in signature.parameters.values() if one.name != "self"]
    if inspect.Parameter.KEYWORD_ONLY in kinds:
        words.insert(kinds.index(inspect.Parameter.KEYWORD_ONLY), "*")
    short = f"({', '.join(words)}) -> {signature.return_annotation}"
    lines = "".join(f"    {word},\n" for word in words)
    return short if len(short) < 80 else f"(\n{lines}) -> {signature.return_annotation}"


def _argument(one: inspect.Parameter) -> str:
    """Return an argument as it is written."""
    stars = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}.get(one.kind, "")
    default = "" if one.default is inspect.Parameter.empty else f" = {one.default!r}"
    return f"{stars}{one.name}: {one.annotation}{default}"
