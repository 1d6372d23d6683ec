"""What a published table says that its own numbers do not bear out, and what it leaves unsaid.

A remark is made only where rounding cannot explain it: a printed number stands for all that is less than one of
its last digits away. Nothing is held against a table that it did not claim.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from scalestudy.analyse.published import Table, batch_per_gpu, recompute
from scalestudy.diagnose.audit import printed, shape
from scalestudy.diagnose.audit.remark import KINDS, Remark
from scalestudy.importers.published import PublishedRow
from scalestudy.record.document import Document


@dataclass(frozen=True)
class Audit:
    """A case with what was recomputed and remarked."""

    case: str
    table: Table
    remarks: tuple[Remark, ...]

    @property
    def strong(self) -> bool:
        """Whether the batch per device shrinks as devices are added, as far as batches are stated."""
        return len({batch_per_gpu(scale.row) for scale in self.table.scales}) > 1


class AuditFile(Document):
    """What `scalestudy audit --out` writes."""

    made_by: ClassVar[str] = "scalestudy audit"
    schema_version: Literal[2] = 2
    cases: dict[str, tuple[Remark, ...]]


def audit_case(case: str, rows: Sequence[PublishedRow], *, efficiency_printed: bool) -> Audit:
    """Audit of a case; efficiency_printed: the file has efficiencies, so that a missing one is worth a remark."""
    table = recompute(rows)
    remarks = [
        *printed.unusable(table),
        *printed.bases(table),
        *printed.repeated(table),
        *printed.rates(rows),
        *printed.speedups(table, efficiency_printed=efficiency_printed),
    ]
    remarks += list(shape.confounded(table)) or [*shape.labelled(table), *shape.course(table)]
    return Audit(case, table, tuple(sorted(remarks, key=lambda remark: KINDS.index(remark.kind))))
