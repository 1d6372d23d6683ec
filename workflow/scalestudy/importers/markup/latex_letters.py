"""Letters of LaTeX: those with accents, such as \\'e, and those with a name, such as \\oe."""

from __future__ import annotations

import re
from unicodedata import normalize

_ACCENTS = {
    "`": "\u0300",
    "'": "\u0301",
    "^": "\u0302",
    "~": "\u0303",
    "=": "\u0304",
    "u": "\u0306",
    ".": "\u0307",
    '"': "\u0308",
    "r": "\u030a",
    "H": "\u030b",
    "v": "\u030c",
    "d": "\u0323",
    "c": "\u0327",
    "k": "\u0328",
}
"""The mark that LaTeX writes in front of a letter, and the one that follows it here."""
_NAMES = {
    "aa": "\u00e5",
    "AA": "\u00c5",
    "ae": "\u00e6",
    "AE": "\u00c6",
    "oe": "\u0153",
    "OE": "\u0152",
    "o": "\u00f8",
    "O": "\u00d8",
    "l": "\u0142",
    "L": "\u0141",
    "ss": "\u00df",
    "i": "\u0131",
    "j": "\u0237",
}
_LETTER = r"(?:\\[ij](?![A-Za-z]) ?|[A-Za-z])"
_COMMAND = r"(?<!\\)(?P<before>(?:\\\\)*)\\"
_ACCENTED = re.compile(
    rf"{_COMMAND}(?:(?P<sign>[`'^~=.\"]) ?|(?P<named>[uvHcdkr])(?= ?\{{| [A-Za-z\\]) ?)"
    rf"(?:\{{ ?(?P<inside>{_LETTER}) ?\}}|(?P<letter>{_LETTER}))"
)
"""An accent with its letter: \\'e, \\'{e}, \\c c, \\v{s}, \\'{\\i}."""
_NAMED = re.compile(rf"{_COMMAND}(?P<name>{'|'.join(_NAMES)})(?![A-Za-z])(?:\{{\}}| (?=[^\W\d]))?")


def with_letters(text: str) -> str:
    """Return a text of LaTeX with letters instead of its commands for them: Z\u00fcrich for Z\\"urich."""
    if "\\" not in text:
        return text
    text = _ACCENTED.sub(_accented, text)
    return _NAMED.sub(lambda found: found["before"] + _NAMES[found["name"]], text)


def _accented(found: re.Match[str]) -> str:
    """A letter with its accent; a dotless one has its dot back first."""
    letter = (found["inside"] or found["letter"]).strip("\\ ")
    whole = normalize("NFC", letter + _ACCENTS[found["sign"] or found["named"]])
    return found["before"] + (whole if len(whole) == 1 else letter)
