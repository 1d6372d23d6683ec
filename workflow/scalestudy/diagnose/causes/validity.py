"""Causes that question the numbers themselves: steps that no single mean describes."""

from math import isnan, nan

from scalestudy.analyse.point.rows import in_most_launches
from scalestudy.diagnose.case import Case
from scalestudy.diagnose.cause import Seen, Stage, cause
from scalestudy.diagnose.findings import Evidence, Recommendation
from scalestudy.registry.column import Row
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
    """Heat that holds a GPU's clock back in half of the readings of most launches, by the driver's own reasons.
    Else a step time that rises for good by 5 % or more in most launches, half of it by a clock that falls.

    A power limit alone is not heat: large GPUs train at it, and it names no cause. It is said where a clock falls.
    """
    if case.point.get("launches_hot", 0) and in_most_launches(case.point, "launches_hot"):
        return Seen(
            "Heat holds the clock of a GPU back while it trains: its driver tells a thermal slowdown.",
            (
                *_affected(case, "launches_hot"),
                Evidence.of(
                    "thermal_slowdown_share",
                    "readings of a launch with a thermal slowdown, median",
                    case.point["thermal_slowdown_share"],
                    "%",
                    "50 %",
                ),
            ),
            (
                Recommendation(
                    id="cooler",
                    change="Measure again on a GPU that is cooled better, or at a lower power limit.",
                    unpredicted="the clock of a cooler GPU is not known.",
                ),
            ),
        )
    if not in_most_launches(case.point, "launches_throttled"):
        return None
    return Seen(
        f"Training becomes slower while it runs ({steadiness(case.point)}), and the clock falls with it:"
        f" {_why_the_clock_falls(case.point)}.",
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


def _why_the_clock_falls(point: Row) -> str:
    """By the reasons that the driver told, where it told them."""
    heat, power = (point.get(f"{name}_share", nan) for name in ("thermal_slowdown", "power_cap"))
    if isnan(heat):
        return "power or heat"
    reasons = [
        f"{name} in {share:.0%} of the readings" for name, share in (("heat", heat), ("power limit", power))
    ]
    return "the driver tells " + " and ".join(reasons)


def _affected(case: Case, column: str) -> tuple[Evidence, ...]:
    most = f"more than half of {int(case.point['launches_ok'])}"
    return (Evidence.of("affected_runs", "launches of which it holds", case.point[column], "", most),)
