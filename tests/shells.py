"""Commands as a user types them, for tests."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from conftest import BIN


def in_shell(command: str, folder: Path, status: int = 0) -> str:
    """Run a shell command in a folder, with the environment's commands on its path, and return its output."""
    path = os.pathsep.join([str(BIN), os.environ["PATH"]])
    done = subprocess.run(
        command,
        shell=True,
        cwd=folder,
        env=os.environ | {"PATH": path, "NO_COLOR": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert done.returncode == status, f"{command} ended with {done.returncode}:\n{done.stdout[-6000:]}"
    return done.stdout
