"""Finds the rows of a console log in many lines at once, by one pattern of the whole row.

The pattern has the same matches as the finders of the form, which search one after the other. It is used for lines
that all have the form and of which none has to be looked at by itself: no other rank, no validation, no colours.
What a row has anywhere, such as the number of devices, is looked for from its begin.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from math import nan

import numpy as np

from scalestudy.importers.logs.console.durations import seconds_of
from scalestudy.importers.logs.console.form import Form
from scalestudy.importers.logs.console.phrases import STAMP

Found = list[tuple[bytes, ...]]
LINES = 4000
"""Lines of a block."""
_ALONE = (b"val", b"test", b"infer", b"rank", b"[default", b"\x1b", b"\x08")
"""In lines that are taken one by one: of a validation, of a rank, coloured."""
_GROUP = re.compile(rb"\(\?P<(\w+)>")


class RowPattern:
    """The pattern of the rows of a form."""

    def __init__(self, form: Form, rest: Collection[str]) -> None:
        """rest: what is looked for anywhere in a row, of `form.rest`."""
        stamp = b"[^\\n]*?" + STAMP.pattern
        parts = [] if not form.stamped else [b"(?=%b)" % stamp if form.stamp_later else stamp]
        for name, source in zip((name for name, _, _ in form.fields), form.sources, strict=True):
            parts.append(_named(name, source))
        ahead = [
            b"(?=(?:%b)?)" % _named(name, source) for name, source in zip(form.rest, form.of_rest, strict=True)
        ]
        parts = ahead + parts
        usable = all((*form.sources, *form.of_rest)) and not form.label
        self._row = re.compile(b"(?m)^" + b"".join(parts) + b"[^\\n]*+\\n") if usable else None
        self.place = {name: at - 1 for name, at in self._row.groupindex.items()} if self._row else {}
        """Name of a group, such as `step_value` -> its place in what `found_in` returns."""

    def found_in(self, lines: bytes, count: int) -> Found | None:
        """Return the groups of each line; None if the lines have to be taken one by one."""
        lower = lines.lower()
        if self._row is None or any(text in lower for text in _ALONE):
            return None
        if b"\r" in lines and lines.count(b"\r") != lines.count(b"\r\n"):
            return None  # a line of a terminal over another one
        found = self._row.findall(lines)
        return found if len(found) == count else None


def _named(name: str, source: bytes | None) -> bytes:
    """Return the pattern with the name of its number as a prefix of each group's name."""
    return _GROUP.sub(b"(?P<%b_\\1>" % name.encode(), source or b"")


def numbers(texts: Sequence[bytes]) -> np.ndarray:
    """Return printed numbers; nan for no text."""
    if b"," in b"".join(texts):
        texts = [text.replace(b",", b"") for text in texts]
    return np.array([float(text or nan) for text in texts])


def times(texts: Sequence[bytes]) -> np.ndarray:
    """Return printed times, of which some may be durations, in seconds; nan for what is none."""
    try:
        return numbers(texts)
    except ValueError:
        return np.array([seconds_of(text) for text in texts])
