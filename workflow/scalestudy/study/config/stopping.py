"""How long is measured: what each launch has to know of it, and until when launches go on."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from scalestudy.study.config.conditions import Measure
from scalestudy.study.config.entry import Entry, refuse


class Setting(Entry):
    """A workload of the study under one of its variants."""

    workload: str
    variant: str


class Gain(Entry):
    """Two settings whose throughputs are compared wherever the study has both at the same scale and scaling."""

    before: Setting
    after: Setting

    def compares(self, workload: str, variant: str) -> bool:
        """Whether a workload under a variant is one of the two."""
        return Setting(workload=workload, variant=variant) in (self.before, self.after)


class StudyMeasure(Measure):
    """How long is measured, and until when launches go on."""

    until: Literal["decided", "precise"] = "decided"
    """What launches beyond `repeats` are for, up to `max_repeats`. `decided`: every repeat is launched until the
    verdict of each speedup is decided, or it is known to `half_width`; a comparison that is decided is not
    launched again. It is looked at preset numbers of repeats, and each look has its share of the error
    probability. `precise`: a point is launched until its step time is known to `half_width`, as the spread of the
    first `repeats` launches says."""
    budget_device_hours: float | None = Field(None, gt=0)
    """Device-hours after which no further repeat is launched with `until: decided`: those that were held for all
    launches, from their start to their end. Idle devices of a cluster's job count too. A repeat is launched as a
    whole or not at all; the first one is launched anyhow. No limit if unset."""
    gains: tuple[Gain, ...] = ()
    """Comparisons of two settings for which launches go on with `until: decided`. A point that is in one of them
    is launched until the gain is decided: its interval is above 1 or below 1, or it is known to `half_width`. The
    verdict of its own speedup is still reported, but no more launches are made for it."""
    floor: bool = False
    """Launch every base case twice in each repeat, exactly alike. Their difference is noise, from which the report
    has the smallest difference that so many launches show. It costs one more launch of one process for each repeat
    and base case."""
    alternating_rounds: int = Field(0, ge=0)
    """After a distributed launch has been measured, its base case is trained in the same processes, in so many
    rounds of blocks: base case, distributed, distributed, base case. A block has `probe_steps` steps, fewer
    where they are long, and up to 50 where they are short. Rank 0 trains the base case while the others sleep.
    Every launch then has a speedup of its own, in which drift cancels. 0 leaves that out. It is left out too where
    variant and base case differ in precision or environment, read with workers, log, or write checkpoints."""
    replace_spoiled: bool = True
    """With `until: decided`, launch further repeats, up to `max_repeats`, while a comparison has fewer than
    `repeats` repeats without a spoiled launch (`report.spoiled`). A repeat is launched as a whole. Looks are at
    the preset numbers of repeats."""
    speedup_within: Literal["repeats", "launches"] = "repeats"
    """Which speedup is judged and printed as such. `repeats`: the ratio of launches of the base case and of the
    variant in the same repeat. `launches`: the ratio within a launch, by `alternating_rounds`. Where both were
    measured both are reported, and that they differ is said. It is chosen before anything is measured."""

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
        """What a launch itself has to know."""
        return Measure(**{name: getattr(self, name) for name in Measure.model_fields})
