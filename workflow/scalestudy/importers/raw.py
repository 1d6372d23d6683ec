"""A table as text, before anything in it is understood."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from scalestudy.importers.numbers.printed import is_blank


def words_of(cells: Sequence[str]) -> tuple[str, ...]:
    """Return cells without their numbers and plurals: those of two rows with units are equal, headers differ."""
    bare = [re.sub(r"\d[\d.,]*", "0", re.sub(r"(?<=\w)s\b|\(s\)", "", cell.lower())) for cell in cells]
    return tuple(bare) if any(re.search(r"0\W*[a-z]|[a-z]\W*0", cell) for cell in bare) else tuple(cells)


UNSAID = "value"
"""Header of numbers that nothing says the kind of."""
PERFORMANCE = re.compile(r"\bperf(?:ormance)?\b", re.IGNORECASE)
_SENTENCE = re.compile(r"(?<=[a-z)\]])[.;] |[\u3002\uff1b]")
_GIVES = "(?:are|is|give|show|contain|list|denote|indicate)s?"
_BRACKETS = r"(?:parenthes[ei]s|(?:square )?brackets)"
_OF_BRACKETS = re.compile(
    rf"(?i)\s*[(\[]?[^.,;()]*\b(?:in|between) {_BRACKETS}\)?(?: {_GIVES}\b[^.;]*)?[.,;]?|"
    rf"\b{_BRACKETS}:? {_GIVES}\b[^.;]*"
)
"""What a sentence says of the numbers in brackets."""


def sentences_in(words: str) -> list[str]:
    """Return the sentences of a text."""
    return _SENTENCE.split(words)


def without_brackets(words: str) -> str:
    """Return a text without what it says of the numbers in brackets."""
    return _OF_BRACKETS.sub("", words)


@dataclass(frozen=True)
class RawTable:
    """A table as text: its header, its rows with their lines in the file, and the text above it."""

    line: int
    """Line of the header; the first line of a file is 1."""
    header: tuple[str, ...]
    rows: tuple[tuple[int, tuple[str, ...]], ...]
    headings: tuple[str, ...] = ()
    """Headings above the table, outermost first."""
    caption: str = ""
    """Its caption, or the line of text just above it."""
    below: str = ""
    """Its caption, if that is below it."""
    opening: str = ""
    """The first words of the text above it, if that has several lines."""
    left_out: tuple[int, ...] = ()
    """Lines of a list with a measurement like its others, which were not read as rows."""
    note: str = ""
    """How it was read, in words for the user, such as the devices of its labels from a legend."""
    text: tuple[str, ...] = ()
    """The lines of the file that belong to no table, as far as they are near or the file is short."""
    beside: tuple[str, ...] = ()
    """The sentences of the text around it that speak of this table and of no other."""
    legend_lacks: str = ""
    """What the text around it does not say of the devices of its labels, in words for the user."""

    footnotes: tuple[tuple[int, str], ...] = ()
    """Lines of rows with a footnote, and its text."""

    @property
    def captions(self) -> tuple[str, ...]:
        """Return what is said of the table as a whole, the nearest first. `Performance` may be of times too."""
        said = (self.below, self.caption, self.opening, *reversed(self.headings))
        return tuple(filter(None, (PERFORMANCE.sub("", words).strip() for words in said)))

    @property
    def sentences(self) -> tuple[str, ...]:
        """Return the sentences of the captions without what they say of the numbers in brackets."""
        return tuple(part for words in map(without_brackets, self.captions) for part in sentences_in(words))

    @property
    def said(self) -> tuple[tuple[str, ...], ...]:
        """Return the sentences of the captions, and behind them those of the text that are of this table alone."""
        return self.sentences, tuple(map(without_brackets, self.beside))

    @property
    def lines(self) -> set[int]:
        """Return the lines of the header and the rows."""
        return {self.line, *(line for line, _ in self.rows)}

    def noted(self, note: str) -> RawTable:
        """Return the table with a further note, if there is one."""
        return replace(self, note="; ".join(filter(None, (self.note, note))))

    @cached_property
    def _columns(self) -> dict[int, list[str]]:
        """Place -> cells of the columns that were asked for."""
        return {}

    def cells(self, place: int) -> list[str]:
        """Return the cells of a column that are not blank."""
        if place not in self._columns:
            column = (row[place] for _, row in self.rows if place < len(row))
            self._columns[place] = [cell for cell in column if not is_blank(cell)]
        return list(self._columns[place])

    def values(self, place: int) -> list[str]:
        """Return the different cells of a column."""
        return list(dict.fromkeys(self.cells(place)))
