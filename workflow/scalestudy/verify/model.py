"""What is tried of a study's advice, and what came of it: verification/trials.json and verification.json."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Literal

from scalestudy.analyse.statistics.intervals import Interval
from scalestudy.diagnose.findings import Diagnosis, Prediction, Recommendation
from scalestudy.record.document import Document, Part
from scalestudy.record.origin import RunOrigin
from scalestudy.registry.codes import AccuracyKept, IntervalMethod, Tried
from scalestudy.study.plan import Point


class Place(Part):
    """A point of a trial's study; `single` stands for the base case at any scale."""

    workload: str
    variant: str
    scaling: str
    nodes: int
    devices_per_node: int

    @classmethod
    def of(cls, diagnosis: Diagnosis) -> Place:
        """The point that a diagnosis is of."""
        return cls(**diagnosis.model_dump(include=set(cls.model_fields)))


class Trial(Part):
    """The first advice for a point that a study can hold: the point before, and after it."""

    id: str
    """Name of the trial's study."""
    cause: str
    advice: str
    """Id of the recommendation."""
    change: str
    patch: dict[str, Any] | None
    """As it was recommended; null where the advice is none, as to use one process."""
    before: Place
    """In the trial's study, as in the study that is verified."""
    after: Place
    predicted: Prediction | None

    def tries(self, at: Place, cause: str, advice: Recommendation) -> bool:
        """Whether it is a trial of this advice: the same patch or variant for the same cause at the same point."""
        mine = (self.before, self.cause, self.advice, self.patch)
        same_variant = advice.variant in (None, self.after.variant)
        return same_variant and mine == (at, cause, advice.id, advice.patch)


class LeftOut(Part):
    """Advice that was not tried, and why."""

    at: Place
    change: str
    why: str


class TrialsFile(Document):
    """verification/trials.json: what is to be tried. It is kept until it is removed, whatever is found later."""

    made_by: ClassVar[str] = "scalestudy verify"
    schema_version: Literal[2] = 2
    study: str
    trials: tuple[Trial, ...]
    left_out: tuple[LeftOut, ...]
    studies: dict[str, dict[str, Any]]
    """The study of each trial, by its name, as in its file beside this one."""


class Compared(Part):
    """A quantity of a point before and after advice; null for what was not measured, or not predicted."""

    before: Interval
    predicted: Interval
    after: Interval


class Side(Part):
    """The launches of a trial before or after its advice."""

    world_size: int
    batch_per_rank: int
    global_batch: int
    ends: dict[str, int]
    """Launches by the word for their end."""
    interval: IntervalMethod
    """How the limits of the speedup were made."""
    runs: tuple[str, ...]
    base_runs: tuple[str, ...]


class Verified(Part):
    """A trial with what came of it. What was measured is of the trial's study alone."""

    trial: Trial
    verdict: Tried
    reason: str
    """What the verdict rests on, as the end of a sentence."""
    gain: Interval
    """Times the throughput of before, of launches of the same repeat."""
    quantities: dict[str, Compared]
    """By the columns in registry/verified.py, in their units; limits of the accuracy are the range of launches."""
    accuracy_difference: Interval
    accuracy_kept: AccuracyKept
    before: Side
    after: Side


class TrialRun(RunOrigin):
    """A launch of a trial: where its numbers come from."""


class VerificationFile(Document):
    """verification.json: every trial that was run."""

    made_by: ClassVar[str] = "scalestudy verify"
    schema_version: Literal[2] = 2
    study: str
    verified: tuple[Verified, ...]
    left_out: tuple[LeftOut, ...]
    runs: dict[str, TrialRun]
    """The launches of the trials, by their ids."""

    def of_points(self, points: Sequence[Point]) -> VerificationFile:
        """The same without points that are not among these: the study may have been changed since."""
        names = list(Place.model_fields)
        known = {tuple(getattr(point, name) for name in names) for point in points}
        mine = [one for one in self.verified if tuple(vars(one.trial.before).values()) in known]
        return self.model_copy(update={"verified": tuple(mine)})

    def of(self, at: Place, cause: str, advice: Recommendation) -> Verified | None:
        """What came of this advice at a point; None where it was not tried."""
        return next((one for one in self.verified if one.trial.tries(at, cause, advice)), None)
