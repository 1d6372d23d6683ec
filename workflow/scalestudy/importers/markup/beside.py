"""The sentences of a text that speak of one table alone: from the table before it, and up to the next heading."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from scalestudy.importers.markup.text_around import sections_of
from scalestudy.importers.numbers.printed import plain
from scalestudy.importers.raw import RawTable, sentences_in

_NEAR = 40
"""Lines above or below a table in which its sentences may be."""
_LONGEST, _LONGEST_SENTENCE = 1000, 400
"""Characters of a line that may be read as sentences, and of a sentence."""
_END = re.compile(
    r"\s*(?:#{1,6}\s+\S.*|\*{1,6} \S.*|={1,6} \S.*|\\(?:(?:sub)*section|paragraph|chapter)\b.*|"
    r"\\(?:begin|end)\{(?:table|longtable|figure)\*?\}.*|</?(?:table|h\d)\b.*|([=~^\"'-])\1{3,})",
    re.IGNORECASE,
)
"""A heading in any markup, the line below one, or the edge of another table."""
_APART = re.compile(r"^\s*(?:[-*+>]|\d{1,2}[.)]|#(?!#))\s+(?=\S)")
"""The sign of an item or of a comment, which begins another paragraph."""
_NO_TEXT = re.compile(r"\s*(?:\||\+[-=]|</?t[drh]\b|\$ |\.\. |:\w+:|`{3,}|~{3,}|[|+\s=-]*$).*", re.IGNORECASE)
_OF_ALL_TABLES = re.compile(
    r"(?:all|both|unless|(?:the |these )?(?:reported )?(?:numbers|values|times|timings|results|figures|"
    r"throughputs|units?|tables|measurements))\b",
    re.IGNORECASE,
)
"""How a sentence begins that may speak of several tables below it."""
_OF_ANOTHER = re.compile(r"\b(?:figure|fig\.|table|tab\.) ?~?(?:\d|[IVX]+\b|\\ref)", re.IGNORECASE)
_OF_THE_NEXT = re.compile(r"\b(?:following|next|below)\b", re.IGNORECASE)


def with_sentences_beside(tables: Sequence[RawTable], lines: Sequence[str]) -> list[RawTable]:
    """Return the tables with the sentences that speak of each of them and of no other."""
    sections = sections_of(lines)
    lasts = [max((line for line, _ in table.rows), default=table.line) for table in tables]
    taken = {line for table in tables for line in table.lines}
    begun = {sections[line - 1]: line for line in sorted(taken, reverse=True) if 0 < line <= len(lines)}
    result: list[RawTable] = []
    for place, table in enumerate(tables):
        before = lasts[place - 1] if place else 0
        after = tables[place + 1].line if place + 1 < len(tables) else len(lines) + 1
        above = [*_above(lines, sections, begun, (before, table.line))]
        apart = any(map(_END.fullmatch, lines[before : table.line - 1]))
        if place and not above and not apart and tables[place - 1].header[1:] == table.header[1:]:
            above = [*result[-1].beside]  # two tables below one text
        below = [one for one in _below(lines, (lasts[place], after)) if not _OF_THE_NEXT.search(one)]
        said = (one for one in (*above, *below) if not _OF_ANOTHER.search(one))
        result.append(replace(table, beside=tuple(dict.fromkeys(said))))
    return result


def _above(
    lines: Sequence[str],
    sections: Sequence[tuple[int, ...]],
    begun: Mapping[tuple[int, ...], int],
    edges: tuple[int, int],
) -> Iterator[str]:
    """The sentences between a table and the one before it, and those in front of both that may be of all tables.

    begun: the first line of a table in each section. edges: the last line of the table before it, and its header.
    """
    before, line = edges
    own = sections[line - 1]
    of_it = [at for at in range(max(1, line - _NEAR), line) if sections[at - 1] == own[: len(sections[at - 1])]]
    near = [at for at in of_it if at > before]
    start = max((at for at in near if _END.fullmatch(lines[at - 1]) and lines[at - 1][0] != "#"), default=0)
    yield from _sentences(lines, [at for at in near if at > start])
    far = [at for at in of_it if at <= before and at < begun.get(sections[at - 1], line)]
    yield from filter(_OF_ALL_TABLES.match, _sentences(lines, far))


def _below(lines: Sequence[str], edges: tuple[int, int]) -> Iterator[str]:
    """The sentences below a table up to the next heading; none if another table comes first.

    edges: the last line of the table, and the first one of the table behind it.
    """
    last, after = edges
    end = min(after, last + _NEAR + 1, len(lines) + 1)
    places = range(last + 1, end)
    stop = next((at for at in places if _END.fullmatch(lines[at - 1])), end)
    if stop < after or after > len(lines):
        yield from _sentences(lines, [at for at in places if at < stop])


def _sentences(lines: Sequence[str], places: Sequence[int]) -> Iterator[str]:
    """The sentences of some lines. Those behind each other are one paragraph, unless a sign is in front."""
    paragraphs: list[list[str]] = []
    before = -1
    for at in places:
        line = lines[at - 1]
        text = "" if _NO_TEXT.fullmatch(line) or len(line) > _LONGEST else line
        if at != before + 1 or not text or _APART.match(text):
            paragraphs.append([])
        paragraphs[-1].append(_APART.sub("", text).strip())
        before = at
    for words in (plain(" ".join(filter(None, one))) for one in paragraphs):
        yield from (one for one in sentences_in(words) if 0 < len(one) <= _LONGEST_SENTENCE)
