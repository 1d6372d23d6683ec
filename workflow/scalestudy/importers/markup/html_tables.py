"""Finds tables of HTML; cells over several columns or rows are repeated."""

from __future__ import annotations

from collections.abc import Iterator
from html.parser import HTMLParser

from scalestudy.importers.raw import RawTable

MOST_SPANNED = 1000


def html_tables(text: str) -> Iterator[RawTable]:
    """Yield the tables of a text of HTML."""
    if "<table" not in text.lower():
        return
    parser = _Html()
    parser.feed(text)
    for rows, caption in zip(parser.tables, parser.captions, strict=True):
        filled = [(line, tuple(cells)) for line, cells in rows if cells]
        if filled:
            yield RawTable(filled[0][0], filled[0][1], tuple(filled[1:]), caption=caption.strip())


class _Html(HTMLParser):
    """Collects rows of cells of every table."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.tables: list[list[tuple[int, list[str]]]] = []
        self.captions: list[str] = []
        self.cell: list[str] | None = None
        self.span = (1, 1)
        self.below: dict[int, tuple[int, str]] = {}
        """Column -> rows that its cell still covers, and its text."""
        self.titled = False
        self.before: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "table":
            self.tables.append([])
            above = " ".join("".join(self.before).splitlines()[-3:]).strip()
            self.captions.append(above if len(above) <= MOST_SPANNED else "")
            self.below = {}
        elif tag == "caption" and self.tables:
            self.titled = True
        elif tag == "tr" and self.tables:
            self._close()
            self.tables[-1].append((self.getpos()[0], []))
            self._cover()
        elif tag in ("td", "th") and self.tables and self.tables[-1]:
            self._close()
            named = dict(attrs)
            self.cell, self.span = [], (_span(named.get("colspan")), _span(named.get("rowspan")))
        elif tag == "br" and self.cell is not None:
            self.cell.append(" ")
        elif tag == "sup" and self.cell is not None:
            self.cell.append("<sup>")  # a footnote or an exponent: the reader of cells decides

    def handle_data(self, data: str) -> None:
        if self.cell is not None:
            self.cell.append(data)
        elif self.titled:
            self.captions[-1] = data
        else:
            self.before = [*self.before[-20:], data]

    def handle_endtag(self, tag: str) -> None:
        if tag in ("td", "th", "tr", "table"):
            self._close()
        elif tag == "sup" and self.cell is not None:
            self.cell.append("</sup>")
        elif tag == "caption":
            self.titled = False
        if tag == "table":
            self.before = []

    def _close(self) -> None:
        """Ends the open cell. A cell of several rows leaves its text for the rows below."""
        if self.cell is None or not self.tables or not self.tables[-1]:
            return
        text = " ".join("".join(self.cell).split())
        cells = self.tables[-1][-1][1]
        columns, rows = self.span
        for _ in range(columns):
            if rows > 1 and len(cells) < MOST_SPANNED:
                self.below[len(cells)] = (rows - 1, text)
            cells.append(text)
        self.cell = None
        self._cover()

    def _cover(self) -> None:
        """Repeats the cells from above that cover the next columns of the open row."""
        cells = self.tables[-1][-1][1]
        while (place := len(cells)) in self.below and self.below[place][0] > 0:
            rows, text = self.below[place]
            self.below[place] = (rows - 1, text)
            cells.append(text)


def _span(text: str | None) -> int:
    return min(max(int(text), 1), MOST_SPANNED) if text and text.isdecimal() else 1
