"""`scalestudy summary`: the verdicts of a study, and where its results are."""

from __future__ import annotations

import sys
from pathlib import Path

from scalestudy.cli.options import of_results
from scalestudy.registry.results import RESULTS

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
def command(results: Path) -> int:
    """Print a study's verdicts in a few lines, and where its results are."""
    from scalestudy.cli.inputs import book_of, findings_of, plan_of, table_of
    from scalestudy.publish.views.diagnoses import diagnoses_view, leading
    from scalestudy.publish.views.rows import rows_view

    plan, book = plan_of(results), book_of(results)
    rows = rows_view(plan, table_of(results, "summary"), book)
    outcomes = table_of(results, "runs")["outcome"].value_counts().to_dict()
    outcomes.pop("unneeded", None)  # not launched
    counted = ", ".join(f"{count} {word}" for word, count in outcomes.items())
    print(f"study {plan.study.name}: {sum(outcomes.values())} launches ({counted})")
    for view in leading(diagnoses_view(findings_of(results), rows, book)):
        row = view["row"]
        print(
            f"  {view['workload']} {view['variant']} {view['scaling']} on {view['ranks']}: {view['verdict']},"
            f" speedup {row['speedup']}" + (f", {view['causes']}" if view["causes"] else "")
        )
        if view["others"]:
            print(f"    at other scales: {view['others']}")
    for name in DOCUMENTS:
        print(f"  {results / name}")
    if outcomes.get("failed"):
        print(f"{outcomes['failed']} launches failed; the report says why", file=sys.stderr)
        return 1
    return 0
