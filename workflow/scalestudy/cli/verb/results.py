"""The results of a study, in a few lines or one number at a time."""

from __future__ import annotations

import sys
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING

import click

from scalestudy.cli.options import entries, of_results
from scalestudy.errors import UserError
from scalestudy.registry.results import RESULTS

if TYPE_CHECKING:
    from scalestudy.publish.numbers.model import NumbersFile

# What a reader opens, in the order of use.
DOCUMENTS = (
    RESULTS["page"],
    RESULTS["text"],
    "tables/summary_table.tex",
    RESULTS["numbers_tex"],
    RESULTS["summary"],
    "figures",
)


@of_results("print the verdicts of a study in a few lines, and where its results are", "findings")
def summary(results: Path) -> int:
    """Print a study's verdicts in a few lines, and where its results are."""
    return summarise(results)


def summarise(results: Path) -> int:
    """Print the verdicts and the paths: 1 where a run failed, else 0."""
    from scalestudy.cli.inputs import book_of, findings_of, plan_of, table_of, verification_of
    from scalestudy.publish.views.diagnoses import diagnoses_view, leading
    from scalestudy.publish.views.facts import spoiled_launches
    from scalestudy.publish.views.rows import rows_view
    from scalestudy.publish.views.verified import verified_view

    plan, book = plan_of(results), book_of(results)
    rows = rows_view(plan, table_of(results, "summary"), book)
    outcomes = table_of(results, "runs")["outcome"].value_counts().to_dict()
    outcomes.pop("unneeded", None)  # not launched
    counted = ", ".join(f"{count} {word}" for word, count in outcomes.items())
    print(f"study {plan.study.name}: {sum(outcomes.values())} launches ({counted})")
    runs = table_of(results, "runs")
    if said := spoiled_launches(runs[runs["outcome"] != "unneeded"]):
        print(f"  {said}")
    for view in leading(diagnoses_view(findings_of(results), rows, book)):
        row = view["row"]
        print(
            f"  {view['workload']} {view['variant']} {view['scaling']} on {view['ranks']}: {view['verdict']},"
            f" speedup {row['speedup']}" + (f", {view['causes']}" if view["causes"] else "")
        )
        for said in (row["two_launches"] and "it rests on two launches only", row["spoiled"]):
            if said:
                print(f"    {said}")
        if view["others"]:
            print(f"    at other scales: {view['others']}")
    if tried := verification_of(results):
        for item in verified_view(tried, plan.study, book.numbers)["tried"]:
            gain = book.shown(f"{item['key']}.gain")
            print(f"  tried: {item['where']}: {item['change']} {item['verdict'].capitalize()}, gain {gain}")
    for name in DOCUMENTS:
        print(f"  {results / name}")
    if outcomes.get("failed"):
        print(f"{outcomes['failed']} launches failed; the report says why", file=sys.stderr)
        return 1
    return 0


@of_results("print one number by its key, and the runs behind it", "numbers")
@click.argument("key", shell_complete=entries("numbers", "numbers"))
def number(results: Path, key: str) -> int:
    """Print one number of a study: value, interval, unit, and the runs that it comes from.

    KEY is such as imdb.ddp.n4.speedup; the beginning of a key lists the keys that continue it.
    """
    from scalestudy.cli.inputs import book_of
    from scalestudy.publish.numbers.provenance import number_text
    from scalestudy.publish.numbers.renamed import new_key

    book = book_of(results)
    found = book.find(key)
    if found is None:
        for full in book.full_keys(key):
            if now := book.renamed.get(full) or new_key(full):
                raise UserError(f"{key}: the key is now {now}")
        path = results / RESULTS["numbers"]
        raise UserError(f"{key}: no such number in {path}; {suggestion(book, key)}")
    print(number_text(book, *found))
    return 0


def suggestion(numbers: NumbersFile, key: str) -> str:
    """Keys that may have been meant."""
    keys = list(numbers.numbers)
    below = [other for other in keys if other.startswith(f"{key}.")]
    near = get_close_matches(key, [*keys, *numbers.aliases, *numbers.points], n=5, cutoff=0.5)
    if below:
        return f"it has {', '.join(below[:8])}" + (f" and {len(below) - 8} more" if len(below) > 8 else "")
    return f"near it are {', '.join(near)}" if near else f"there are {', '.join(numbers.points)}"
