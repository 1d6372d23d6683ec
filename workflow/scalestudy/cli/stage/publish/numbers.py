"""`scalestudy stage numbers`: every printed number by key."""

from __future__ import annotations

from pathlib import Path

from scalestudy.cli.options import of_results
from scalestudy.registry.results import RESULTS


@of_results("every printed number by key (numbers.json, numbers.tex)")
def command(results: Path) -> int:
    """Write every number that the documents print, with its unit, interval and runs; also for LaTeX."""
    from scalestudy.cli.inputs import plan_of, results_of
    from scalestudy.publish.numbers.latex import numbers_view
    from scalestudy.publish.numbers.ledger import make_numbers
    from scalestudy.publish.templates import DIRECTORY, render
    from scalestudy.record.document import write_document
    from scalestudy.record.files import write_text

    numbers = make_numbers(plan_of(results), results_of(results))
    write_document(results / RESULTS["numbers"], numbers)
    write_text(results / RESULTS["numbers_tex"], render(DIRECTORY / "numbers.tex", **numbers_view(numbers)))
    print(f"{results / RESULTS['numbers']}: {len(numbers.numbers)} numbers")
    return 0
