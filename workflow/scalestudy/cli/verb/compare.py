"""`scalestudy compare`: compares several studies in one document."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from scalestudy.cli import options
from scalestudy.cli.command import Several
from scalestudy.cli.guard.compared import add_epoch_times, guard_studies
from scalestudy.cli.guard.fail_if import fail_if, parse_limits
from scalestudy.cli.naming import find_results
from scalestudy.errors import UserError

if TYPE_CHECKING:
    from scalestudy.analyse.study.compare import Comparison, Source


@options.verb(short_help="Compare studies: ratios with intervals, and setup differences.")
@click.argument("studies", nargs=-1, type=options.PATH)
@options.path(
    "--results", cls=Several, metavar="FOLDER...", help="Results folders of further studies, after STUDIES."
)
@options.study
@click.option(
    "--name",
    multiple=True,
    metavar="WHICH=NAME",
    help="Name a study: B='New cluster', or with its folder instead of the letter. Default: the name of the study,"
    " or of its folder if several studies have the same name.",
)
@options.path("--out", metavar="FOLDER", help="Folder for the documents and figures/. Optional with --fail-if.")
@fail_if()
@options.despite_load
def compare(
    studies: tuple[Path, ...],
    results: tuple[Path, ...],
    study: tuple[Path, ...],
    name: tuple[str, ...],
    out: Path | None,
    fail_if: tuple[str, ...],
    despite_load: bool,
) -> int:
    """Compare studies: two clusters, two interconnects, before and after an upgrade.

    STUDIES are results folders (results/STUDY) or study files. They are called A, B, C ... in this order; the
    study of --study is the last. All are compared with the first. Points are compared if they are the same
    training at the same scale and batch. Points of only some studies are listed, and so are differences between
    the machines.

    With --fail-if, the command ends with a sentence and an exit status: whether a quantity is significantly worse
    than its limit. Two days can differ by more than a code change does. To test a change, use `scalestudy guard`,
    which alternates both sides.
    """
    from scalestudy.analyse.study.compare import compare_studies
    from scalestudy.cli.results.finished import read_studies
    from scalestudy.compare.sentences import nothing_in_common

    limits = parse_limits(fail_if)
    if despite_load and not limits:
        raise UserError("--despite-load: only with --fail-if")
    if out is None and not limits:
        raise UserError("--out: missing; name a folder for the documents, or use --fail-if for an exit status")
    folders = [find_results(*(([place], None) if place.is_file() else ((), place))) for place in studies]
    folders += [find_results((), folder) for folder in results]
    folders += [find_results(study, None)] if study else []
    sources = read_studies(folders, name)
    if out:
        refuse_place(out, folders)
    if any(limit.quantity == "epoch_time" for limit in limits):
        sources = add_epoch_times(sources, folders)
    comparison = compare_studies(sources)
    if not len(comparison.compared):
        raise UserError(nothing_in_common(comparison, sources))
    if out:
        write_comparison(comparison, sources, out)
    return guard_studies(comparison, sources, limits, despite_load=despite_load) if limits else 0


def write_comparison(comparison: Comparison, sources: Sequence[Source], out: Path) -> None:
    """Write the documents and figures, and print one sentence per workload."""
    from scalestudy.compare.points import points_of
    from scalestudy.compare.record import comparison_file, comparison_frame, comparison_view
    from scalestudy.compare.spelling import plain
    from scalestudy.compare.table import comparison_table_view
    from scalestudy.publish.cells import csv_text
    from scalestudy.publish.templates import DIRECTORY, render
    from scalestudy.record.document import write_document
    from scalestudy.record.files import write_text

    points = points_of(comparison)
    facts = comparison_file(comparison, sources, points)
    text = render(DIRECTORY / "comparison.txt", **plain(comparison_view(facts, points)))
    table = render(DIRECTORY / "comparison.tex", **comparison_table_view(facts, points))
    write_text(out / "comparison.txt", text)
    write_text(out / "comparison.tex", table)
    write_text(out / "comparison.csv", csv_text(comparison_frame(comparison, sources)))
    write_document(out / "comparison.json", facts)
    figures = draw_figures(comparison, sources, out / "figures")
    for sentence in facts.summary:
        print(plain(sentence))
    print(f"{out}/comparison.txt, .tex, .csv, .json; {out}/figures: {', '.join(figures)}")


def refuse_place(out: Path, folders: Sequence[Path]) -> None:
    """Raise UserError if `out` is a file or a study's folder, in which only its pipeline may write."""
    if out.exists() and not out.is_dir():
        raise UserError(f"--out {out}: is a file; name a folder")
    for folder in folders:
        if os.path.realpath(out) == os.path.realpath(folder):
            raise UserError(f"--out {out}: is the folder of a study; name another folder for the comparison")


def draw_figures(comparison: Comparison, sources: Sequence[Source], folder: Path) -> list[str]:
    """Draw a figure for every compared workload. Returns the names of the figures."""
    from scalestudy.compare.figure import comparison as drawer
    from scalestudy.publish.figures.save import save_figure
    from scalestudy.publish.figures.style import paper_style

    workloads = list(dict.fromkeys(comparison.compared["workload"]))
    for workload in workloads:
        with paper_style():
            save_figure(drawer(sources, comparison, workload), folder / f"{workload}_comparison")
    return [f"{workload}_comparison" for workload in workloads]
