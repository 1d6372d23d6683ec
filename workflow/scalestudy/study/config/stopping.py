"""How long is measured: what each launch has to know of it, and until when launches go on."""

from typing import Literal

from pydantic import Field

from scalestudy.study.config.conditions import Measure


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

    def of_a_launch(self) -> Measure:
        """What a launch itself has to know."""
        return Measure(**{name: getattr(self, name) for name in Measure.model_fields})
