"""Trials of a study's advice and their results: verification/trials.json and verification.json."""

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
    """A point of a trial's study; a `single` variant is the baseline, whatever the scale."""

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
    """A trial of advice for a point: the point before and after the change, in one study."""

    id: str
    """Name of the trial's study."""
    cause: str
    advice: str
    """Id of the recommendation."""
    change: str
    patch: dict[str, Any] | None
    """As recommended; null if the advice is not a patch, for example to use one process."""
    before: Place
    """Point before the change; it has the same names in the trial's study and in the verified study."""
    after: Place
    predicted: Prediction | None

    def tries(self, at: Place, cause: str, advice: Recommendation) -> bool:
        """Whether this trial tries the given advice: the same patch or variant for the same cause and point."""
        mine = (self.before, self.cause, self.advice, self.patch)
        same_variant = advice.variant in (None, self.after.variant)
        return same_variant and mine == (at, cause, advice.id, advice.patch)


class LeftOut(Part):
    """Advice that was not tried, and why."""

    at: Place
    change: str
    why: str


class TrialsFile(Document):
    """verification/trials.json: the trials to make. It is kept until the user removes it, whatever the results."""

    made_by: ClassVar[str] = "scalestudy verify"
    schema_version: Literal[2] = 2
    study: str
    trials: tuple[Trial, ...]
    left_out: tuple[LeftOut, ...]
    studies: dict[str, dict[str, Any]]
    """The study of each trial, by name; also in a file of its own in the same folder."""


class Compared(Part):
    """A quantity of a point before and after the change; null if it was not measured or not predicted."""

    before: Interval
    predicted: Interval
    after: Interval


class Side(Part):
    """The runs of a trial before or after the change."""

    world_size: int
    batch_per_rank: int
    global_batch: int
    ends: dict[str, int]
    """Number of runs by the word for their outcome."""
    interval: IntervalMethod
    """Method of the interval of the speedup."""
    runs: tuple[str, ...]
    base_runs: tuple[str, ...]


class Verified(Part):
    """A trial and its result. All measurements are from the trial's study."""

    trial: Trial
    verdict: Tried
    reason: str
    """Reason for the verdict, as the end of a sentence."""
    gain: Interval
    """Throughput after over throughput before, compared within repeats."""
    quantities: dict[str, Compared]
    """By column of registry/verified.py, in its unit; the limits of the accuracy are the range over runs."""
    accuracy_difference: Interval
    accuracy_kept: AccuracyKept
    before: Side
    after: Side


class TrialRun(RunOrigin):
    """A run of a trial, the origin of its numbers."""


class VerificationFile(Document):
    """verification.json: every trial that was run."""

    made_by: ClassVar[str] = "scalestudy verify"
    schema_version: Literal[2] = 2
    study: str
    verified: tuple[Verified, ...]
    left_out: tuple[LeftOut, ...]
    runs: dict[str, TrialRun]
    """The runs of the trials, by id."""

    def of_points(self, points: Sequence[Point]) -> VerificationFile:
        """A copy with only these points, since the study may have changed after the trials."""
        names = list(Place.model_fields)
        known = {tuple(getattr(point, name) for name in names) for point in points}
        mine = [one for one in self.verified if tuple(vars(one.trial.before).values()) in known]
        return self.model_copy(update={"verified": tuple(mine)})

    def of(self, at: Place, cause: str, advice: Recommendation) -> Verified | None:
        """The result of this advice at a point; None if it was not tried."""
        return next((one for one in self.verified if one.trial.tries(at, cause, advice)), None)
