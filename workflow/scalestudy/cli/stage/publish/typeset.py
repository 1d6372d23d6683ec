"""`scalestudy stage typeset`: the PDF of a LaTeX document."""

from __future__ import annotations

from pathlib import Path

import click

from scalestudy.cli import options


@options.verb(short_help="PDF of a LaTeX document (report.pdf, proposal.pdf)")
@click.argument("source", type=options.PATH)
@options.path("--out", metavar="FILE", help="The PDF. Default: beside the source.")
@options.path("--tex-log", metavar="FILE", help="LaTeX's log. Default: beside the PDF.")
def command(source: Path, out: Path | None, tex_log: Path | None) -> int:
    """Make the PDF of SOURCE, a .tex file beside its tables and figures.

    This needs LaTeX; if it is missing, the message names the packages that have it.
    """
    from scalestudy.publish.typeset import typeset
    from scalestudy.record.files import write_bytes

    out = out or source.with_suffix(".pdf")
    made = typeset(source, log=tex_log or out.with_suffix(".log"))
    write_bytes(out, made.pdf)
    print(f"{out}: {made.pages} page{'s' if made.pages > 1 else ''}")
    return 0
