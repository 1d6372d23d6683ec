"""What a user reads when a study is complete: the answer, the verdicts, the tried advice and the files to open."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from textwrap import shorten

import pandas as pd

from scalestudy.cli.results.inputs import book_of, findings_of, plan_of, table_of, verification_of
from scalestudy.publish.templates import wrap
from scalestudy.publish.views.answers import answers_view, by_urgency
from scalestudy.publish.views.diagnoses import diagnoses_view, leading
from scalestudy.publish.views.facts import spoiled_launches
from scalestudy.publish.views.rows import rows_view
from scalestudy.publish.views.verified import verified_view
from scalestudy.publish.words.labels import counted
from scalestudy.registry.results import RESULTS

DOCUMENTS = (RESULTS["page"], RESULTS["text"], "tables/summary_table.tex")
"""Files for readers, in the usual order of reading."""
LONGEST_REASON = 120
"""Characters of a reason that are printed."""
Item = list[str]
"""The lines of an answer, a verdict or tried advice. It is shown as a whole or not at all."""


def outcome_lines(results: Path, runs: pd.DataFrame, most: int | None = None) -> list[str]:
    """Lines of at most 80 columns; only paths can be longer.

    runs: runs.csv. most: the number of lines of a screen, if limited.
    """
    plan, book, tried = plan_of(results), book_of(results), verification_of(results)
    rows = rows_view(plan, table_of(results, "summary"), book)
    diagnoses = diagnoses_view(findings_of(results), rows, book, tried)
    found = answers_view(diagnoses, plan.study, book)
    answers = [
        [line for paragraph in answer.short for line in wrap(paragraph).splitlines()]
        for answer in (found if most is None else by_urgency(found))
    ]
    verdicts = [_verdict(view) for view in leading(diagnoses)]
    advice = [
        _wrapped(
            f"tried: {item['where']}: {item['change']} {item['verdict'].capitalize()},"
            f" gain {book.shown(item['key'] + '.gain')}"
        )
        for item in (verified_view(tried, plan.study, book.numbers)["tried"] if tried else ())
    ]
    first = _counted(runs, plan.study.name)
    files = [f"  {results / name}" for name in DOCUMENTS]
    if most is None:
        shown = [_all(answers), _all(verdicts), _all(advice)]
    else:
        left = most - len(first) - len(files) - 1
        shown = _fitting([answers, verdicts, advice], left)
    said, *evidence = shown
    return [*said, *([""] if said else []), *first, *(line for lines in evidence for line in lines), *files]


def _counted(runs: pd.DataFrame, study: str) -> list[str]:
    """The number of runs and of their outcomes, and whether runs were disturbed."""
    needed = runs[runs["outcome"] != "unneeded"]
    outcomes = ", ".join(f"{count} {word}" for word, count in needed["outcome"].value_counts().items())
    spoiled = spoiled_launches(needed)
    first = wrap(f"study {study}: {counted(len(needed), 'run')} ({outcomes})", "", "  ").splitlines()
    return [*first, *(_wrapped(spoiled) if spoiled else [])]


def failed_lines(runs: pd.DataFrame) -> list[str]:
    """How many runs failed and the first reason; empty if none failed. runs: runs.csv."""
    failed = runs[runs["outcome"] == "failed"]
    reasons = list(dict.fromkeys(failed["reason"].dropna()))
    if not len(failed):
        return []
    why = f": {shorten(reasons[0], LONGEST_REASON, placeholder=' ...')}" if reasons else ""
    more = f"; {counted(len(reasons) - 1, 'other reason')}" if len(reasons) > 1 else ""
    said = f"{counted(len(failed), 'run')} failed{why}{more}; the report shows the end of each log"
    return wrap(said, "", "  ").splitlines()


def _verdict(view: dict[str, object]) -> Item:
    row = view["row"]
    assert isinstance(row, dict)
    causes = f", {view['causes']}" if view["causes"] else ""
    where = f"{view['workload']} {view['variant']} {view['scaling']} on {view['ranks']}"
    # A cell without a speedup has the outcome of the runs instead.
    speedup = f", speedup {row['speedup']}" if view["has_ratio"] else f" ({row['failure']})" * bool(row["failure"])
    lines = _wrapped(f"{where}: {view['verdict']}{speedup}{causes}")
    notes = (
        "Note: based on only two runs" if row["two_launches"] else "",
        row["spoiled"],
        f"at other scales: {view['others']}" if view["others"] else "",
    )
    return [*lines, *(line for note in notes if note for line in wrap(note, "    ", "      ").splitlines())]


def _wrapped(text: str) -> Item:
    return wrap(text, "  ", "    ").splitlines()


def _all(items: Sequence[Item]) -> list[str]:
    return [line for item in items for line in item]


def _fitting(sections: Sequence[Sequence[Item]], room: int) -> list[list[str]]:
    """The lines of each section that have room. The first item of each is kept before the second of any."""
    kept = [0] * len(sections)

    def lines(counts: Sequence[int]) -> list[list[str]]:
        return [_first(items, count) for items, count in zip(sections, counts, strict=True)]

    for number in range(1, max(map(len, sections), default=0) + 1):
        for index, items in enumerate(sections):
            more = [*kept[:index], min(number, len(items)), *kept[index + 1 :]]
            if kept[index] == number - 1 and sum(map(len, lines(more))) <= room:
                kept = more
    return lines(kept)


def _first(items: Sequence[Item], count: int) -> list[str]:
    """The lines of the first items, and how many more the page has; none where there is room for no item."""
    if not count:
        return []
    left = len(items) - count
    return [*_all(items[:count]), *([f"  and {left} more in {RESULTS['page']}"] if left else [])]
