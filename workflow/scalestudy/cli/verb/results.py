"""The verbs `summary` and `number`: print the results of a study in a few lines, or one number."""

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

# Files for readers, in the usual order of reading.
DOCUMENTS = (
    RESULTS["page"],
    RESULTS["text"],
    "tables/summary_table.tex",
    RESULTS["numbers_tex"],
    RESULTS["summary"],
    "figures",
)


@of_results("Print the verdicts of a study and where its results are.", "findings")
def summary(results: Path) -> int:
    """Print the verdicts of a study in a few lines, and where its results are."""
    return summarise(results)


def summarise(results: Path) -> int:
    """Print the verdicts and the paths. Returns 1 if a run failed, else 0."""
    from scalestudy.cli.inputs import book_of, findings_of, plan_of, table_of, verification_of
    from scalestudy.publish.views.diagnoses import diagnoses_view, leading
    from scalestudy.publish.views.facts import spoiled_launches
    from scalestudy.publish.views.rows import rows_view
    from scalestudy.publish.views.verified import verified_view

    plan, book = plan_of(results), book_of(results)
    rows = rows_view(plan, table_of(results, "summary"), book)
    outcomes = table_of(results, "runs")["outcome"].value_counts().to_dict()
    outcomes.pop("unneeded", None)  # not run
    counted = ", ".join(f"{count} {word}" for word, count in outcomes.items())
    print(f"study {plan.study.name}: {sum(outcomes.values())} runs ({counted})")
    runs = table_of(results, "runs")
    if said := spoiled_launches(runs[runs["outcome"] != "unneeded"]):
        print(f"  {said}")
    for view in leading(diagnoses_view(findings_of(results), rows, book)):
        row = view["row"]
        print(
            f"  {view['workload']} {view['variant']} {view['scaling']} on {view['ranks']}: {view['verdict']},"
            f" speedup {row['speedup']}" + (f", {view['causes']}" if view["causes"] else "")
        )
        for said in (row["two_launches"] and "Note: based on only two runs", row["spoiled"]):
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
        print(f"{outcomes['failed']} runs failed; the report shows why", file=sys.stderr)
        return 1
    return 0


@of_results("Print one number by its key, with the runs behind it.", "numbers")
@click.argument("key", shell_complete=entries("numbers", "numbers"))
def number(results: Path, key: str) -> int:
    """Print one number of a study: value, interval, unit, and the runs that it comes from.

    KEY is, for example, imdb.ddp.n4.speedup. The beginning of a key, such as imdb.ddp, lists matching keys.
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
        raise UserError(f"{key}: not found in {path}; {suggestion(book, key)}")
    print(number_text(book, *found))
    return 0


def suggestion(numbers: NumbersFile, key: str) -> str:
    """Return keys that the user may have meant."""
    keys = list(numbers.numbers)
    below = [other for other in keys if other.startswith(f"{key}.")]
    near = get_close_matches(key, [*keys, *numbers.aliases, *numbers.points], n=5, cutoff=0.5)
    if below:
        more = f" and {len(below) - 8} more" if len(below) > 8 else ""
        return f"matching keys are {', '.join(below[:8])}{more}"
    return f"similar keys are {', '.join(near)}" if near else f"keys start with {', '.join(numbers.points)}"
