"""The YAML of study files: one document, each key once, and no more than a person would write.

PyYAML accepts two equal keys and uses the last, follows an alias into itself, and expands aliases of aliases until
memory is full. No user intends any of these.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date, datetime
from pathlib import Path
from typing import Any

import yaml

from scalestudy.errors import UserError
from scalestudy.study.named_file import nearest, not_utf8, read_named

MOST_BYTES = 128 * 1024
"""Limit of a file. This is some thousands of lines, which take about a second to read."""
MOST_VALUES = 20_000
"""Limit of a file, with every alias expanded."""
DEEPEST = 40
"""Largest depth of nested mappings and lists. The config model has seven levels."""
MERGE = "tag:yaml.org,2002:merge"
MOST_DIGITS = 30
"""Limit of a whole number, far above every size, seed and count of a study."""
TAGS = ("tag:yaml.org,2002:map", "tag:yaml.org,2002:seq")
WORDS = {bool: "true or false", int: "a number", float: "a number", type(None): "null", date: "a date"}
WORDS |= {datetime: "a time", bytes: "bytes"}


def read_yaml(path: Path) -> dict[str, Any]:
    """The mapping in a YAML file. Keys are text; values are text, numbers, booleans, null, lists, mappings.

    Raises UserError, with the file and the line, if it cannot be read, is not UTF-8 or YAML, is larger or deeper
    than a study can be, or has a key twice.
    """
    content = read_value(_text(path), source=str(path))
    if not isinstance(content, dict):
        raise UserError(f"{path}: a study file is a mapping of keys; config/README.md lists them")
    return content


def read_value(text: str, *, source: str) -> Any:
    """The value of a YAML text, by the rules of `read_yaml`. source: the origin of the text, for errors."""
    try:
        loader = _Loader(text)
        try:
            node = loader.get_single_node()
            return None if node is None else _content(node, loader)
        finally:
            loader.dispose()
    except yaml.MarkedYAMLError as error:
        raise UserError(f"{source}: not valid YAML: {_said(error)}") from None
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise UserError(
            f"{source}: not valid YAML: line {line} has a character that no text has"
            f" ({text[error.position]!a}); remove it"
        ) from None


def _text(path: Path) -> str:
    """The text of a file, without a byte order mark."""
    try:
        data = read_named(path, most=MOST_BYTES + 1)
    except FileNotFoundError:
        raise UserError(f"{path}: no such study file{nearest(path)}") from None
    except IsADirectoryError:
        raise UserError(f"{path}: is a folder; name the study file in it") from None
    except OSError as error:
        raise UserError(f"{path}: cannot be read: {error.strerror}") from None
    if len(data) > MOST_BYTES:
        raise UserError(f"{path}: is larger than {MOST_BYTES // 1024} KiB, the limit for study files")
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise UserError(f"{path}: is text in UTF-16; save it as UTF-8")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UserError(f"{path}: {not_utf8(error)}") from None


_PLAIN: tuple[tuple[str, str], ...] = (
    (r"found character '\\t'", "a tab is not allowed here; indent with spaces"),
    (r"found character '(.+)' that cannot start", "a value cannot begin with {1}; put it in quotes"),
    (r"parsing a flow sequence.*but got", "the bracket [ of line {line} is not closed, or a comma is missing"),
    (r"parsing a flow mapping.*but got", "the bracket {{ of line {line} is not closed, or a comma is missing"),
    (r"scanning a quoted scalar.*unexpected end", "the quote that begins in line {line} is not closed"),
    (r"expected <block end>", "this line is not indented like the lines that it belongs to"),
    (r"mapping values are not allowed", "a second colon in one line; put the text in quotes"),
    (r"could not find expected ':'", "the key of line {line} has no colon and space after it"),
)
"""(pattern of PyYAML's message, the same in plain words). line: the first line of the part that is wrong."""


def _said(error: yaml.MarkedYAMLError) -> str:
    """The error and its line, on one line."""
    at, begin = error.problem_mark or error.context_mark, error.context_mark or error.problem_mark
    said = ", ".join(part for part in (error.context, error.problem) if part)
    for pattern, plain in _PLAIN:
        if found := re.search(pattern, said):
            said = plain.format(*([found[0], *found.groups()]), line=begin.line + 1 if begin else 1)
            break
    return said + ("" if at is None else f" (line {at.line + 1}, column {at.column + 1})")


class _Loader(yaml.SafeLoader):
    """Composes nodes, at most DEEPEST deep, since composing is recursive."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self._depth = 0

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        self._depth += 1
        if self._depth > DEEPEST:
            event: Any = self.peek_event()  # type: ignore[no-untyped-call]
            raise _at(event, f"mappings and lists are nested more than {DEEPEST} deep")
        node = super().compose_node(parent, index)
        self._depth -= 1
        return node


def _at(node: Any, problem: str) -> yaml.MarkedYAMLError:
    return yaml.MarkedYAMLError(problem=problem, problem_mark=node.start_mark)


def _content(root: yaml.Node, loader: _Loader) -> Any:
    """The values of the nodes. An alias is replaced by a copy of its anchor's value."""
    left = MOST_VALUES

    def value(node: yaml.Node, above: tuple[int, ...]) -> Any:
        nonlocal left
        left -= 1
        if left < 0:
            raise _at(root, f"the file has more than {MOST_VALUES} values when its aliases are expanded")
        if id(node) in above:
            raise _at(node, "an anchor contains itself through its alias")
        inside = (*above, id(node))
        if not isinstance(node, yaml.ScalarNode) and node.tag not in TAGS:
            raise _at(node, f"a {node.tag} is not a plain mapping or list")
        if isinstance(node, yaml.MappingNode):
            return mapping(node, inside)
        if isinstance(node, yaml.SequenceNode):
            return [value(one, inside) for one in node.value]
        return _scalar(node, loader)

    def mapping(node: yaml.MappingNode, inside: tuple[int, ...]) -> dict[str, Any]:
        merged: dict[str, Any] = {}
        own: dict[str, Any] = {}
        for key, inner in node.value:
            if key.tag == MERGE:
                for other in merged_in(inner):
                    merged = value(other, inside) | merged  # the first mapping overrides the later ones
                continue
            if not isinstance(key, yaml.ScalarNode):
                raise _at(key, f"a key is text, and this one is a {key.id}".replace("sequence", "list"))
            name = _scalar(key, loader)
            if not isinstance(name, str):
                raise _at(key, f"key {key.value} is read as {WORDS[type(name)]}; in quotes it is text")
            if name in own:
                raise _at(key, f"key {name} is given twice")
            own[name] = value(inner, inside)
        return merged | own

    return value(root, ())


_BASE_60 = re.compile(r"[-+]?\d[\d_]*(:\d+)+(\.\d*)?")
_OCTAL = re.compile(r"[-+]?0[0-7_]+")


def _scalar(node: yaml.Node, loader: _Loader) -> Any:
    """Text, a number, true or false, or null. Raises MarkedYAMLError for anything else, and for octal and base
    60."""
    said = str(node.value)
    try:
        found = loader.construct_object(node)
    except ValueError:
        short = said if len(said) <= 20 else f"{said[:20]}..."
        raise _at(node, f"{short} is not a number that can be read") from None
    if isinstance(found, int | float) and not isinstance(found, bool):
        for form, base in ((_BASE_60, 60), (_OCTAL, 8)):
            if form.fullmatch(said):
                raise _at(node, f"{said} is read as {found}, to base {base}; write {found}, or put it in quotes")
    if isinstance(found, int) and abs(found) >= 10**MOST_DIGITS:
        raise _at(node, f"{said[:20]}... has more than {MOST_DIGITS} digits, the limit for numbers")
    if not isinstance(found, str | int | float | None):
        raise _at(node, f"{said} is read as {WORDS.get(type(found), 'something else')}; in quotes it is text")
    return found


def merged_in(node: yaml.Node) -> Iterator[yaml.Node]:
    """The mappings of a merge key `<<`. Raises MarkedYAMLError for anything else."""
    for one in node.value if isinstance(node, yaml.SequenceNode) else [node]:
        if not isinstance(one, yaml.MappingNode):
            raise _at(one, "<< takes a mapping, or a list of them")
        yield one
