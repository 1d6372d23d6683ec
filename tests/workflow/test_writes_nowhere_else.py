"""Our processes write only to the study, its results, caches and the temporary directory.

strace sees every process of a study from plan to PDF: Snakemake, stages, launchers, ranks, LaTeX.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from conftest import BIN, Checkout
from faulted import CACHE

CALLS = (
    "openat,open,creat,mkdir,mkdirat,rename,renameat,renameat2,unlink,unlinkat,rmdir,link,linkat,symlink,symlinkat"
)
CALLS += ",truncate,mknod,mknodat,chmod,fchmodat"
OPENED = re.compile(r"^(?:openat|open|creat)\(.*O_(?:WRONLY|RDWR|CREAT|TRUNC|APPEND)\b.*\) = \d+<(.*)>$")
CHANGED = re.compile(r"^(?!open|creat)(\w+)\((.*)\) = 0$")
NAMED = re.compile(r'(?:(?:AT_FDCWD|\d+)<([^>]*)>, )?"((?:[^"\\]|\\.)*)"')
STANDS_IN = re.compile(r"AT_FDCWD<([^>]*)>")
DEVICES = ("/dev/", "/proc/", "/sys/", "pipe:", "socket:", "anon_inode:", "/memfd:")


def written(trace: Path, here: Path) -> set[str]:
    """Paths that one process wrote, created, renamed or removed, by its trace.

    here: the working directory of the process until a line of the trace changes it.
    """
    found: set[str] = set()
    for line in trace.read_text(errors="replace").splitlines():
        here = Path(stands[1]) if (stands := STANDS_IN.search(line)) else here
        if opened := OPENED.match(line):
            found.add(opened[1].removesuffix(" (deleted)"))
        elif changed := CHANGED.match(line):
            found |= {os.path.normpath(Path(folder or here, name)) for folder, name in NAMED.findall(changed[2])}
    return {path for path in found if not path.startswith(DEVICES)}


@pytest.mark.slow
def test_a_study_writes_into_its_own_folders_alone(checkout: Checkout, tmp_path: Path) -> None:
    if shutil.which("strace") is None:
        pytest.skip("strace is missing; on Debian: apt-get install strace")
    home, temporary, trace = tmp_path / "home", tmp_path / "tmp", tmp_path / "trace"
    for folder in (home, temporary):
        folder.mkdir()
    outside = {path: path.read_bytes() for path in checkout.root.rglob("*.py")}
    inherited = {
        name: value for name, value in checkout.environment.items() if not name.startswith(("XDG_", "MPL"))
    }
    environment = inherited | {"HOME": str(home), "TMPDIR": str(temporary), "PYTHONDONTWRITEBYTECODE": "1"}
    strace = [
        "strace",
        "-ff",
        "--seccomp-bpf",
        "-qq",
        "-y",
        "-s",
        "4096",
        "-o",
        str(trace),
        "-e",
        f"trace={CALLS}",
    ]
    ended = subprocess.run(
        [*strace, str(BIN / "snakemake"), "--cores", "2"],
        cwd=checkout.root,
        env=environment,
        capture_output=True,
        text=True,
    )
    assert ended.returncode == 0, ended.stderr
    places = set().union(*(written(path, checkout.root) for path in tmp_path.glob("trace.*")))
    results = str(checkout.root / "results")
    assert any(path.startswith(f"{results}/tiny/runs/") for path in places), "the trace sees what is written"
    assert any(path.startswith(str(temporary)) for path in places)
    allowed = [results, checkout.root / ".snakemake", home / ".cache", home / ".texlive", temporary]
    elsewhere = {
        path
        for path in places
        if "/__pycache__" not in path and not any(Path(path).is_relative_to(folder) for folder in allowed)
    }
    elsewhere -= {str(home), str(checkout.root)}
    assert elsewhere == set()
    assert outside == {path: path.read_bytes() for path in checkout.root.rglob("*.py") if path in outside}
    assert [path.name for path in temporary.iterdir() if not path.name.startswith(CACHE)] == []
