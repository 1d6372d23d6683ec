"""comparison.json: the content of comparison.txt, with every number as printed and with all digits."""

from typing import ClassVar, Literal

from scalestudy.analyse.study.compare import Question, RefusedVariant
from scalestudy.analyse.study.environment import WarningCount
from scalestudy.publish.numbers.model import Value
from scalestudy.record.document import Document, Part
from scalestudy.registry.codes import AccuracyKept, NotCompared, Shows


class ComparedStudy(Part):
    """A compared study, and when it was measured."""

    letter: str
    name: str
    study: str
    folder: str
    launches: int
    measured: str
    imported: bool = False
    """Whether its runs were imported from logs, which record neither hardware nor software."""


class StudyAtPoint(Part):
    """The results of one study at a point, and of its comparison with the first study."""

    launches: int
    launches_ok: int
    outcomes: str
    throughput_shows: Shows
    efficiency_shows: Shows
    accuracy_shows: AccuracyKept
    not_compared: NotCompared
    """Why the study is not compared; `none` if it is compared."""
    numbers: dict[str, Value]
    """The available numbers by name."""


class ComparedPoint(Question):
    """A point of one or several of the studies."""

    world_size: int
    point: str
    studies: dict[str, StudyAtPoint]
    """By letter of the study."""


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
    """Settings that differ, in the same form."""
    warnings: dict[str, tuple[WarningCount, ...]]
    """Warnings of each study's runs, by its letter."""
    refused: tuple[RefusedVariant, ...]
    not_compared: tuple[str, ...]
