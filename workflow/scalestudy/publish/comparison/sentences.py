"""What a comparison shows, in sentences: a workload as a whole, a point, and what could not be compared."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import isnan

import pandas as pd

from scalestudy.analyse.point.rows import mostly_unsteady
from scalestudy.analyse.study.compare import ONE_PROCESS, Comparison, Refusal
from scalestudy.publish.comparison.conditions import setting_texts
from scalestudy.publish.comparison.named import Named, plain
from scalestudy.publish.comparison.quantities import shown
from scalestudy.publish.words import labels
from scalestudy.publish.words.comparison import ACCURACY, AFTER_RATIO, COUNTED, EFFICIENCY, NOT_COMPARED, SPEED
from scalestudy.publish.words.points import failure_word
from scalestudy.registry.codes import NotCompared, Shows
from scalestudy.registry.column import Row
from scalestudy.registry.words.points import outcomes, unsteady

MOST = 8
"""Points of a study that an error lists."""


def point_text(row: Row) -> str:
    """'ddp strong, 2 ranks, batch 16 per rank'; 'single, one process, batch 32'."""
    batch = int(row["batch_per_rank"])
    if row["scaling"] == ONE_PROCESS:
        return f"{row['variant']}, one process, batch {batch}"
    ranks = labels.ranks(int(row["world_size"]), int(row["nodes"]))
    return f"{row['variant']} {row['scaling']}, {ranks}, batch {batch} per rank"


def workload_sentence(workload: str, first: Named, other: Named, rows: pd.DataFrame) -> str:
    """What a study shows beside the first one. rows: of the other study, those that are compared."""
    if rows["is_reference"].all():  # also where there are none
        what = "only single processes at other batches are" if len(rows) else "nothing is"
        return f"{workload}: {what} compared of {other.title} with {first.title}; the last list says why."
    rows = rows[~rows["is_reference"]]
    measured = rows[rows["throughput_ratio"].notna()]
    if not len(measured):
        count = "the one point" if len(rows) == 1 else f"none of {len(rows)} points"
        was = "was not" if len(rows) == 1 else "was"
        return f"{workload}: {count} {was} measured in both {first.title} and {other.title}."
    row = measured.iloc[measured["world_size"].argmax()]
    said = (
        f"{workload}: {other.title} is {shown(row, 'throughput_ratio')} times as fast as {first.title} at"
        f" {point_text(row)}"
    )
    said += AFTER_RATIO.get(row["throughput_shows"], "")
    return f"{said}. {_counts(rows)}" if len(rows) > 1 else f"{said}."


def _counts(rows: pd.DataFrame) -> str:
    """'2 of 5 points are faster, 1 is slower, 2 are not distinguishable.'"""
    found = {code: int((rows["throughput_shows"] == code).sum()) for code in COUNTED}
    said = [(count, COUNTED[code][count > 1]) for code, count in found.items() if count]
    (count, words), *rest = said
    if count == found[Shows.NO_DIFFERENCE] == len(rows):
        return "Neither point is distinguishable." if count == 2 else f"None of {count} points is distinguishable."
    everything = "Both points" if len(rows) == 2 else f"All {len(rows)} points"
    beginning = f"{everything} {words}" if not rest else f"{count} of {len(rows)} points {words}"
    return f"{', '.join([beginning, *(f'{count} {words}' for count, words in rest)])}."


def remarks(first: Row, row: Row, *, margin: str) -> Iterator[str]:
    """What can be said of a point of another study beside the first one's."""
    a, b = first["study"], row["study"]
    if row["not_compared"] != NotCompared.NONE:
        yield f"{b}: not compared ({NOT_COMPARED[row['not_compared']]})."
        return
    yield f"{b}: {_speed(first, row)}."
    if row["efficiency_shows"] != Shows.NONE:
        number = shown(row, "efficiency_difference_points")
        yield f"{b}: efficiency less that of {a} is {number} points: {EFFICIENCY[row['efficiency_shows']]}."
    if not isnan(row["validation_accuracy"]) and not isnan(first["validation_accuracy"]):
        yield f"{b}: {_accuracy(first, row, margin)}."
    for one in (first, row):
        if 0 < one["launches_ok"] < one["launches"]:
            yield f"{one['study']}: {outcomes(one)}."
        if mostly_unsteady(one):
            yield f"MIND: {one['study']}: no single mean describes the steps ({unsteady(one)})."


def _speed(first: Row, row: Row) -> str:
    failed = [f"{word} in {one['study']}" for one in (first, row) if (word := failure_word(one))]
    if failed:
        return f"no ratio ({', '.join(failed)})"
    return SPEED[row["throughput_shows"]].format(first=first["study"], other=row["study"])


def _accuracy(first: Row, row: Row, margin: str) -> str:
    both = (
        f"accuracy {shown(row, 'accuracy_percent')} %, of {first['study']} {shown(first, 'accuracy_percent')} %"
        " (range of launches)"
    )
    if not row["pairs"]:
        return f"{both}; not compared, since no two launches have the same seed"
    words = ACCURACY[row["accuracy_shows"]].format(margin=margin)
    return f"{both}; difference {shown(row, 'accuracy_difference_points')} points: {words}"


def refused_sentence(refusals: Sequence[Refusal], first: Named, other: Named) -> str:
    """Why a workload is not compared. refusals: of one workload and one study."""
    differences = {item.key: item for refusal in refusals for item in refusal.differences}
    keys = "; ".join(
        f"{item.key} is {mine} in {first.letter} and {theirs} in {other.letter}"
        for item in differences.values()
        for mine, theirs in [setting_texts(item)]
    )
    variants = ", ".join(refusal.variant for refusal in refusals)
    return (
        f"{refusals[0].workload} ({variants}), {other.letter} against {first.letter}: not the same question:"
        f" {keys}"
    )


def refused_sentences(comparison: Comparison, named: Sequence[Named]) -> list[str]:
    """One for every workload and study that has something refused."""
    found = []
    for other in named[1:]:
        mine = [refusal for refusal in comparison.refusals if refusal.letter == other.letter]
        for workload in dict.fromkeys(refusal.workload for refusal in mine):
            theirs = [refusal for refusal in mine if refusal.workload == workload]
            found.append(f"{refused_sentence(theirs, named[0], other)}.")
    return found


def nothing_in_common(comparison: Comparison, named: Sequence[Named]) -> str:
    """Why there is nothing to compare: what is not the same question, and what each study has."""
    refused = [plain(text) for text in refused_sentences(comparison, named)]
    if refused:
        return "\n".join(["nothing can be compared", *(f"  {text}" for text in refused)])
    lines = ["the studies have no point in common"]
    for one in named:
        mine = comparison.points[comparison.points["study"] == one.letter]
        texts = [
            f"{row['workload']}: {point_text(row)}, {row['global_batch']} global" for _, row in mine.iterrows()
        ]
        more = f"; and {len(texts) - MOST} more" if len(texts) > MOST else ""
        lines.append(f"  {one.letter} ({one.folder}): {'; '.join(texts[:MOST])}{more}")
    if (comparison.points["not_compared"] == NotCompared.SAME_LAUNCHES).any():
        lines[0] = "the studies are the same launches; one is a copy of the other"
    return "\n".join(lines)


def missing_sentences(points: pd.DataFrame, named: Sequence[Named]) -> list[str]:
    """What not every study has, and what two have from the same launches; a sentence for each workload."""
    letters = [one.letter for one in named]
    having: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for _, rows in points.groupby(question_columns(), sort=False):
        row = rows.iloc[0]
        if len(rows) < len(letters):
            having.setdefault((row["workload"], tuple(rows["study"])), []).append(point_text(row))
    found = [
        f"{workload}, {_only(have, letters)}: {'; '.join(texts)}." for (workload, have), texts in having.items()
    ]
    same = points[points["not_compared"] == NotCompared.SAME_LAUNCHES]
    for (workload, letter), rows in same[same["study"] != letters[0]].groupby(["workload", "study"], sort=False):
        texts = "; ".join(point_text(row) for _, row in rows.iterrows())
        found.append(f"{workload}, the same launches in {letters[0]} and {letter}: {texts}.")
    return found


def question_columns() -> list[str]:
    """What makes rows of several studies one point."""
    return ["workload", "variant", "scaling", "nodes", "devices_per_node", "batch_per_rank", "global_batch"]


def _only(have: tuple[str, ...], letters: list[str]) -> str:
    """'only in A'; of three studies also 'in A and B, not in C'."""
    lacking = [letter for letter in letters if letter not in have]
    return f"only in {have[0]}" if len(have) == 1 else f"in {labels.listed(have)}, not in {labels.listed(lacking)}"
