"""Lines of text for a terminal: none is longer than 80 columns, except rows of tables, and paths and keys."""

import re

from scalestudy.registry.words.lines import filled

WIDTH = 80
_COLUMNS = re.compile(r"\S {2,}\S")


def wrapped(line: str) -> str:
    """Return a line wrapped at WIDTH, its other lines indented by two more columns.

    A row of a table is returned unchanged: it has two spaces between its columns.
    """
    if len(line) <= WIDTH or _COLUMNS.search(line):
        return line
    text = line.lstrip(" ")
    indent = line[: len(line) - len(text)]
    return filled(text, WIDTH, initial_indent=indent, subsequent_indent=f"{indent}  ", break_long_words=False)
