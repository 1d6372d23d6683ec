"""The record of a search, tuning.json of its folder: the space, every run, and the answer."""

from typing import Any, ClassVar, Literal

from scalestudy.analyse.statistics.intervals import Interval
from scalestudy.record.document import Document, Part, Real
from scalestudy.record.observation import Outcome
from scalestudy.registry.codes import AccuracyKept

Kind = Literal["look", "short", "whole"]
"""`look`: one whole run of the present setting with probes, for the gradient noise scale. `short`: a run for step
times only, in rungs. `whole`: a run that trains as in the study, in the final blocks."""
Goal = Literal["goodput", "epoch_time"]


class Launched(Part):
    """A run, and the values that the search uses of it."""

    setting: dict[str, Any]
    kind: Kind
    repeat: int
    """Number of the run of this setting and kind, from 1."""
    rung: int
    """Rung of a short run, from 0; -1 for other runs."""
    block: int
    """Block of the run, from 0 over the whole search. Runs of a block are close in time."""
    run_id: str
    outcome: Outcome
    reason: str
    throughput_samples_per_s: Real
    """Of steady steps, over all ranks; null if the run has no steady steps."""
    epoch_time_s: Real
    """Mean over epochs, without validation; null without epochs."""
    validation_accuracy: Real
    """After the last epoch."""
    noise_scale_samples: Interval
    """Gradient noise scale at the end of the training; only of a `look`."""
    device_time_s: float
    """Time from start to end of the run, times the number of devices that it occupied."""
    measured_now: bool
    """Whether this call of the command measured the run; otherwise it was recorded before."""
    cut_off: bool = False
    """Whether the end of the budget stopped it. The run is set aside, so that a larger budget repeats it."""
    spoiled: tuple[str, ...] = ()
    """How the run was disturbed, as in the column `spoiled` of runs.csv; for a run that was measured twice, in the
    second measurement."""


class Level(Part):
    """A key that is searched, and its values."""

    key: str
    values: tuple[Any, ...]
    present: Any


class Finalist(Part):
    """A setting that was run in the final blocks, together with the present one."""

    setting: dict[str, Any]
    name: str
    blocks: int
    """Number of blocks in which both it and the present setting completed."""
    gain: Interval
    """Goal of this setting over that of the present setting, compared within blocks."""
    keeps_training: bool
    """Whether it computes the same training steps, rounding aside."""
    accuracy_difference: Interval
    """Validation accuracy minus that of the present setting in the same block, as a fraction."""
    accuracy_kept: AccuracyKept
    accepted: bool
    """Whether it may be the answer."""
    why: str
    """The reason, as the end of a sentence."""


class TuneFile(Document):
    """tuning.json: the space, the runs and the result of a search."""

    made_by: ClassVar[str] = "scalestudy tune"
    schema_version: Literal[1] = 1
    study: str
    workload: str
    variant: str
    scale: str
    scaling: str
    goal: Goal
    seed: int
    budget_device_hours: float
    space: tuple[Level, ...]
    settings: int
    """Number of settings in the space."""
    held: dict[str, str]
    """Key -> why it was not searched."""
    noise_scale_samples: Interval
    """The gradient noise scale that batches are weighted by; null if they are not weighted."""
    launches: tuple[Launched, ...]
    device_time_s: float
    """Total of all runs."""
    finalists: tuple[Finalist, ...]
    answer: dict[str, Any] | None
    """The winning setting; the present one if no other is shown to be better; null if the budget ended before."""
    sentence: str
