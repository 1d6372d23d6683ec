"""docs/faults.md has a row for each fault that a test injects, and no other rows."""

from __future__ import annotations

import json
import subprocess
import sys

import fault_matrix
from fault_matrix import Cell, page, said_of_the_last_run


def test_the_page_has_the_cells_of_the_tests() -> None:
    said = subprocess.run(
        [sys.executable, fault_matrix.__file__, "--list"], capture_output=True, text=True, check=True
    )
    cells = [Cell(**json.loads(line)) for line in said.stdout.splitlines() if line.startswith("{")]
    written = fault_matrix.PAGE.read_text(encoding="utf-8")
    assert written == page(cells, said_of_the_last_run()), "run `make faults`"
