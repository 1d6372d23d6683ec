"""How many repeats a study runs, and what ends them: the key `measure`, with the part that each run needs."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from scalestudy.study.config.conditions import Measure
from scalestudy.study.config.entry import Entry, refuse


class Setting(Entry):
    """A workload of the study with one of its variants."""

    workload: str
    """A workload of the study."""
    variant: str
    """A variant of the study, or of a sweep: its full name."""


class Gain(Entry):
    """Two settings whose throughputs are compared where the study has both at the same scale and scaling."""

    before: Setting
    """The setting that the other one is compared with."""
    after: Setting
    """The setting whose gain is decided."""

    def compares(self, workload: str, variant: str) -> bool:
        """Whether a workload with a variant is one of the two."""
        return Setting(workload=workload, variant=variant) in (self.before, self.after)


class StudyMeasure(Measure):
    """How long each run measures, and the number of repeats."""

    until: Literal["decided", "precise"] = "decided"
    """Purpose of the repeats beyond `repeats`, up to `max_repeats`. `decided`: repeats are run until the verdict
    of each speedup is decided or the speedup is known to `half_width`; a decided comparison is not run again.
    Verdicts are judged at preset numbers of repeats, and each of these looks has its share of the error
    probability. `precise`: a point is run until its step time is known to `half_width`, estimated from the spread
    of the first `repeats` runs."""
    budget_device_hours: float | None = Field(None, gt=0)
    """Device-hours after which no further repeat starts with `until: decided`. All devices that a run holds count,
    from its start to its end, and so do idle devices of a cluster job. A repeat is run as a whole or not at all;
    the first one is always run. No limit if unset."""
    gains: tuple[Gain, ...] = ()
    """Comparisons of two settings that further repeats decide with `until: decided`. A point in one of them is run
    until the gain is decided: its interval is above 1 or below 1, or it is known to `half_width`. The verdict of
    the point's own speedup is still reported, but no further repeats are run for it."""
    floor: bool = False
    """Run every baseline twice in each repeat, in exactly the same way. The difference of the two is noise, and
    gives the smallest difference that this number of runs can show. It costs one more single-process run for each
    repeat and baseline."""
    alternating_rounds: int = Field(0, ge=0)
    """Rounds in which a distributed run, after it was measured, trains its baseline in the same processes. A round
    is four blocks: baseline, distributed, distributed, baseline. A block has `probe_steps` steps, fewer where they
    are long, and up to 50 where they are short. Rank 0 trains the baseline while the other ranks sleep. Every run
    then has a speedup of its own, in which drift cancels. 0 switches this off. It is also off for a variant that
    differs from its baseline in precision or environment, or if either reads with workers, logs, or writes
    checkpoints."""
    replace_spoiled: bool = True
    """With `until: decided`, run further repeats, up to `max_repeats`, while a comparison has fewer than `repeats`
    repeats without a disturbed run (`report.spoiled`). A repeat is run as a whole. Verdicts are still judged at
    the preset numbers of repeats only."""
    speedup_within: Literal["repeats", "launches"] = "repeats"
    """Which speedup is judged and printed. `repeats`: the ratio of a run of the baseline and a run of the variant
    in the same repeat. `launches`: the ratio within one run, from `alternating_rounds`. If both were measured,
    both are reported, with a note if they differ. Choose it before anything is measured."""

    @model_validator(mode="after")
    def _together(self) -> StudyMeasure:
        problems = []
        if self.gains and self.until != "decided":
            problems.append("gains: needs `until: decided`; leave out one of them")
        if self.speedup_within == "launches" and not self.alternating_rounds:
            problems.append("speedup_within: launches needs alternating_rounds; set it, to 6 for instance")
        refuse(problems)
        return self

    def of_a_launch(self) -> Measure:
        """The part of these settings that a run itself needs."""
        return Measure(**{name: getattr(self, name) for name in Measure.model_fields})
