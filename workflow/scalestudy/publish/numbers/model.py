"""numbers.json: every number that a document prints, by key, with its unit, its limits and the runs behind it."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import ConfigDict

from scalestudy.publish.numbers.rounding import Shown
from scalestudy.record.document import Document, Part, Real
from scalestudy.registry.codes import IntervalMethod


class Value(Part):
    """A number as documents print it (`shown`), and with all its digits in the printed unit."""

    value: Real
    low: Real
    high: Real
    unit: str
    """'' for a ratio or a count."""
    shown: Shown
    what: str


class Number(Value):
    """A number with what its limits are, and where it is from."""

    limits: str
    """'95% confidence', 'range of launches' or 'none'."""
    point: str | None
    """Key of the point where it was measured."""
    rests_on: tuple[str, ...] = ()
    """Of a forecast: keys of the points that it is from."""


class PointSource(Part):
    """Where numbers of a point come from."""

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
    """Key of the base case's point."""
    runs: tuple[str, ...]
    base_runs: tuple[str, ...]


class RunSource(Part):
    """A run that numbers come from: its outcome, its record and the code."""

    model_config = ConfigDict(coerce_numbers_to_str=True)  # a table may have read the digits of a hash as a number

    outcome: str
    record_sha256: str | None = None
    fingerprint: str | None = None
    commit: str | None = None
    dirty: bool | None = None
    started_at: str | None = None


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
    """Key in scalestudy 0.1 -> its key now, for those that changed."""
