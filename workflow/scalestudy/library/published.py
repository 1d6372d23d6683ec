"""Audits of published scaling tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from scalestudy.errors import UserError
from scalestudy.library.frames import text_of_frame
from scalestudy.library.needs import require_packages

if TYPE_CHECKING:
    from typing import Literal

    import pandas as pd

    from scalestudy.analyse.published.table import Recomputed
    from scalestudy.diagnose.remark import Remark
    from scalestudy.importers.published import PublishedFile


@dataclass(frozen=True)
class AuditedCase:
    """A series of a table: one model, hardware and strategy on several numbers of devices."""

    name: str
    points: pd.DataFrame
    """Recomputed values, a row for each number of devices. Columns: devices; throughput, in the unit of the table;
    speedup and efficiency, both ratios; per_doubling_efficiency. Columns that end in `_low` and `_high` are the
    limits of rounding, not of measurement. nan if the table does not have what a value needs."""
    remarks: tuple[Remark, ...]
    """Contradictions and gaps: `kind`, `gpus` (None for the whole table) and `sentence`."""


@dataclass(frozen=True)
class Audit:
    """The audit of a file or a data frame."""

    cases: tuple[AuditedCase, ...]
    read: dict[str, dict[str, str]]
    """How columns were understood: table -> header -> meaning. Look at it before the remarks."""
    not_read: dict[str, tuple[str, ...]]
    """Table -> headers of the columns that were not read."""

    @property
    def remarks(self) -> tuple[Remark, ...]:
        """The remarks of all cases."""
        return tuple(remark for case in self.cases for remark in case.remarks)


def audit(
    table: str | PathLike[str] | pd.DataFrame,
    *,
    columns: Mapping[str, str] | None = None,
    scaling: Literal["weak", "strong"] | None = None,
    line: int | None = None,
) -> Audit:
    """Return what a published scaling table contradicts of itself, and its recomputed speedups.

    table: a file with tables as they are printed, or a data frame with one table and its headers. The named levels
    of its index are columns too, and durations (timedelta) are times in seconds.
    columns: header -> kind, for columns that were misunderstood; as `--column HEADER=KIND` in docs/audit.md.
    scaling: the scaling that a table of step times shows, if it does not say it.
    line: reads only the table whose header is at this line of the file.

    Raises UserError, which names the column, if the table does not show scaling or needs an answer. An option that
    its message names, such as --column 'Speed=throughput', is `columns={"Speed": "throughput"}` here.
    """
    require_packages("audit")
    import pandas as pd

    from scalestudy.importers.columns.meanings import Corrections
    from scalestudy.importers.reading import published_in, read_published
    from scalestudy.importers.tables import MOST_COLUMNS, MOST_ROWS, find_tables

    if scaling not in (None, "weak", "strong"):
        raise UserError(f"scaling: {scaling!r}; must be 'weak' or 'strong'")
    if not isinstance(columns, (Mapping, type(None))):
        raise UserError(f"columns: {columns!r:.60}; must be a dictionary, header -> kind")
    for header, kind in (columns or {}).items():
        if not isinstance(kind, str):
            raise UserError(
                f"columns: {header!r:.60}: {kind!r:.60}; must be a kind of column, such as 'throughput'"
            )
    corrections = Corrections({str(header): kind for header, kind in (columns or {}).items()}, line)
    if isinstance(table, pd.DataFrame):
        if len(table) > MOST_ROWS or len(table.columns) > MOST_COLUMNS:
            raise UserError(f"table: {len(table)} rows and {len(table.columns)} columns, which is too large")
        raw = find_tables(text_of_frame(table))
        return _audited(published_in(raw, Path("table"), corrections), "table", scaling)
    if not isinstance(table, (str, PathLike)):
        raise UserError(f"table: {table!r:.60}; must be a path or a data frame")
    path = Path(table)
    return _audited(read_published(path, corrections), path.stem, scaling)


def _audited(file: PublishedFile, name: str, scaling: Literal["weak", "strong"] | None) -> Audit:
    """Return the audit of all tables of a file. Raises UserError if one of them needs an answer."""
    from scalestudy.diagnose.audit import audit_file, with_answer
    from scalestudy.publish.audit import audit_document, question_of

    if scaling:
        file = with_answer(file, scaling)
    audits, asked = audit_file(file, name)
    if asked:
        raise UserError("; ".join([f"{name}: needs an answer", *map(question_of, asked)]))
    document = audit_document(file, audits)
    return Audit(
        cases=tuple(AuditedCase(one.case, _points(one.table.scales), one.remarks) for one in audits),
        read=document.read,
        not_read=document.not_read,
    )


def _points(scales: tuple[Recomputed, ...]) -> pd.DataFrame:
    import pandas as pd

    rows = [
        {
            "devices": scale.row.gpus,
            **scale.throughput.columns("throughput"),
            **scale.speedup.columns("speedup"),
            **scale.efficiency.columns("efficiency"),
            "per_doubling_efficiency": scale.per_doubling_efficiency,
        }
        for scale in scales
    ]
    return pd.DataFrame(rows)
