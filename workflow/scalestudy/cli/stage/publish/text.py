"""`scalestudy stage text`: the report as plain text."""

from __future__ import annotations

from pathlib import Path

from scalestudy.cli.options import of_results
from scalestudy.registry.results import RESULTS


@of_results("report as text (performance_report.txt)")
def command(results: Path) -> int:
    """Render the diagnostic report as plain text: 80 columns, for a terminal or a mail."""
    from scalestudy.cli.inputs import book_of, plan_of, results_of
    from scalestudy.publish.templates import DIRECTORY, render
    from scalestudy.publish.views.facts import document_facts
    from scalestudy.record.files import write_text

    facts = document_facts(plan_of(results), results_of(results), book_of(results))
    write_text(results / RESULTS["text"], render(DIRECTORY / "performance_report.txt", **facts))
    print(results / RESULTS["text"])
    return 0
