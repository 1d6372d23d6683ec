"""The output and exit status of `scalestudy compare --fail-if`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from scalestudy.cli.lines import wrapped
from scalestudy.errors import UserError

if TYPE_CHECKING:
    from scalestudy.analyse.guard.decide import Check
    from scalestudy.analyse.guard.limits import Limit
    from scalestudy.analyse.study.compare import Comparison, Source
    from scalestudy.registry.column import Row


def say_checks(checks: Sequence[Check]) -> int:
    """Print a line for every test and the closing sentence. Returns the exit status."""
    from scalestudy.analyse.guard.decide import overall
    from scalestudy.compare.guard import STATUS, check_line, closing, intervals_note
    from scalestudy.compare.spelling import plain

    for check in checks:
        print(wrapped(plain(check_line(check))))
    print(wrapped(intervals_note(checks)))
    word, decided = overall(checks)
    print(wrapped(plain(closing(word, decided, checks))))
    return STATUS[word]


def guard_studies(
    comparison: Comparison, sources: Sequence[Source], limits: Sequence[Limit], *, despite_load: bool
) -> int:
    """Check every compared point against the limits and print the results. Returns the exit status.

    despite_load: points decide although most of their runs were measured under other load.
    """
    from scalestudy.analyse.guard.decide import Check, decide
    from scalestudy.analyse.guard.studies import changes, looks_of
    from scalestudy.compare.points import points_of
    from scalestudy.compare.sentences import missing_sentences, point_text, refused_sentences
    from scalestudy.compare.spelling import plain

    def name_of(row: Row) -> str:
        which = f" in {row['study']}" if len(sources) > 2 else ""
        return f"{row['workload']}, {point_text(row)}{which}"

    checks = [
        Check(name_of(row), limit, change, disturbed=disturbed and not despite_load)
        for row, limit, change, disturbed in changes(comparison, sources, limits)
    ]
    for limit in limits:
        if not any(check.limit == limit for check in checks):
            raise UserError(
                f"--fail-if: no common point of the studies has a value of {limit.quantity}; leave this limit out"
            )
    judged = {check.point for check in checks}
    live = any(limit.of.live for limit in limits)
    for _, row in comparison.compared.iterrows():
        expected = not row["is_reference"] and (live or not row["is_base"])  # a baseline has no speedup
        if expected and name_of(row) not in judged:
            print(wrapped(f"not judged: {plain(name_of(row))}: no value on either side"))
    letters = [source.letter for source in sources]
    left_out = missing_sentences(points_of(comparison), letters)
    for sentence in (*left_out, *refused_sentences(comparison, letters[0])):
        print(wrapped(f"not judged: {plain(sentence)}"))
    return say_checks(decide(checks, looks=looks_of(sources)))


def add_epoch_times(sources: Sequence[Source], folders: Sequence[Path]) -> list[Source]:
    """Return the studies with the mean epoch time added to the row of each run."""
    from scalestudy.analyse.guard.studies import with_epoch_times
    from scalestudy.cli.results.inputs import table_of

    return [
        replace(source, runs=with_epoch_times(source.runs, table_of(folder, "epochs")))
        for source, folder in zip(sources, folders, strict=True)
    ]
