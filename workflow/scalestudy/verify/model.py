"""What is tried of a study's advice, and what came of it: verification/trials.json and verification.json."""

from typing import Any, ClassVar, Literal

from scalestudy.analyse.statistics.intervals import Interval
from scalestudy.diagnose.findings import Prediction
from scalestudy.record.document import Document, Part, Real
from scalestudy.registry.codes import AccuracyKept, Tried


class Place(Part):
    """A point of a trial's study; `single` stands for the base case at any scale."""

    workload: str
    variant: str
    scaling: str
    nodes: int
    devices_per_node: int


class Trial(Part):
    """The first advice for a point that a study can hold: the point before, and after it."""

    id: str
    """Name of the trial's study."""
    cause: str
    advice: str
    """Id of the recommendation."""
    change: str
    before: Place
    """In the trial's study, as in the study that is verified."""
    after: Place
    predicted: Prediction | None


class LeftOut(Part):
    """Advice that was not tried, and why."""

    at: Place
    change: str
    why: str


class TrialsFile(Document):
    """verification/trials.json: what is to be tried. It is kept until it is removed, whatever is found later."""

    made_by: ClassVar[str] = "scalestudy verify"
    schema_version: Literal[1] = 1
    study: str
    trials: tuple[Trial, ...]
    left_out: tuple[LeftOut, ...]
    studies: dict[str, dict[str, Any]]
    """The study of each trial, by its name, as in its file beside this one."""


class Verified(Part):
    """A trial with what came of it. Numbers are of the trial's study alone, null where it has none."""

    trial: Trial
    verdict: Tried
    reason: str
    """What the verdict rests on, as the end of a sentence."""
    step_time_before_s: Interval
    step_time_after_s: Interval
    speedup_before: Interval
    speedup_after: Interval
    gain: Interval
    """Times the throughput of before, of launches of the same repeat."""
    accuracy_before: Real
    accuracy_after: Real
    accuracy_difference: Interval
    accuracy_kept: AccuracyKept


class VerificationFile(Document):
    """verification.json: every trial that was run."""

    made_by: ClassVar[str] = "scalestudy verify"
    schema_version: Literal[1] = 1
    study: str
    verified: tuple[Verified, ...]
    left_out: tuple[LeftOut, ...]
