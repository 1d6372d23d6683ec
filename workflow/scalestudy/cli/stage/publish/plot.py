"""`scalestudy stage plot`: the figures of a study."""

from __future__ import annotations

from pathlib import Path

import click

from scalestudy.cli.options import of_results


@of_results("figures (figures/), with their data and their descriptions")
@click.option("--workload", metavar="NAME", help="Draw only figures of this workload. Default: all figures.")
@click.option(
    "--processes", type=click.IntRange(min=1), help="Workloads drawn at a time. Default: number of cores."
)
def command(results: Path, workload: str | None, processes: int | None) -> int:
    """Draw the figures of a study, each as PDF, SVG and PNG, with its data and its description."""
    from scalestudy.cli.stage.publish.drawing import draw_all

    for path in draw_all(results, workload, processes):
        print(path)
    return 0
