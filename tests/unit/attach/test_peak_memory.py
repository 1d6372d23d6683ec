"""The peak memory of a script's process is its own, whatever started it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

SCRIPT = """
import sys, types
from scalestudy.attach.report import Report
own = Report.peak_resident_gib.fget(types.SimpleNamespace())
block = bytearray(200 * 2**20)
print(own, Report.peak_resident_gib.fget(types.SimpleNamespace()))
"""


def test_the_memory_of_the_process_that_starts_it_does_not_count(tmp_path: Path) -> None:
    """As torchrun has imported torch, and a small script has not."""
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    large = "import subprocess, sys; kept = bytearray(500 * 2**20); subprocess.run([sys.executable, sys.argv[1]])"
    command = [sys.executable, "-c", large, str(script)]
    told = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    own, peak = map(float, told.split())
    assert own < 0.25
    assert 0.19 < peak - own < 0.21
