"""Causes that question the numbers themselves: no single mean describes the steps."""

from math import isnan, nan

from scalestudy.analyse.point.rows import in_most_launches
from scalestudy.diagnose.case import Case
from scalestudy.diagnose.cause import Seen, Stage, cause
from scalestudy.diagnose.findings import Evidence, Recommendation
from scalestudy.registry.column import Row
from scalestudy.registry.words.percent import percent
from scalestudy.registry.words.points import steadiness


@cause("two-modes", Stage.VALIDITY, refuted_by="a single mode on a host without other work")
def two_modes(case: Case) -> Seen | None:
    """A mixture of two modes in most runs, by the tests of analyse/run/steady.py."""
    if not in_most_launches(case.point, "launches_of_two_modes"):
        return None
    return Seen(
        f"There are two kinds of steps, and a mean describes neither ({steadiness(case.point)}). Possible reasons:"
        " other work on the host, changing clocks, or work that is done only in some steps.",
        _affected(case, "launches_of_two_modes"),
        (
            Recommendation(
                id="measure_again",
                change="Measure again on a host without other work, with cores of its own for every rank.",
                patch=None if case.study.host.pin else {"host": {"pin": True}},
                unpredicted="it is not known which of the two modes is the undisturbed training.",
            ),
        ),
    )


@cause(
    "thermal",
    Stage.VALIDITY,
    refuted_by="steps that still become slower on a cooler host, although the clocks stay the same",
)
def thermal(case: Case) -> Seen | None:
    """Heat limits a GPU's clock in half of the readings of most runs, by the reasons that the driver reports. Or
    the step time rises permanently by >= 5 % in most runs, and a falling clock explains half of the rise.

    A power limit alone is not heat: large GPUs train at it, so it is not a cause. It is reported if a clock falls.
    """
    if case.point.get("launches_hot", 0) and in_most_launches(case.point, "launches_hot"):
        return Seen(
            "Heat limits the clock of a GPU during training: its driver reports a thermal slowdown.",
            (
                *_affected(case, "launches_hot"),
                Evidence.of(
                    "thermal_slowdown_share",
                    "readings with a thermal slowdown, median over runs",
                    case.point["thermal_slowdown_share"],
                    "%",
                    "50 %",
                ),
            ),
            (
                Recommendation(
                    id="cooler",
                    change="Measure again on a better cooled GPU, or at a lower power limit.",
                    unpredicted="the clock of a cooler GPU is not known.",
                ),
            ),
        )
    if not in_most_launches(case.point, "launches_throttled"):
        return None
    return Seen(
        f"Training becomes slower while it runs ({steadiness(case.point)}), and the clock falls at the same time:"
        f" {_why_the_clock_falls(case.point)}.",
        _affected(case, "launches_throttled"),
        (
            Recommendation(
                id="longer_warmup",
                change="Use a longer warm-up, and look at the clocks and temperatures of the blocks.",
                patch={"measure": {"max_warmup_steps": 2 * case.study.measure.max_warmup_steps}},
                unpredicted="it is not known which level lasts.",
            ),
        ),
    )


def _why_the_clock_falls(point: Row) -> str:
    """The reasons that the driver reports; 'power or heat' if it reports none."""
    heat, power = (point.get(f"{name}_share", nan) for name in ("thermal_slowdown", "power_cap"))
    if isnan(heat):
        return "power or heat"
    reasons = [
        f"{name} in {percent(share)} of the readings" for name, share in (("heat", heat), ("power limit", power))
    ]
    return "the driver reports " + " and ".join(reasons)


def _affected(case: Case, column: str) -> tuple[Evidence, ...]:
    most = f"more than half of {int(case.point['launches_ok'])}"
    return (Evidence.of("affected_runs", "affected runs", case.point[column], "", most),)
