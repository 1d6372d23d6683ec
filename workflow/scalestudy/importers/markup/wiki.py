"""Finds tables of wikis: Jira and Confluence (||GPUs||img/s||), and MediaWiki ({| ... |})."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import escape

from scalestudy.importers.markup.html_tables import html_tables
from scalestudy.importers.raw import RawTable

LONGEST_CAPTION = 200
_ATTRIBUTES = re.compile(r"\s*((?:[\w-]+\s*=\s*(?:\"[^\"]*\"|'[^']*'|[\w%#]+)\s*)+)\|(?!\|)")


def jira_tables(lines: list[str]) -> Iterator[tuple[RawTable, int]]:
    """Yield the tables whose headers are between double bars, each with the line after it."""
    number, above = 0, ""
    while number < len(lines):
        header = _jira_cells(lines[number], "||")
        end = number + 1
        rows: list[tuple[int, tuple[str, ...]]] = []
        while len(header) > 1 and end < len(lines) and lines[end].lstrip().startswith("|"):
            rows.append((end + 1, _jira_cells(lines[end], "|")))
            end += 1
        if rows:
            yield RawTable(number + 1, header, tuple(rows), (), above), end
        above = re.sub(r"^(?:h\d\.\s*|[*_]+)|[*_]+$", "", lines[number].strip())[:LONGEST_CAPTION] or above
        number = end if rows else number + 1


def _jira_cells(line: str, sign: str) -> tuple[str, ...]:
    text = line.strip()
    if not text.startswith(sign):
        return ()
    text = text.replace("||", "|") if sign == "|" else text  # a header of a row
    return tuple(cell.strip() for cell in text.strip("|").split(sign))


def mediawiki_tables(lines: list[str]) -> Iterator[tuple[RawTable, int]]:
    """Yield the tables between {| and |}, each with the line after it."""
    number = 0
    while number < len(lines):
        if not lines[number].strip().startswith("{|"):
            number += 1
            continue
        end = next((n for n in range(number + 1, len(lines)) if lines[n].strip().startswith("|}")), None)
        if end is None:
            return
        text = "\n" * number + "<table><tr>\n" + "\n".join(map(_as_html, lines[number + 1 : end])) + "</table>"
        for table in html_tables(text):
            yield table, end + 1
        number = end + 1


def _as_html(line: str) -> str:
    """A line of MediaWiki as HTML, so that its merged cells are read like those of HTML."""
    text = line.strip()
    if text.startswith("|+"):
        return f"<caption>{escape(text[2:].strip())}</caption>"
    if text.startswith("|-"):
        return "<tr>"
    if not text.startswith(("|", "!")):
        return ""
    parts = re.split(r"\|\||!!" if text[0] == "!" else r"\|\|", text[1:])
    cells = []
    for part in parts:
        named = _ATTRIBUTES.match(part)
        inside = part[named.end() :] if named else part
        cells.append(f"<td {named[1] if named else ''}>{escape(inside.strip())}</td>")
    return "".join(cells)
