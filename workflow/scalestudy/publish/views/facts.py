"""Everything that the text report and the page may print, by name: the same facts for both, another template."""

from __future__ import annotations

from typing import Any

from scalestudy.publish.environment import environment_view, hardware_view, warnings_view
from scalestudy.publish.numbers.book import Book
from scalestudy.publish.results import Results
from scalestudy.publish.traces import traces_view
from scalestudy.publish.views.diagnoses import diagnoses_view, leading
from scalestudy.publish.views.factors import add_factors
from scalestudy.publish.views.forecasts import forecasts_view
from scalestudy.publish.views.rows import rows_view, study_view
from scalestudy.record.protocol import older_runs
from scalestudy.study.plan import Plan


def document_facts(plan: Plan, results: Results, book: Book) -> dict[str, Any]:
    """Values for report/templates/performance_report.txt and report.html."""
    rows = rows_view(plan, results.summary, book)
    add_factors(rows, results.factors, book)
    needed = results.runs[results.runs["outcome"] != "unneeded"]
    failed = needed[needed["outcome"] != "ok"]
    diagnoses = diagnoses_view(results.findings, rows, book)
    return {
        "study": study_view(plan, results.summary),
        "workloads": list(plan.study.workloads),
        "rows": rows,
        "diagnoses": diagnoses,
        "leading": leading(diagnoses),
        "forecasts": forecasts_view(results.forecasts, book),
        "hardware": hardware_view(results.environment.facts),
        "environment": environment_view(results.environment.facts),
        "warnings": warnings_view(results.environment, launches=len(needed)),
        "protocols": older_runs(needed["protocol"]),
        "runs": len(needed),
        "unneeded": len(results.runs) - len(needed),
        "traces": traces_view(results.traces, book),
        "outcomes": [(word, int(n)) for word, n in needed["outcome"].value_counts().items()],
        "failed": failed[["run_id", "outcome", "reason"]].fillna("").to_dict("records"),
    }
