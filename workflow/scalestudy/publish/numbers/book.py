"""Numbers by key, as documents look them up: what they print is what numbers.json has."""

from __future__ import annotations

from string import Formatter
from typing import Any

from scalestudy.errors import UserError
from scalestudy.publish.numbers.model import Number, NumbersFile
from scalestudy.publish.numbers.rounding import DASH, Shown
from scalestudy.publish.words.phrases import Phrase, Piece
from scalestudy.registry.points import QUANTITIES

NONE = Shown(DASH)


class Book:
    """The content of numbers.json."""

    def __init__(self, content: NumbersFile) -> None:
        self.content = content

    def number(self, key: str) -> Number | None:
        """The number with this key; None where there is no such number."""
        return self.content.numbers.get(key)

    def shown(self, key: str) -> Shown:
        """The text of a number; a dash where there is no such number."""
        number = self.number(key)
        return number.shown if number else NONE

    def piece(self, key: str, text: str = "{}") -> Piece:
        """A number as a part of a sentence, which leads to its runs. text: what stands around it."""
        number = self.number(key)
        return Piece(text.format(number.shown if number else NONE), key if number else "")

    def quantities(self, prefix: str) -> dict[str, Shown]:
        """Every quantity of a point, or of a forecast, by its name."""
        return {name: self.shown(f"{prefix}.{name}") for name in QUANTITIES}

    def phrase(self, prefix: str, text: str) -> Phrase:
        """'... {step_time_ms} ms ...' with the quantities of a point in the place of their names."""
        pieces: list[Piece] = []
        for before, name, *_ in Formatter().parse(text):
            pieces.append(Piece(before))
            if name is not None:
                pieces.append(self.piece(f"{prefix}.{name}"))
        return Phrase(*pieces)

    def place_of(self, key: str) -> str:
        """Where the runs behind a number are listed: its point, or its forecast."""
        number = self.number(key)
        if number is None:
            raise UserError(f"{key}: not in numbers.json, which is older than the tables; run snakemake again")
        return number.point or key.rpartition(".forecast.")[0] + ".forecast"

    def find(self, key: str) -> tuple[str, Number] | None:
        """(full key, number) for a key or a shorter one; None where there is no such number."""
        numbers = self.content.numbers
        return next(((full, numbers[full]) for full in self.full_keys(key) if full in numbers), None)

    def full_keys(self, key: str) -> list[str]:
        """The key, and what it is in full if its point is a shorter one."""
        aliases = self.content.aliases.items()
        return [key, *(f"{point}{key.removeprefix(at)}" for at, point in aliases if key.startswith(f"{at}."))]

    def given(self, prefix: str, *names: str) -> dict[str, Any]:
        """Numbers by name, those that there are."""
        found = {name: self.number(f"{prefix}.{name}") for name in names}
        return {name: number for name, number in found.items() if number}
