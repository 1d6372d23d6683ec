"""Texts about the smallest difference that a study can show; `row` is a row of floors.csv."""

from collections.abc import Iterator
from math import isnan

from scalestudy.registry.codes import Claim, Shows
from scalestudy.registry.column import Row
from scalestudy.study.config.study import FIRST_REPEATS, Study

NOT_MEASURED = (
    "The smallest difference that this study can show is not known, since no baseline was run twice per repeat."
    " To measure it, set measure.floor: true"
)
CLAIMS = {
    Claim.BASE: "the speedup differs from 1",
    Claim.TARGET: "the efficiency differs from the target",
    Claim.VARIANT: "the throughput differs from that of {beside_variant}",
}
"""The difference that is claimed for a point; `beside_variant` is a column of the summary."""


def base_case(row: Row) -> str:
    """'digits-mlp (single, batch 32)'."""
    return f"{row['workload']} ({row['variant']}, batch {int(row['batch_per_rank'])})"


def unknown(row: Row) -> str:
    """Why no smallest difference is given for a baseline."""
    return (
        f"{base_case(row)}: the smallest difference that this study can show is not known, since fewer than 2"
        f" repeats have a good run of both identical baselines. With repeats: {FIRST_REPEATS} there are enough"
        " unless runs fail"
    )


def sentences(row: Row, study: Study) -> Iterator[str]:
    """Sentences with placeholders for numbers of floors.csv, for a row that has a smallest difference."""
    differ = f"Two identical baselines of {base_case(row)} differ by {{step_time_difference_percent}} %"
    if row["shows"] == Shows.NO_DIFFERENCE:
        yield f"{differ} in step time; the interval includes 0"
    else:
        yield f"{differ} in step time; the interval excludes 0"
        yield (
            f"This happens by chance in {100 * (1 - study.level):.2g} % of such comparisons. If it is not chance,"
            " measurements on this host show differences that do not exist, and the intervals are too narrow"
        )
    yield (
        "With {repeats_compared} repeats, a difference of {smallest_difference_percent} % is detected in 4 of 5"
        " studies, a smaller one less often"
    )
    if isnan(row["smallest_difference_low"]):
        yield "There are too few repeats for an interval of this smallest difference"
    if row["most_repeats"] > row["repeats_compared"]:
        yield "With {most_repeats} repeats, it would be {smallest_difference_at_most_percent} %"
    if isnan(row["shared_variance"]):
        return
    drift = "Drift of the host is {shared_variance_percent} % of the variance between runs"
    if row["shared_variance_low"] > 0:
        yield f"{drift}: runs of one repeat differ less than runs of different repeats"
    else:
        yield f"{drift}. This is not significant: one spread describes runs within and across repeats"


def note(claim: Claim, row: Row) -> str:
    """The note that a difference is smaller than what a study reliably detects; `row` is a row of the summary."""
    said = CLAIMS[claim].format(beside_variant=row["beside_variant"])
    return (
        f"{said} by less than {{smallest_difference_percent}} %, the smallest difference that two identical"
        " baselines would show in 4 of 5 studies. It may be chance, or smaller than it looks; run more repeats to"
        " find out"
    )
