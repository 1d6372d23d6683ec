"""`scalestudy stage tables`: the LaTeX tables of a study."""

from __future__ import annotations

from pathlib import Path

from scalestudy.cli.options import of_results
from scalestudy.registry.tables import FILES


@of_results("LaTeX tables (tables/), for booktabs and siunitx")
def command(results: Path) -> int:
    """Render the LaTeX tables of a study, each a fragment to \\input, and one of where the numbers come from."""
    from scalestudy.cli.inputs import book_of, environment_of, plan_of, table_of
    from scalestudy.publish.numbers.provenance import provenance_view
    from scalestudy.publish.tables.view import environment_table_view, table_view
    from scalestudy.publish.templates import DIRECTORY, render
    from scalestudy.record.files import write_text

    plan, summary, book = plan_of(results), table_of(results, "summary"), book_of(results)
    environment = environment_table_view(plan, summary, environment_of(results))
    made = {file: ("table.tex", table_view(plan, summary, book, name)) for name, file in FILES.items()} | {
        "environment": ("environment_table.tex", environment),
        "provenance": ("provenance.tex", provenance_view(book)),
    }
    for name, (template, values) in made.items():
        write_text(results / "tables" / f"{name}.tex", render(DIRECTORY / template, **values))
    print(f"{len(made)} tables in {results / 'tables'}")
    return 0
