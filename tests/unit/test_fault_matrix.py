"""docs/faults.md has a row for each fault that a test makes, and no other."""

from __future__ import annotations

import json
import subprocess
import sys

import fault_matrix
from fault_matrix import Cell, page


def test_the_page_has_the_cells_of_the_tests() -> None:
    said = subprocess.run(
        [sys.executable, fault_matrix.__file__, "--list"], capture_output=True, text=True, check=True
    )
    cells = [Cell(**json.loads(line)) for line in said.stdout.splitlines() if line.startswith("{")]
    written = fault_matrix.PAGE.read_text(encoding="utf-8")
    ran = next(line for line in written.splitlines() if " rows. " in line).split(" rows. ")[1]
    assert written == page(cells, ran), "run `make faults`"
