"""The links between GPUs as a table, as in `nvidia-smi topo -m`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil

from scalestudy.publish.tables.widths import text_pt
from scalestudy.record.host.links import Link, read_links

MOST_GPUS = 12
"""Most GPUs whose table fits into 80 columns of text. For more there is only the line in the hardware table."""
SELF, WIDTH = "X", 6
COLUMN_PT = 195.0
"""Width of a table in LaTeX, in \\scriptsize: the narrowest column of a page. There, a wider one is in panels."""
SCRIPT, GAP_PT = 0.88, 4.0
Cells = tuple[str, ...]
MEANINGS = {
    "PIX": "at most one PCIe switch",
    "PXB": "several PCIe switches, no host bridge",
    "PHB": "a PCIe host bridge (the CPU)",
    "NODE": "host bridges of one NUMA node",
    "SYS": "the interconnect between NUMA nodes",
    "?": "could not be read",
}
"""Meanings of the classes of `nvidia-smi topo -m`, in its order from near to far."""


@dataclass(frozen=True)
class Topology:
    """A table: `header` and `rows` of texts, and the meanings of its cells."""

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    legend: tuple[tuple[str, str], ...]
    """(cell, meaning) for each distinct cell."""

    @property
    def panels(self) -> tuple[tuple[Cells, tuple[Cells, ...]], ...]:
        """(header, rows) of each panel: they fit a column of a paper, and have about equally many columns."""
        name, *cells = (
            max(map(text_pt, column)) * SCRIPT + GAP_PT for column in zip(self.header, *self.rows, strict=True)
        )
        most = max(1, int((COLUMN_PT - name) / max(cells)))
        each = ceil(len(cells) / ceil(len(cells) / most))
        starts = range(1, len(self.header), each)
        parts = [[(row[0], *row[at : at + each]) for row in (self.header, *self.rows)] for at in starts]
        return tuple((header, tuple(rows)) for header, *rows in parts)

    @property
    def lines(self) -> tuple[str, ...]:
        """The table as lines of text, in columns of WIDTH characters."""
        return tuple("".join(f"{cell:<{WIDTH}}" for cell in row).rstrip() for row in (self.header, *self.rows))


def topologies(links: Sequence[Mapping[str, str]]) -> list[Topology]:
    """The tables of a study, one for each distinct set of links (StudyEnvironment.links)."""
    tables = [_topology(read_links(pairs)) for pairs in links]
    return [table for table in tables if len(table.rows) <= MOST_GPUS]


def _topology(links: Mapping[tuple[int, int], Link]) -> Topology:
    gpus = sorted({gpu for pair in links for gpu in pair})

    def cell(row: int, column: int) -> str:
        return SELF if row == column else links.get((min(row, column), max(row, column)), Link()).code

    rows = tuple((f"GPU{row}", *(cell(row, column) for column in gpus)) for row in gpus)
    occurring = {cell(*pair) for pair in links}
    nvlinks = {link.code: link.nvlinks_named for link in sorted(links.values(), key=lambda link: -link.nvlinks)}
    meanings = {code: meaning for code, meaning in nvlinks.items() if code not in MEANINGS} | MEANINGS
    legend = tuple((code, meaning) for code, meaning in meanings.items() if code in occurring)
    return Topology(("", *(f"GPU{gpu}" for gpu in gpus)), rows, legend)
