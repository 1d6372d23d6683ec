"""The results of a comparison in sentences: on workloads, on points, and on what could not be compared."""

from collections import Counter
from collections.abc import Iterator, Sequence
from math import isnan
from typing import Any

from scalestudy.analyse.point.rows import mostly_unsteady
from scalestudy.analyse.study.compare import ONE_PROCESS, Comparison, Source
from scalestudy.analyse.study.floors import is_below
from scalestudy.compare.points import Rows, shown
from scalestudy.compare.spelling import plain
from scalestudy.compare.words import (
    ACCURACY,
    AFTER_RATIO,
    BELOW_FLOOR,
    COUNTED,
    EFFICIENCY,
    NOT_COMPARED,
    SPEED,
)
from scalestudy.publish.words import labels
from scalestudy.registry.codes import NotCompared, Shows
from scalestudy.registry.column import Row
from scalestudy.registry.words.points import outcomes, unsteady

MOST = 8
"""Most points of a study that an error lists."""


def point_text(row: Row) -> str:
    """'ddp strong, 2 ranks, batch 16 per rank'; 'single, one process, batch 32'."""
    alone = row["scaling"] == ONE_PROCESS
    return f"{row['variant']}, one process, batch {row['batch_per_rank']}" if alone else labels.point(row)


def summary_sentences(points: Sequence[Rows], studies: Sequence[Source]) -> list[str]:
    """A sentence for every workload and every other study that has it in common with the first study."""
    first, *others = studies
    by_workload: dict[str, list[Rows]] = {}
    for rows in points:
        by_workload.setdefault(next(iter(rows.values()))["workload"], []).append(rows)
    return [
        _workload_sentence(workload, first, other, [rows[other.letter] for rows in mine if other.letter in rows])
        for workload, mine in by_workload.items()
        if any(first.letter in rows for rows in mine)
        for other in others
        if any(other.letter in rows for rows in mine)
    ]


def _workload_sentence(workload: str, first: Source, other: Source, rows: Sequence[Row]) -> str:
    """The result of comparing a study with the first one. rows: of the other study."""
    mine, theirs = _title(other), _title(first)
    compared = [row for row in rows if row["not_compared"] == NotCompared.NONE]
    rows = [row for row in compared if not row["is_reference"]]
    if not rows:
        what = "only single processes at other batches are" if compared else "nothing is"
        return f"{workload}: {what} compared between {mine} and {theirs}; the last list has the reasons."
    measured = [row for row in rows if row["throughput_shows"] != Shows.NONE]
    if not measured:
        count = "the one point" if len(rows) == 1 else f"none of {len(rows)} points"
        was = "was not" if len(rows) == 1 else "was"
        return f"{workload}: {count} {was} measured in both {theirs} and {mine}."
    row = max(measured, key=lambda row: row["world_size"])
    ratio = shown(row, "throughput_ratio")
    said = f"{workload}: {mine} is {ratio} times as fast as {theirs} at {point_text(row)}"
    said += AFTER_RATIO.get(row["throughput_shows"], "")
    if _below_floor(row):
        said += f"; {_floor_text(row)}"
    return f"{said}. {_counts(rows)}" if len(rows) > 1 else f"{said}."


def _title(study: Source) -> str:
    """'Old cluster (A)'; only the letter if that is the name."""
    return study.letter if study.name == study.letter else f"{study.name} ({study.letter})"


def _counts(rows: Sequence[Row]) -> str:
    """'2 of 5 points are faster, 1 is slower, 2 show no significant difference.'"""
    found = Counter(row["throughput_shows"] for row in rows)
    said = [(found[code], words[found[code] > 1]) for code, words in COUNTED.items() if found[code]]
    (count, words), *rest = said
    if count == found[Shows.NO_DIFFERENCE] == len(rows):
        which = "Neither point" if count == 2 else f"None of the {count} points"
        return f"{which} differs significantly."
    everything = "Both points" if len(rows) == 2 else f"All {len(rows)} points"
    beginning = f"{everything} {words}" if not rest else f"{count} of {len(rows)} points {words}"
    return f"{', '.join([beginning, *(f'{count} {words}' for count, words in rest)])}."


def remarks(first: Row, row: Row, *, margin: str) -> Iterator[str]:
    """Remarks on a point of another study, compared with the first study."""
    a, b = first["study"], row["study"]
    if row["not_compared"] != NotCompared.NONE:
        yield f"{b}: not compared ({NOT_COMPARED[row['not_compared']]})."
        return
    yield f"{b}: {_speed(first, row)}."
    if _below_floor(row):
        yield f"NOTE: {b}: {_floor_text(row)}."
    if row["efficiency_shows"] != Shows.NONE:
        number = shown(row, "efficiency_difference_points")
        shows = EFFICIENCY[row["efficiency_shows"]]
        yield f"{b}: efficiency minus the efficiency of {a}: {number} points ({shows})."
    if not isnan(row["validation_accuracy"]) and not isnan(first["validation_accuracy"]):
        yield f"{b}: {_accuracy(first, row, margin)}."
    for one in (first, row):
        if 0 < one["launches_ok"] < one["launches"]:
            yield f"{one['study']}: {outcomes(one)}."
        if mostly_unsteady(one):
            yield f"NOTE: {one['study']}: no single mean describes the steps ({unsteady(one)})."


def _speed(first: Row, row: Row) -> str:
    failed = [f"{word} in {one['study']}" for one in (first, row) if (word := one["failure"])]
    if failed:
        return f"no ratio ({', '.join(failed)})"
    return SPEED[row["throughput_shows"]].format(first=first["study"], other=row["study"])


def _below_floor(row: Row) -> bool:
    """Whether a study is stated to be faster or slower by less than the smallest detectable difference."""
    said = row["throughput_shows"] in (Shows.FASTER, Shows.SLOWER)
    return said and is_below(row["throughput_ratio"], row["smallest_difference"])


def _floor_text(row: Row) -> str:
    return BELOW_FLOOR.format(smallest=shown(row, "smallest_difference_percent"))


def _accuracy(first: Row, row: Row, margin: str) -> str:
    both = (
        f"accuracy {shown(row, 'accuracy_percent')} %, {first['study']}: {shown(first, 'accuracy_percent')} %"
        " (range over runs)"
    )
    if not row["pairs"]:
        return f"{both}; not compared, because no two runs have the same seed"
    words = ACCURACY[row["accuracy_shows"]].format(margin=margin)
    return f"{both}; difference {shown(row, 'accuracy_difference_points')} points: {words}"


def setting_texts(values: Sequence[Any]) -> list[str]:
    """Values of a key as in a study's file."""
    return [str(value).lower() if isinstance(value, bool) else str(value) for value in values]


def refused_sentences(comparison: Comparison, first: str) -> list[str]:
    """Why workloads are not compared: a sentence for every workload and study with a refusal.

    first: the letter of the first study.
    """
    variants: dict[tuple[str, str], list[str]] = {}
    keys: dict[tuple[str, str], dict[str, str]] = {}
    for refusal in comparison.refusals:
        which = (refusal.study, refusal.workload)
        variants.setdefault(which, []).append(refusal.variant)
        for key, values in refusal.keys.items():
            mine, theirs = setting_texts(values)
            keys.setdefault(which, {})[key] = f"{key} is {mine} in {first} and {theirs} in {refusal.study}"
    return [
        f"{workload} ({', '.join(variants[letter, workload])}), {letter} against {first}: not the same question:"
        f" {'; '.join(said.values())}."
        for (letter, workload), said in keys.items()
    ]


def nothing_in_common(comparison: Comparison, studies: Sequence[Source]) -> str:
    """Why nothing can be compared: the questions that differ, or the points of each study."""
    refused = [plain(text) for text in refused_sentences(comparison, studies[0].letter)]
    if refused:
        return "\n".join(["nothing can be compared", *(f"  {text}" for text in refused)])
    rows = comparison.points.to_dict("records")
    lines = ["the studies have no point in common"]
    if any(row["not_compared"] == NotCompared.SAME_LAUNCHES for row in rows):
        lines = ["the studies have the same runs; one is a copy of the other"]
    for one in studies:
        texts = [
            f"{row['workload']}: {point_text(row)}, {row['global_batch']} global"
            for row in rows
            if row["study"] == one.letter
        ]
        more = f"; and {len(texts) - MOST} more" if len(texts) > MOST else ""
        lines.append(f"  {one.letter} ({one.folder}): {'; '.join(texts[:MOST])}{more}")
    if any(one.plan.study.imported for one in studies):
        lines.append("  import logs of one training with the same --workload NAME and the same --variant NAME")
    return "\n".join(lines)


def missing_sentences(points: Sequence[Rows], letters: Sequence[str]) -> list[str]:
    """Points that some studies lack, and points from the same runs in two studies; a sentence per workload."""
    missing: dict[str, list[str]] = {}
    same: dict[str, list[str]] = {}
    for rows in points:
        first, *others = rows.values()
        text = point_text(first)
        if len(rows) < len(letters):
            missing.setdefault(f"{first['workload']}, {_only(list(rows), letters)}", []).append(text)
        for row in others:
            if row["not_compared"] == NotCompared.SAME_LAUNCHES:
                where = f"{row['workload']}, the same runs in {letters[0]} and {row['study']}"
                same.setdefault(where, []).append(text)
    return [f"{what}: {'; '.join(texts)}." for what, texts in (*missing.items(), *same.items())]


def _only(have: Sequence[str], letters: Sequence[str]) -> str:
    """'only in A'; for three studies also 'in A and B, not in C'."""
    lacking = [letter for letter in letters if letter not in have]
    return f"only in {have[0]}" if len(have) == 1 else f"in {labels.listed(have)}, not in {labels.listed(lacking)}"
