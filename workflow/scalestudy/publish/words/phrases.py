"""Sentences with numbers in them: text for one document, text with links to the launches for another."""

from __future__ import annotations

from typing import NamedTuple


class Piece(NamedTuple):
    """A part of a sentence: plain text, or a number with its key in numbers.json."""

    text: str
    key: str = ""


class Phrase(str):
    """A sentence as text, which also knows its pieces."""

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
    """With commas between them."""
    commas: list[Piece | str] = [piece for item in phrases for piece in (", ", item)]
    return Phrase(*commas[1:])
