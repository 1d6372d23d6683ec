"""Make the PDF of a document that `scalestudy documents` wrote; needs LaTeX, and says which packages have it."""

from __future__ import annotations

import argparse
from pathlib import Path

from scalestudy.publish.typeset import typeset
from scalestudy.record.files import write_bytes

HELP = "PDF of a LaTeX document (report.pdf, proposal.pdf)"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("source", type=Path, help="the .tex file, beside its tables and figures")
    parser.add_argument("--out", type=Path, help="the PDF (default: beside the source)")
    parser.add_argument("--tex-log", type=Path, help="where LaTeX's log is kept (default: beside the PDF)")


def run(arguments: argparse.Namespace) -> int:
    out = arguments.out or arguments.source.with_suffix(".pdf")
    made = typeset(arguments.source, log=arguments.tex_log or out.with_suffix(".log"))
    write_bytes(out, made.pdf)
    print(f"{out}: {made.pages} page{'s' if made.pages > 1 else ''}")
    return 0
