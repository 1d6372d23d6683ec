"""`scalestudy stage plan`: the plan of a study as a file."""

from __future__ import annotations

from pathlib import Path

import click

from scalestudy.cli import options
from scalestudy.cli.naming import find_study, results_of


@options.verb(short_help="write the plan of a study (plan.json)")
@options.study
@options.results
@click.option("--config-json", metavar="JSON", help="The study as JSON instead, as Snakemake passes it.")
def command(study: tuple[Path, ...], results: Path | None, config_json: str | None) -> int:
    """Write plan.json, with every run of a study, and print what it may cost."""
    from scalestudy.cli.cost import plan_lines
    from scalestudy.record.files import write_json
    from scalestudy.registry.results import RESULTS
    from scalestudy.study.config.load import parse_json
    from scalestudy.study.plan import make_plan

    plan = make_plan(parse_json(config_json, source="config") if config_json else find_study(study, results))
    write_json((results or results_of(plan.study)) / RESULTS["plan"], plan.model_dump(mode="json"))
    print("\n".join(plan_lines(plan)))
    return 0
