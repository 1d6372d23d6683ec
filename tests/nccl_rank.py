"""A rank that writes a log file as NCCL does when requested. It trains over gloo, without a GPU."""

from __future__ import annotations

import sys
from pathlib import Path

from scalestudy.train.__main__ import run

LINE = "frodo:1:2 [0] NCCL INFO Channel 00 : 0[0] -> 1[1] via SHM/direct/direct\n"

if __name__ == "__main__":
    out = Path(sys.argv[sys.argv.index("--out") + 1])
    (out / "nccl-frodo-1.log").write_text(LINE, encoding="utf-8")
    run()
