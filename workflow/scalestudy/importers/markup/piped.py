"""Finds tables whose cells are between bars, with a rule below the header: Markdown, and grids of programs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from scalestudy.importers.raw import RawTable

LONGEST_CAPTION = 200
MOST_HEADER_LINES = 4
LONGEST_RULE = 40_000
"""Characters of a rule below a header; one of more columns than a table may have is none."""
_RULE = re.compile(r"\s*[|+]?\s*:?[-=]+:?\s*([|+]\s*(?::?[-=]+:?|:)\s*)*[|+]?\s*")
_HEADING = re.compile(r"\s{0,3}#{1,6}\s+(?P<heading>.+?)\s*#*\s*")
_NOTHING_SAID = re.compile(r"\s*(?:(?:`{3,}|~{3,})\w*|</?[a-z]+>|:[a-z-]+: ?\w*)\s*")
"""A fence of code, a bare tag or an option of a directive, which is no caption."""
_DIRECTIVE = re.compile(r"^\.\. table:: *")
"""What is in front of a caption in reStructuredText."""
_ITEM = re.compile(r"^(?:[-*]|\d{1,3}[.)])\s+(?=\|)")
"""The sign of a list in front of a table."""
_FIRST_WORDS = re.compile(r"(?P<words>[^,.:;]{1,60})[,.:;]")
"""What a text is of: s/step, best of two."""
_OF_VALUES = re.compile(
    r"(?:all |the )?(?:reported |shown )?"
    r"(?:values|numbers|results|figures|times|timings|throughputs?|measurements) "
    r"(?:are|is|were|in|show)\b",
    re.IGNORECASE,
)
"""How a sentence begins that says what the numbers of a table are."""
_MOST_LINES = 12
"""Lines of a paragraph above a table in which that sentence is looked for."""
_PIPE = re.compile(r"(?<!\\)\|")


def piped_tables(lines: list[str]) -> Iterator[RawTable]:
    """Yield the tables whose cells are between bars, with a rule below the header.

    There may be an empty line between all lines of a table.
    """
    gaps = _gaps(lines)
    kept = [number for number in range(len(lines)) if number not in gaps]
    for table in _tables([lines[number] for number in kept]):
        rows = tuple((kept[line - 1] + 1, cells) for line, cells in table.rows)
        yield replace(table, line=kept[table.line - 1] + 1, rows=rows)


def _gaps(lines: list[str]) -> set[int]:
    """The empty lines between a header, its rule and the rows, if they stand between all of them."""
    gaps: set[int] = set()
    for rule in range(2, len(lines) - 2):
        if not (lines[rule].lstrip().startswith("|") and is_rule(lines[rule]) and lines[rule - 2].count("|") > 1):
            continue
        at = rule - 1
        while at + 1 < len(lines) and not lines[at].strip() and lines[at + 1].lstrip().startswith("|"):
            if at > rule and at + 3 < len(lines) and is_rule(lines[at + 3]):
                break  # the header of another table
            gaps.add(at)
            at += 2
    return gaps


def _tables(lines: list[str]) -> Iterator[RawTable]:
    headings: list[tuple[int, str]] = []
    above = opening = ""
    paragraph: list[str] = []
    number = 0
    while number < len(lines):
        line = lines[number]
        if heading := _HEADING.fullmatch(line[:500]):
            level = len(line) - len(line.lstrip("# "))
            headings = [(above, words) for above, words in headings if above < level]
            headings.append((level, heading["heading"]))
            above = opening = ""
        header = _header(lines, number)
        if not header:
            said = line.strip() and not heading and not is_rule(line) and not _NOTHING_SAID.fullmatch(line[:500])
            first = said and (number == 0 or not lines[number - 1].strip())
            opening = line.strip() if first else opening
            above = line.strip() if said else above
            if first or (line.strip() and not said):
                paragraph = []
            paragraph = [*paragraph, line.strip()][-_MOST_LINES:] if said else paragraph
            number += 1
            continue
        end, rows = number + header, []
        wide = len(cells_of(lines[end]))
        bare = not any(line.lstrip().startswith(("|", "+")) for line in lines[number : end + 1])
        while end < len(lines) and ("|" in lines[end] or is_rule(lines[end])) and lines[end].strip():
            cells = () if is_rule(lines[end]) else cells_of(lines[end])
            empty_first = bare and len(cells) == wide - 1 and re.match(r"\s*\|", lines[end])
            rows.append((end + 1, ("", *cells) if empty_first else cells))
            end += 1
        names = tuple(words for _, words in headings)
        values = next(filter(_OF_VALUES.match, re.split(r"(?<=[.;]) ", " ".join(paragraph))), "")
        long = len(paragraph) > 1 or len(above) > LONGEST_CAPTION
        above = values.rstrip(".") if long and values else above
        above = _DIRECTIVE.sub("", above)
        caption = above.strip("*:> ") if len(above) <= LONGEST_CAPTION else ""
        whole = joined([cells_of(lines[at]) for at in range(number, number + header)])
        whole = (*whole, *[""] * (wide - len(whole))) if bare else whole
        words = _FIRST_WORDS.match(opening if opening != above else "")
        yield RawTable(
            number + 1, whole, tuple(records(rows)), names, caption, opening=words["words"] if words else ""
        )
        number, above, opening, paragraph = end, "", "", []


def _header(lines: list[str], start: int) -> int:
    """The number of lines of the header that begins in a line; 0 if none does.

    A grid may have several, and other tables two of as many words.
    """
    most = MOST_HEADER_LINES if start and is_rule(lines[start - 1]) and "+" in lines[start - 1] else 1
    most = max(most, 2) if _are_words(lines, start) else most
    for count in range(1, most + 1):
        line = lines[start + count - 1] if start + count - 1 < len(lines) else ""
        if "|" not in line or is_rule(line):
            return 0
        below = lines[start + count] if start + count < len(lines) else ""
        if is_rule(below) and set("|+") & set(below):
            return count
    return 0


def records(rows: list[tuple[int, tuple[str, ...]]]) -> list[tuple[int, tuple[str, ...]]]:
    """Return the rows of a table; between the rules of a grid, several lines may be one row.

    A rule is an empty tuple.
    """
    groups: list[list[tuple[int, tuple[str, ...]]]] = [[]]
    for number, cells in rows:
        if cells:
            groups[-1].append((number, cells))
        elif groups[-1]:
            groups.append([])
    groups = [group for group in groups if group]
    found: list[tuple[int, tuple[str, ...]]] = []
    for group in groups:
        if len(groups) > 1 and len(group) > 1 and not all(cells and cells[0] for _, cells in group):
            found.append((group[0][0], joined([cells for _, cells in group])))
        else:
            found += group
    return found


def joined(rows: list[tuple[str, ...]]) -> tuple[str, ...]:
    """Return the texts of several lines, cell by cell."""
    if len(rows) == 1:
        return rows[0]
    width = max(map(len, rows))
    full = [(*row, *[""] * (width - len(row))) for row in rows]
    return tuple(" ".join(filter(None, cells)) for cells in zip(*full, strict=True))


def is_rule(line: str) -> bool:
    """Return whether a line is a rule, such as |---|---| or +====+."""
    text = line.strip()
    return (
        0 < len(text) <= LONGEST_RULE
        and set(text) <= set("|+-=: \t")
        and bool(set(text) & set("-="))
        and bool(_RULE.fullmatch(text))
    )


def cells_of(line: str) -> tuple[str, ...]:
    """Return the texts between the bars of a line."""
    line = _ITEM.sub("", line.strip())
    line = line[1:] if line.startswith("|") else line
    line = line[:-1] if line.endswith("|") and not line.endswith("\\|") else line
    return tuple(cell.strip().replace("\\|", "|") for cell in _PIPE.split(line))


def _are_words(lines: list[str], start: int) -> bool:
    """Whether a table begins with two lines of as many cells without a number."""
    first, second = (cells_of(lines[at]) if at < len(lines) else () for at in (start, start + 1))
    alone = not start or "|" not in lines[start - 1]
    named = all(not re.match(r"[-+~]?\d", cell.strip()) for cell in (*first, *second))
    return alone and named and len(first) == len(second) > 1 and not is_rule(lines[start + 1])
