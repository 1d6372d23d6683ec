"""What documents say of the smallest difference that a study shows; `row` is one of floors.csv."""

from collections.abc import Iterator
from math import isnan

from scalestudy.registry.codes import Claim, Shows
from scalestudy.registry.column import Row
from scalestudy.study.config.study import FIRST_REPEATS, Study

NOT_MEASURED = (
    "The smallest difference that this study shows is not known, since no base case was launched twice."
    " To measure it, set measure.floor: true"
)
CLAIMS = {
    Claim.BASE: "the speedup differs from 1",
    Claim.TARGET: "the efficiency differs from the target",
    Claim.VARIANT: "the throughput differs from that of {beside_variant}",
}
"""What a point is said to differ in; `beside_variant` is of the summary."""


def base_case(row: Row) -> str:
    """'digits-mlp (single, batch 32)'."""
    return f"{row['workload']} ({row['variant']}, batch {int(row['batch_per_rank'])})"


def unknown(row: Row) -> str:
    """Why no smallest difference is stated for a base case."""
    return (
        f"{base_case(row)}: the smallest difference that this study shows is not known, since fewer than 2 repeats"
        f" have a good launch of both identical base cases. With repeats: {FIRST_REPEATS} there are enough unless"
        " launches fail"
    )


def sentences(row: Row, study: Study) -> Iterator[str]:
    """Sentences with names of numbers of floors.csv in their places; for a row that has a smallest difference."""
    differ = f"Two identical base cases of {base_case(row)} differ by {{step_time_difference_percent}} %"
    if row["shows"] == Shows.NO_DIFFERENCE:
        yield f"{differ} in step time; the interval includes 0"
    else:
        yield f"{differ} in step time; the interval excludes 0"
        yield (
            f"Chance alone does that in {100 * (1 - study.level):.2g} % of such comparisons. Otherwise this host"
            " shows differences where there are none, and intervals are too narrow here"
        )
    yield (
        "With {repeats_compared} repeats a difference of {smallest_difference_percent} % is shown in 4 of 5"
        " studies, a smaller one less often"
    )
    if isnan(row["smallest_difference_low"]):
        yield "So few repeats do not tell how sure that difference is"
    if row["most_repeats"] > row["repeats_compared"]:
        yield "With {most_repeats} repeats it would be {smallest_difference_at_most_percent} %"
    if isnan(row["shared_variance"]):
        return
    drift = "Drift of the host is {shared_variance_percent} % of the variance between launches"
    if row["shared_variance_low"] > 0:
        yield f"{drift}: launches of one repeat differ less than those of different repeats"
    else:
        yield f"{drift}: no drift is shown, and one spread describes launches within and across repeats"


def note(claim: Claim, row: Row) -> str:
    """That a difference is smaller than what is sure to be seen; `row` is one of the summary."""
    said = CLAIMS[claim].format(beside_variant=row["beside_variant"])
    return (
        f"{said} by less than {{smallest_difference_percent}} %, the smallest difference that two identical base"
        " cases show in 4 of 5 studies. It may be chance, or smaller than it looks; more repeats would tell"
    )
