"""A process may end while Arrow still reads ahead: it then ended by SIGABRT."""

from __future__ import annotations

import subprocess
import sys

import pytest

SCRIPT = """
import sys, time
from contextlib import closing
from pyarrow import csv
from scalestudy.importers.logs.tabular.arrow_file import batches

def read(size, left=[5]):
    left[0] -= 1
    time.sleep(0.02)  # so that Python ends during a call
    return b"1,2\\n" * 20 if left[0] else b""

options = csv.ReadOptions(use_threads=False, block_size=80, column_names=["a", "b"])
with closing(batches(read, read_options=options)) as found:
    for batch in found:
        if sys.argv[1] == "stops":
            break
        if sys.argv[1] == "refuses":
            raise SystemExit(2)
"""


@pytest.mark.parametrize(("end", "status"), [("stops", 0), ("refuses", 2), ("reads all", 0)])
def test_a_process_that_leaves_a_file_half_read_ends_by_itself(end: str, status: int) -> None:
    """Without the wait three of four processes are aborted."""
    ran = [subprocess.Popen([sys.executable, "-c", SCRIPT, end], stderr=subprocess.PIPE) for _ in range(6)]
    said = [process.communicate()[1] for process in ran]
    assert [process.returncode for process in ran] == [status] * len(ran), said
