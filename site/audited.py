"""The audit in the gallery: a published table, and what `scalestudy audit` prints about it.

Each build of the site runs the audit, so that the page shows what the code of the site prints.
"""

import csv
import io
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TABLES = ROOT / "tests/data/published.csv"
CASE = "pytorch-ddp-resnet50"
FILE = "resnet50.csv"
SOURCE = (
    "https://github.com/pytorch/pytorch/blob/bf69c149b872e3c19ad493406a6d67ce3e97d716"
    "/benchmarks/distributed/ddp/README.md"
)
COLUMNS = (
    "case",
    "hardware",
    "strategy",
    "gpus",
    "batch_per_gpu",
    "step_time_ms",
    "throughput",
    "throughput_unit",
)
"""Columns that the source prints. It states neither the type of scaling nor the precision."""
TEXT = """\
## Audit of a published table

The table is from the DDP benchmark of PyTorch: ResNet-50 in one process without DDP, and with DDP on 1 to 16 V100.
Step times are medians, and throughputs are per GPU, as printed
([source]({source}), BSD-3-Clause licence).

```text
{table}```

```text
$ scalestudy audit {file}
{printed}
```

The exit status is {status}: {meaning}. [audit.md](../audit.md) explains how to audit another table.
"""
MEANING = {0: "there are no remarks", 1: "there are remarks"}


def section() -> str:
    """Return the part of the gallery's page, as Markdown."""
    table = table_of(CASE)
    status, printed = audit(table)
    return TEXT.format(
        source=SOURCE, file=FILE, table=table, printed=printed.rstrip(), status=status, meaning=MEANING[status]
    )


def table_of(case: str) -> str:
    """Return the rows of a case as CSV, with the columns that were printed."""
    with TABLES.open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["case"] == case]
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def audit(table: str) -> tuple[int, str]:
    """Return the exit status of an audit of this table, and what it printed. Raises if there was no audit."""
    environment = os.environ | {"PYTHONPATH": str(ROOT / "workflow")}
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / FILE).write_text(table, encoding="utf-8")
        command = [sys.executable, "-m", "scalestudy", "audit", FILE]
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    if done.returncode not in MEANING:
        raise RuntimeError(f"scalestudy audit {FILE} ended with {done.returncode}: {done.stderr}")
    return done.returncode, done.stdout
