"""What is kept of a search: the space, every launch, and the answer. tuning.json of its folder."""

from typing import Any, ClassVar, Literal

from scalestudy.analyse.statistics.intervals import Interval
from scalestudy.record.document import Document, Part, Real
from scalestudy.record.observation import Outcome
from scalestudy.registry.codes import AccuracyKept

Kind = Literal["look", "short", "whole"]
"""`look`: one whole launch of the present setting with probes, for the gradient noise scale. `short`: for step
times alone, in rungs. `whole`: as the study trains, in the final blocks."""
Goal = Literal["goodput", "epoch_time"]


class Launched(Part):
    """A launch, and what the search reads off it."""

    setting: dict[str, Any]
    kind: Kind
    repeat: int
    """Of this setting and kind, from 1."""
    rung: int
    """Of short launches, from 0; -1 of others."""
    block: int
    """Launches of a block are neighbours in time; counted from 0 over the whole search."""
    run_id: str
    outcome: Outcome
    reason: str
    throughput_samples_per_s: Real
    """Of steady steps, over all ranks; null where the launch has none."""
    epoch_time_s: Real
    """Mean over epochs, without validation; null without epochs."""
    validation_accuracy: Real
    """After the last epoch."""
    noise_scale_samples: Interval
    """Gradient noise scale at the end of the training; of a look only."""
    device_time_s: float
    """From start to end of the launch, times the devices that were held."""
    measured_now: bool
    """Whether this call of the command made the launch; else it was recorded before."""
    cut_off: bool = False
    """Whether the end of the budget cut it off. Its run is set aside, so that a larger budget makes it again."""
    spoiled: tuple[str, ...] = ()
    """What something else on the host did to it, as in the column `spoiled` of runs.csv; of a launch that was
    measured twice, the second time."""


class Level(Part):
    """A key that is searched, and its values."""

    key: str
    values: tuple[Any, ...]
    present: Any


class Finalist(Part):
    """A setting that was launched in the final blocks, beside the present one."""

    setting: dict[str, Any]
    name: str
    blocks: int
    """Blocks in which both it and the present setting came to their end."""
    gain: Interval
    """Of the goal, times the present setting, of launches of the same block."""
    keeps_training: bool
    """Whether it computes the same training steps, rounding aside."""
    accuracy_difference: Interval
    """Validation accuracy, as a fraction, less that of the present setting in the same block."""
    accuracy_kept: AccuracyKept
    accepted: bool
    """Whether it may be the answer."""
    why: str
    """What that rests on, as the end of a sentence."""


class TuneFile(Document):
    """tuning.json: what was searched, launched and found."""

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
    """In the space."""
    held: dict[str, str]
    """Key -> why it was not searched."""
    noise_scale_samples: Interval
    """The gradient noise scale by which batches are weighed; null where they are not."""
    launches: tuple[Launched, ...]
    device_time_s: float
    """Of all launches."""
    finalists: tuple[Finalist, ...]
    answer: dict[str, Any] | None
    """The winning setting; the present one where none is shown to be better; null if the budget ended before."""
    sentence: str
