"""comparison.json: what comparison.txt says, with every number as it is printed and with all its digits."""

from typing import ClassVar, Literal

from scalestudy.analyse.study.compare import Question, RefusedVariant
from scalestudy.analyse.study.environment import WarningCount
from scalestudy.publish.numbers.model import Value
from scalestudy.record.document import Document, Part
from scalestudy.registry.codes import AccuracyKept, NotCompared, Shows


class ComparedStudy(Part):
    """A study that is compared, and when it was measured."""

    letter: str
    name: str
    study: str
    folder: str
    launches: int
    measured: str


class StudyAtPoint(Part):
    """What one study has at a point, and what a comparison with the first study shows."""

    launches: int
    launches_ok: int
    outcomes: str
    throughput_shows: Shows
    efficiency_shows: Shows
    accuracy_shows: AccuracyKept
    not_compared: NotCompared
    """Why not; `none` where it is."""
    numbers: dict[str, Value]
    """By name, those that there are."""


class ComparedPoint(Question):
    """A point that studies have in common, or that one of them has."""

    world_size: int
    point: str
    studies: dict[str, StudyAtPoint]
    """By letter."""


class ComparisonFile(Document):
    """comparison.json."""

    made_by: ClassVar[str] = "scalestudy compare"
    schema_version: Literal[2] = 2
    scalestudy: str
    confidence: float
    accuracy_margin: float
    studies: tuple[ComparedStudy, ...]
    summary: tuple[str, ...]
    points: tuple[ComparedPoint, ...]
    environment: dict[str, dict[str, str]]
    """Facts that differ: the text of each study by its letter."""
    settings: dict[str, dict[str, str]]
    """Settings that differ, likewise."""
    warnings: dict[str, tuple[WarningCount, ...]]
    """Of the launches of each study, by its letter."""
    refused: tuple[RefusedVariant, ...]
    not_compared: tuple[str, ...]
