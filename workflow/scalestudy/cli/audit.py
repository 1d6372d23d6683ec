"""Check a published scaling table against its own throughputs: speedups, efficiencies, labels, base cases."""

from __future__ import annotations

import argparse
from pathlib import Path

from scalestudy.diagnose.audit import AuditFile, audit_case
from scalestudy.importers.published import read_published
from scalestudy.publish.audit import audit_view
from scalestudy.publish.templates import DIRECTORY, render
from scalestudy.record.document import write_document

HELP = "check a published table of scaling against its own numbers"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "table",
        type=Path,
        help="CSV with gpus and throughput (or step_time_ms and a batch), and what else it prints:"
        " case, scaling, strategy, precision, batch_per_gpu, global_batch, gpus_per_node, throughput_unit,"
        " printed_speedup, printed_efficiency",
    )
    parser.add_argument("--out", type=Path, help="also write the remarks as JSON")


def run(arguments: argparse.Namespace) -> int:
    cases = read_published(arguments.table)
    rows = [row for case in cases.values() for row in case]
    printed = any(row.printed_efficiency for row in rows)
    audits = [audit_case(case, rows, efficiency_printed=printed) for case, rows in cases.items()]
    view = audit_view(audits)
    remarked = sum(bool(audit.remarks) for audit in audits)
    print(render(DIRECTORY / "audit.txt", cases=view, remarked=remarked), end="")
    if arguments.out:
        write_document(arguments.out, AuditFile(cases={audit.case: audit.remarks for audit in audits}))
    return 1 if remarked else 0
