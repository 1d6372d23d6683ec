"""numbers.json: every printed number by key, with its unit, its limits and the runs behind it."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan, nan
from string import Formatter
from typing import Any, ClassVar, Literal

from scalestudy.errors import UserError
from scalestudy.publish.numbers.rounding import DASH, NOT_RESOLVED, Shown, Values
from scalestudy.publish.words import labels
from scalestudy.publish.words.phrases import Phrase, Piece
from scalestudy.record.document import Document, Part, Real
from scalestudy.record.origin import RunOrigin
from scalestudy.registry.codes import IntervalMethod
from scalestudy.registry.points import QUANTITIES

DIGITS = 12
"""Printed digits of a checksum or a commit: enough to distinguish them."""
STATES: dict[bool | None, str] = {True: " (dirty)", False: " (clean)"}


class Value(Part):
    """A number as documents print it (`shown`), and with all digits in the printed unit."""

    value: Real
    low: Real
    high: Real
    unit: str
    """'' for a ratio or a count."""
    shown: Shown
    what: str


class Number(Value):
    """A number with the kind of its limits and its source."""

    limits: str
    """'95 % confidence', 'range over runs' or 'none'."""
    point: str | None
    """Key of the point where it was measured."""
    rests_on: tuple[str, ...] = ()
    """For a forecast: keys of the points on which it is based."""
    resolved: bool = True
    """False for an estimate of a part whose interval includes both no effect and one of 10 % of the whole."""
    repeats_to_resolve: int | None = None
    """Number of repeats that would resolve it; null if it is resolved, or if this is unknown."""

    @classmethod
    def of(
        cls, text: Shown, values: Values | float, unit: str, what: str, *, limits: str = "interval", **source: Any
    ) -> Number:
        """Make a number. limits: their kind, if the text has limits. source: `point`, or the points behind it."""
        value, low, high = values if isinstance(values, tuple) else (values, nan, nan)
        if not text.low:
            low, high, limits = nan, nan, "none"
        source = {"point": None} | source
        return cls(value=value, low=low, high=high, unit=unit, shown=text, limits=limits, what=what, **source)

    def withheld(self, repeats: float | None = None) -> Number:
        """The same number as an estimate that is not resolved. repeats: the number that would resolve it."""
        known = None if repeats is None or isnan(repeats) else int(repeats)
        shown = Shown(NOT_RESOLVED)
        return self.model_copy(update={"shown": shown, "resolved": False, "repeats_to_resolve": known})

    def with_unit(self) -> str:
        """The number with its limits and unit; without a unit if it is not resolved."""
        return f"{self.shown} {self.unit}".strip() if self.resolved else str(self.shown)


class PointSource(Part):
    """The source of a point's numbers."""

    workload: str
    variant: str
    scaling: str
    nodes: int
    devices_per_node: int
    world_size: int
    batch_per_rank: int
    global_batch: int
    outcomes: str
    interval: IntervalMethod
    base: str | None
    """Key of the baseline's point."""
    runs: tuple[str, ...]
    base_runs: tuple[str, ...]

    @property
    def place(self) -> str:
        """'2 ranks, batch 16 per rank, 32 global'."""
        return f"{labels.place(vars(self))}, {self.global_batch} global"

    @property
    def where(self) -> str:
        """'imdb, ddp, strong scaling, 2 ranks, batch 16 per rank, 32 global'."""
        return f"{self.workload}, {self.variant}, {self.scaling} scaling, {self.place}"


class RunSource(RunOrigin):
    """A run behind numbers: its outcome, its record and its code."""

    @property
    def record(self) -> str:
        """The first digits of the checksum of its record; '' if it is not known."""
        return (self.record_sha256 or "")[:DIGITS]

    @property
    def code(self) -> str:
        """'commit 0123456789ab (clean)'; '' if it is not known."""
        return f"commit {self.commit[:DIGITS]}{STATES.get(self.dirty, '')}" if self.commit else ""


class NumbersFile(Document):
    """numbers.json."""

    made_by: ClassVar[str] = "scalestudy stage numbers"
    schema_version: Literal[2] = 2
    study: str
    scalestudy: str
    confidence: float
    points: dict[str, PointSource]
    """By key."""
    runs: dict[str, RunSource]
    aliases: dict[str, str]
    """Shorter key of a point -> its key."""
    numbers: dict[str, Number]
    """By key."""
    renamed: dict[str, str]
    """Key in scalestudy 0.1 -> present key, for changed keys."""

    def launches(self, run_ids: Sequence[str]) -> dict[str, RunSource]:
        """The runs with these ids that exist."""
        found = {run_id: self.runs[run_id] for run_id in run_ids if run_id in self.runs}
        return {run_id: run for run_id, run in found.items() if run.outcome != "unneeded"}

    def number(self, key: str) -> Number | None:
        """The number with this key; None if there is no such number."""
        return self.numbers.get(key)

    def shown(self, key: str) -> Shown:
        """The text of a number; a dash if there is no such number."""
        number = self.number(key)
        return number.shown if number else Shown(DASH)

    def piece(self, key: str, text: str = "{}") -> Piece:
        """A number as a part of a sentence, linked to its runs. text: a format with the text around it."""
        return Piece(text.format(self.shown(key)), key if key in self.numbers else "")

    def quantities(self, prefix: str) -> dict[str, Shown]:
        """Every quantity of a point by its name."""
        return {name: self.shown(f"{prefix}.{name}") for name in QUANTITIES}

    def phrase(self, prefix: str, text: str) -> Phrase:
        """The text with names such as {step_time_ms} replaced by the quantities of a point."""
        pieces: list[Piece] = []
        for before, name, *_ in Formatter().parse(text):
            pieces.append(Piece(before))
            if name is not None:
                pieces.append(self.piece(f"{prefix}.{name}"))
        return Phrase(*pieces)

    def place_of(self, key: str) -> str:
        """The place where the runs behind a number are listed: its point, or its forecast."""
        number = self.number(key)
        if number is None:
            raise UserError(f"{key}: not in numbers.json, which is older than the tables; run the study again")
        return number.point or key.rpartition(".forecast.")[0] + ".forecast"

    def find(self, key: str) -> tuple[str, Number] | None:
        """(full key, number) for a key or a shorter key; None if there is no such number."""
        return next(((full, self.numbers[full]) for full in self.full_keys(key) if full in self.numbers), None)

    def full_keys(self, key: str) -> list[str]:
        """The key, and its full forms if it begins with the shorter key of a point."""
        aliases = self.aliases.items()
        return [key, *(f"{point}{key.removeprefix(at)}" for at, point in aliases if key.startswith(f"{at}."))]
