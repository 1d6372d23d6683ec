"""`scalestudy audit`: a published scaling table, checked against its own numbers."""

from __future__ import annotations

from pathlib import Path

import click

from scalestudy.cli import options


@options.verb(short_help="check a published scaling table against its own numbers")
@click.argument("table", type=options.PATH)
@options.path("--out", metavar="FILE", help="Also write the remarks as JSON.")
def command(table: Path, out: Path | None) -> int:
    """Check a published scaling table against its own throughputs: speedups, efficiencies, labels, base cases.

    TABLE is a CSV with the columns gpus and throughput (or step_time_ms and a batch), and any of: case, scaling,
    strategy, precision, batch_per_gpu, global_batch, gpus_per_node, throughput_unit, printed_speedup,
    printed_efficiency.
    """
    from scalestudy.diagnose.audit import AuditFile, audit_case
    from scalestudy.importers.published import read_published
    from scalestudy.publish.audit import audit_view
    from scalestudy.publish.templates import DIRECTORY, render
    from scalestudy.record.document import write_document

    cases = read_published(table)
    printed = any(row.printed_efficiency for rows in cases.values() for row in rows)
    audits = [audit_case(case, rows, efficiency_printed=printed) for case, rows in cases.items()]
    remarked = sum(bool(audit.remarks) for audit in audits)
    print(render(DIRECTORY / "audit.txt", cases=audit_view(audits), remarked=remarked), end="")
    if out:
        write_document(out, AuditFile(cases={audit.case: audit.remarks for audit in audits}))
    return 1 if remarked else 0
