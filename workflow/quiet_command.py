"""Run a command with its output in a log: `python quiet_command.py LOG WHAT -- COMMAND...`.

Prints a line with WHAT, which on a terminal counts the seconds. Appends the output of the command to LOG. If the
command fails, prints the end of LOG and exits with the same status. With V=1 the output goes to the terminal.
Needs the standard library only, since it helps to build the environment.
"""

import os
import subprocess
import sys
import time
from pathlib import Path

LAST_LINES = 20


def main(log: str, what: str, command: list[str]) -> int:
    """Return the exit status of the command."""
    if os.environ.get("V", "0") != "0":
        return subprocess.call(command)
    live = sys.stderr.isatty() and os.environ.get("TERM", "dumb") != "dumb"
    begin = time.monotonic()
    if not live:
        print(f"{what} (log: {log})", file=sys.stderr, flush=True)
    with Path(log).open("ab") as written:
        process = subprocess.Popen(command, stdout=written, stderr=written)
        while process.poll() is None:
            if live:
                said = f"{what}: {time.monotonic() - begin:.0f} s (log: {log})"
                print(f"\r\x1b[K{said}", end="", file=sys.stderr, flush=True)
            try:
                process.wait(timeout=1)
            except subprocess.TimeoutExpired:
                continue
    if live:
        print("\r\x1b[K", end="", file=sys.stderr, flush=True)
    if process.returncode:
        lines = Path(log).read_text(errors="replace").splitlines()
        print(*lines[-LAST_LINES:], sep="\n", file=sys.stderr)
        print(f"{what}: failed with exit status {process.returncode}; log: {log}", file=sys.stderr)
    return process.returncode


if __name__ == "__main__":
    at = sys.argv.index("--")
    sys.exit(main(*sys.argv[1:at], sys.argv[at + 1 :]))  # type: ignore[call-arg,arg-type]
