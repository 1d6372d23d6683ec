"""The verbs `summary` and `number`: print the results of a study in a few lines, or one number."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from scalestudy.cli.options import entries, of_results
from scalestudy.errors import UserError
from scalestudy.registry.results import RESULTS

SCREEN = 17
"""Lines of an outcome on a terminal of 25 lines, below what `scalestudy run` prints at its start."""


@of_results("Print the answer of a study, its verdicts and where its results are.", "findings")
def summary(results: Path) -> int:
    """Print what a study found, what to do, its verdicts, and where its results are."""
    return summarise(results)


def summarise(results: Path, most: int | None = None) -> int:
    """Print the outcome of a study. most: lines of a screen, if limited. Returns 1 if a run failed, else 0."""
    from scalestudy.cli.outcome import failed_lines, outcome_lines
    from scalestudy.cli.results.inputs import table_of

    runs = table_of(results, "runs")
    print("\n".join(outcome_lines(results, runs, most)))
    if failed := failed_lines(runs):
        print("\n".join(failed), file=sys.stderr)
        return 1
    return 0


@of_results("Print one number by its key, with the runs behind it.", "numbers")
@click.argument("key", shell_complete=entries("numbers", "numbers"))
def number(results: Path, key: str) -> int:
    """Print one number of a study: value, interval, unit, and the runs that it comes from.

    KEY is, for example, imdb.ddp.n4.speedup. The beginning of a key, such as imdb.ddp, lists matching keys.
    """
    from scalestudy.cli.results.inputs import book_of
    from scalestudy.publish.numbers.provenance import number_text
    from scalestudy.publish.numbers.renamed import new_key
    from scalestudy.publish.numbers.similar import similar_keys

    book = book_of(results)
    found = book.find(key)
    if found is None:
        for full in book.full_keys(key):
            if now := book.renamed.get(full) or new_key(full):
                raise UserError(f"{key}: the key is now {now}")
        path = results / RESULTS["numbers"]
        raise UserError(f"{key}: not found in {path}; {similar_keys(book, key)}")
    print(number_text(book, *found))
    return 0
