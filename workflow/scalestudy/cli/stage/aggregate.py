"""`scalestudy stage aggregate`: the tables and facts of a study, from its observations."""

from __future__ import annotations

from pathlib import Path

from scalestudy.cli.options import of_results


@of_results("observations -> comprehensive_summary.csv, runs.csv and other tables")
def command(results: Path) -> int:
    """Combine all observations of a plan into the tables and facts that every later stage reads."""
    from scalestudy.cli.stage.observations import aggregate

    print(aggregate(results))
    return 0
