"""Compare studies: two clusters, two interconnects, before and after an upgrade. All are held against the first.

Points are compared where they are the same question: the same training, at the same scale and batch. What only
some studies have is listed, and so is what differs in where they were measured.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from scalestudy.analyse.study.compare import Comparison, compare_studies
from scalestudy.cli.finished import add_studies, read_studies
from scalestudy.errors import UserError
from scalestudy.publish.comparison.named import Named, plain
from scalestudy.publish.comparison.record import comparison_frame, comparison_json
from scalestudy.publish.comparison.sentences import nothing_in_common
from scalestudy.publish.comparison.view import comparison_view
from scalestudy.publish.figures.drawers.comparison import comparison as drawer
from scalestudy.publish.figures.save import save_figure
from scalestudy.publish.figures.style import paper_style
from scalestudy.publish.tables.comparison import comparison_table_view
from scalestudy.publish.templates import DIRECTORY, render
from scalestudy.record.files import write_json, write_text

HELP = "several studies in one document: ratios with intervals, and what differs between them"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_studies(parser)
    parser.add_argument("--out", type=Path, required=True, help="folder for the documents and figures/")
    parser.add_argument("--templates", type=Path, default=DIRECTORY, help="folder of the Jinja templates")


def run(arguments: argparse.Namespace) -> int:
    named = read_studies(arguments.studies, arguments.name)
    refuse_place(arguments.out, arguments.studies)
    comparison = compare_studies([one.source for one in named])
    if not len(comparison.compared):
        raise UserError(nothing_in_common(comparison, named))
    out, templates = arguments.out, arguments.templates
    text = render(templates / "comparison.txt", **plain(comparison_view(comparison, named)))
    table = render(templates / "comparison.tex", **comparison_table_view(comparison, named))
    write_text(out / "comparison.txt", text)
    write_text(out / "comparison.tex", table)
    write_text(out / "comparison.csv", comparison_frame(comparison, named).to_csv(index=False))
    facts = comparison_json(comparison, named)
    write_json(out / "comparison.json", facts)
    figures = draw_figures(comparison, named, out / "figures")
    for sentence in facts["summary"]:
        print(plain(sentence))
    print(f"{out}/comparison.txt, .tex, .csv, .json; {out}/figures: {', '.join(figures)}")
    return 0


def refuse_place(out: Path, folders: Sequence[Path]) -> None:
    """A comparison has a folder of its own: a study's files stay what its pipeline made."""
    if out.exists() and not out.is_dir():
        raise UserError(f"--out {out}: is a file; name a folder")
    for folder in folders:
        if out.resolve() == folder.resolve():
            raise UserError(f"--out {out}: is the folder of a study; name one for the comparison")


def draw_figures(comparison: Comparison, named: Sequence[Named], folder: Path) -> list[str]:
    """A figure of every workload that is compared: their names."""
    workloads = list(dict.fromkeys(comparison.compared["workload"]))
    for workload in workloads:
        with paper_style():
            save_figure(drawer(named, comparison, workload), folder / f"{workload}_comparison")
    return [f"{workload}_comparison" for workload in workloads]
