"""Sentences that contain numbers: plain text in some documents, text with links to the runs in others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from string import Formatter
from typing import NamedTuple


class Piece(NamedTuple):
    """A part of a sentence: plain text, or a number and its key in numbers.json."""

    text: str
    key: str = ""


class Phrase(str):
    """A sentence as a string, together with its pieces."""

    pieces: tuple[Piece, ...]

    def __new__(cls, *pieces: Piece | str) -> Phrase:
        found: list[Piece] = []
        for piece in pieces:
            if isinstance(piece, Phrase):
                found += piece.pieces
            else:
                found.append(piece if isinstance(piece, Piece) else Piece(piece))
        made = super().__new__(cls, "".join(piece.text for piece in found))
        made.pieces = tuple(found)
        return made


def either(phrases: list[Phrase]) -> Phrase:
    """'a, b or c'."""
    if len(phrases) < 2:
        return Phrase(*phrases)
    return Phrase(joined(phrases[:-1]), " or ", phrases[-1])


def joined(phrases: list[Phrase]) -> Phrase:
    """The phrases with commas between them: 'a, b, c'."""
    commas: list[Piece | str] = [piece for item in phrases for piece in (", ", item)]
    return Phrase(*commas[1:])


def filled(template: str, given: Mapping[str, Piece | str]) -> Phrase:
    """A template with its names replaced. Braces in the replacements, such as in a user's names, are kept."""
    parts = [
        part for before, name, *_ in Formatter().parse(template) for part in (before, given[name] if name else "")
    ]
    return Phrase(*(part for part in parts if part))


def spaced(phrases: Sequence[Phrase]) -> Phrase:
    """The sentences with a space between them."""
    return Phrase(*[piece for phrase in phrases if phrase for piece in (" ", phrase)][1:])
