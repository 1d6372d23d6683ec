"""Headers that the text around a table defines: `w` = world size, T: time per epoch (s)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from scalestudy.importers.headers.meaning import meaning_of
from scalestudy.importers.numbers.printed import plain
from scalestudy.importers.published import BATCHES, MEASURED, STATED
from scalestudy.importers.raw import RawTable

_AROUND = 12
"""Lines above and below a table in which its headers may be defined."""
_LONGEST_NAME = 12
_LONGEST_LINE = 500
_IS = r"[`'\"*]{0,3} ?(?:=|:|\bis\b|\bare\b|\bdenotes\b|\bmeans\b|\bstands for\b|\u2013|\u2014|-) ?(?:the |an? )?"
_WORDS = r"(?P<words>[A-Za-z][^,;.|=]{2,60})"
_KNOWN = ("gpus", "nodes", "gpus_per_node", "accumulation", *BATCHES, *MEASURED, *STATED)


def with_defined_headers(table: RawTable, lines: Sequence[str]) -> RawTable:
    """Return a table with the words of the text around it instead of its short headers, with a note on each.

    So it is if no header names devices, or none a measurement, and if the words name one of these or a batch.
    lines: of the file.
    """
    roles = {meaning_of(name).role for name in table.header}
    if roles & {"gpus", "nodes"} and roles & {*MEASURED, *STATED}:
        return table
    near = _near(table, lines)
    found: dict[int, str] = {}
    for place, header in enumerate(table.header):
        name = plain(header)
        if not 0 < len(name) <= _LONGEST_NAME or meaning_of(header).role not in ("ignore", "label", "time_s"):
            continue
        texts = [text for text in near if name in text]
        if not texts:
            continue
        form = re.compile(rf"(?<![\w.])[`'\"*]{{0,3}}{re.escape(name)}{_IS}{_WORDS}")
        words = {one["words"].strip() for text in texts for one in form.finditer(text)}
        if len(words) == 1 and meaning_of(own := words.pop()).role in _KNOWN:
            found[place] = own
    named = {meaning_of(words).role for words in found.values()} | roles
    if not (named & {"gpus", "nodes"} and named & {*MEASURED, *STATED}):
        return table
    note = ", ".join(f"'{plain(table.header[place])}' is {words}" for place, words in found.items())
    headers = tuple(found.get(place, name) for place, name in enumerate(table.header))
    return replace(table, header=headers).noted(f"{note}, as stated in the text around the table")


def _near(table: RawTable, lines: Sequence[str]) -> list[str]:
    """The lines of text around a table, without those of tables."""
    last = max((line for line, _ in table.rows), default=table.line)
    around = lines[max(0, table.line - 1 - _AROUND) : last + _AROUND]
    return [plain(line) for line in around if len(line) <= _LONGEST_LINE and not line.lstrip().startswith("|")]
