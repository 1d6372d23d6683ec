"""`forecast`: sizes that a published table, or one's own, does not have."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from scalestudy.cli import options
from scalestudy.cli.command import Several
from scalestudy.cli.quantities import Number
from scalestudy.errors import UserError
from scalestudy.registry.words.percent import percent

if TYPE_CHECKING:
    from scalestudy.diagnose.audit import Audit
    from scalestudy.publish.forecast import Case

DOUBLINGS = 2
"""Doublings of the largest size that are forecast by default."""
MOST = 2**24
"""Most devices that can be asked for."""
CANNOT_TELL = 3


@options.verb(short_help="Forecast the scaling of a table at sizes that it does not have.")
@click.argument("table", type=options.PATH)
@click.option(
    "--at",
    cls=Several,
    more=str.isdecimal,
    type=click.IntRange(1, MOST),
    metavar="N...",
    help="Forecast N devices.",
)
@click.option("--to", type=click.IntRange(1, MOST), metavar="N", help="Forecast every doubling up to N devices.")
@click.option(
    "--node", type=click.IntRange(1, MOST), metavar="N", help="Devices of a node, if the table lacks it."
)
@click.option("--confidence", default=0.9, type=Number(0.5, 0.99), help="Confidence of the limits.")
@options.path("--figure", metavar="FILE", help="Also draw speedup and efficiency: an .svg, .png or .pdf file.")
@options.table_columns
def forecast(
    table: Path,
    at: tuple[int, ...],
    to: int | None,
    node: int | None,
    confidence: float,
    figure: Path | None,
    columns: tuple[str, ...],
    mapping: Path | None,
    scaling: str | None,
    line: int | None,
) -> int:
    """Forecast throughput, speedup and efficiency of a table's series at sizes that it does not have.

    TABLE is read as by `scalestudy audit`, and the interpretation is printed first. A series needs two sizes.
    Without --at and --to, the next two doublings are forecast. Limits include what growth models miss on published
    tables. There is no forecast for several nodes from one node, or beyond four times the largest size.
    """
    from scalestudy.cli.audit_columns import audited, refuse_unanswered
    from scalestudy.publish.audit import reading_view
    from scalestudy.publish.forecast import draw, forecast_view
    from scalestudy.publish.templates import DIRECTORY, render
    from scalestudy.publish.views.forecasts import UNSEEN

    file, audits, asked = audited(table, columns, mapping, scaling, line)
    cases = [case for audit in audits if (case := _case(audit, at, to, node, confidence, scaling))]
    if not cases:
        refuse_unanswered(table, asked)
        raise UserError(f"{table}: no series has a throughput or a time at two sizes, which a forecast needs")
    views = {"tables": reading_view(file, audits, asked), "others": file.others, "cases": forecast_view(cases)}
    print(render(DIRECTORY / "forecast.txt", **views, confidence=percent(confidence), unseen=UNSEEN), end="")
    if figure:
        draw(cases, figure)
    refuse_unanswered(table, asked)
    wanted = [one for case in cases for one in case.foretold]
    return 0 if not wanted or any(one.made for one in wanted) else CANNOT_TELL


def _case(
    audit: Audit, at: tuple[int, ...], to: int | None, node: int | None, confidence: float, scaling: str | None
) -> Case | None:
    """The forecasts of a series; None if it has fewer than two sizes."""
    from scalestudy.analyse.published import settle
    from scalestudy.analyse.published.batches import batch_per_gpu
    from scalestudy.analyse.published.foretold import ONE_MACHINE, foretell, known_of
    from scalestudy.publish.forecast import Case

    said = scaling or audit.scaling
    if audit.settled.whose in (settle.WEAK, settle.STRONG):
        said = audit.settled.whose
    elif audit.settled.whose == settle.TOTAL and audit.settled.rate == "time_s":
        said = said or settle.STRONG  # a time of constant work
    stated = {batch_per_gpu(scale.row) for scale in audit.table.scales}
    if None not in stated:
        said = "strong" if len(stated) > 1 else "weak"
    strong = said == "strong"
    if node is None and audit.source.on_one_machine:
        node = ONE_MACHINE
    known = known_of(audit.table, strong=strong, node=node)
    sizes = {scale.row.gpus for scale in known.scales}
    if len(sizes) < 2:
        return None
    wanted = _wanted(max(sizes), at, to)
    foretold = foretell(known, [n for n in wanted if n not in sizes], strong=strong, confidence=confidence)
    return Case(audit, known, strong, bool(said), tuple(foretold), tuple(n for n in wanted if n in sizes))


def _wanted(largest: int, at: tuple[int, ...], to: int | None) -> list[int]:
    """The sizes to forecast, in ascending order."""
    wanted = set(at)
    if to is not None:
        size = 2 * largest
        while size < to:
            wanted.add(size)
            size *= 2
        wanted.add(to)
    return sorted(wanted) or [largest * 2**power for power in range(1, DOUBLINGS + 1)]
