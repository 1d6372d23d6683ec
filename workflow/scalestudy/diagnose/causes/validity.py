"""Causes that question the numbers themselves: steps that no single mean describes."""

from scalestudy.analyse.point.rows import in_most_launches
from scalestudy.diagnose.case import Case
from scalestudy.diagnose.cause import Seen, Stage, cause
from scalestudy.diagnose.findings import Evidence, Recommendation
from scalestudy.registry.words.points import steadiness


@cause("two-modes", Stage.VALIDITY, refuted_by="a single mode on a host that does nothing else")
def two_modes(case: Case) -> Seen | None:
    """A mixture of two in most launches (METHOD, section 4), by the tests of analyse/run/steady.py."""
    if not in_most_launches(case.point, "launches_of_two_modes"):
        return None
    return Seen(
        f"Steps are of two kinds, and a mean describes neither ({steadiness(case.point)}): other work on the"
        " host, clocks that change, or something that is done in some steps only.",
        _affected(case, "launches_of_two_modes"),
        (
            Recommendation(
                id="measure_again",
                change="Measure again where nothing else runs, with cores of its own for every rank.",
                patch=None if case.study.host.pin else {"host": {"pin": True}},
                unpredicted="which of the two is the training itself is not known.",
            ),
        ),
    )


@cause(
    "thermal",
    Stage.VALIDITY,
    refuted_by="clocks that stay the same on a cooler host, and steps that become slower all the same",
)
def thermal(case: Case) -> Seen | None:
    """A step time that rises for good by 5 % or more in most launches, half of it by a clock that falls."""
    if not in_most_launches(case.point, "launches_throttled"):
        return None
    return Seen(
        f"Training becomes slower while it runs ({steadiness(case.point)}), and the clock falls with it: power or"
        " heat.",
        _affected(case, "launches_throttled"),
        (
            Recommendation(
                id="longer_warmup",
                change="Warm up for longer, and look at clocks and temperature of the blocks.",
                patch={"measure": {"max_warmup_steps": 2 * case.study.measure.max_warmup_steps}},
                unpredicted="which level lasts is not known.",
            ),
        ),
    )


def _affected(case: Case, column: str) -> tuple[Evidence, ...]:
    most = f"more than half of {int(case.point['launches_ok'])}"
    return (Evidence.of("affected_runs", "launches of which it holds", case.point[column], "", most),)
