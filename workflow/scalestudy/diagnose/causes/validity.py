"""Causes that question the numbers themselves: steps that no single mean describes."""

from __future__ import annotations

from scalestudy.analyse.point.rows import in_most_launches
from scalestudy.diagnose.case import Case
from scalestudy.diagnose.cause import Cause, Seen, Stage
from scalestudy.diagnose.findings import Evidence, Recommendation
from scalestudy.registry.words.steadiness import steadiness


def _in_most(case: Case, column: str) -> Seen | None:
    """Where most launches show it, by the tests of analyse/run/steady.py."""
    point = case.point
    if not in_most_launches(point, column):
        return None
    return Seen(
        (
            Evidence.of(
                "affected_runs",
                "launches of which it holds",
                point[column],
                "",
                f"more than half of {int(point['launches_ok'])}",
            ),
        )
    )


TWO_MODES = Cause(
    id="two-modes",
    stage=Stage.VALIDITY,
    threshold="a mixture of two in most launches (METHOD, section 4)",
    look=lambda case: _in_most(case, "launches_of_two_modes"),
    explanation=lambda case, seen: (
        f"Steps are of two kinds, and a mean describes neither ({steadiness(case.point)}): other work on the"
        " host, clocks that change, or something that is done in some steps only."
    ),
    refuted_by="a single mode on a host that does nothing else",
    recommend=lambda case, seen: (
        Recommendation(
            id="measure_again",
            change="Measure again where nothing else runs, with cores of its own for every rank.",
            patch=None if case.study.host.pin else {"host": {"pin": True}},
            unpredicted="which of the two is the training itself is not known.",
        ),
    ),
)
THERMAL = Cause(
    id="thermal",
    stage=Stage.VALIDITY,
    threshold="a step time that rises for good by 5 % or more in most launches, half of it by a clock that falls",
    look=lambda case: _in_most(case, "launches_throttled"),
    explanation=lambda case, seen: (
        f"Training becomes slower while it runs ({steadiness(case.point)}), and the clock falls with it: power or"
        " heat."
    ),
    refuted_by="clocks that stay the same on a cooler host, and steps that become slower all the same",
    recommend=lambda case, seen: (
        Recommendation(
            id="longer_warmup",
            change="Warm up for longer, and look at clocks and temperature of the blocks.",
            patch={"measure": {"max_warmup_steps": 2 * case.study.measure.max_warmup_steps}},
            unpredicted="which level lasts is not known.",
        ),
    ),
)
