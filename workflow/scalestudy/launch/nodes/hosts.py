"""Starts a run on a list of hosts without a scheduler: one ssh connection per host, with launch/nodes/node.py."""

import argparse
import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

from scalestudy.errors import UserError

HOSTS = "SCALESTUDY_HOSTS"
"""Variable with names of hosts, such as `node1,node2`. The first is this host, or one that the others reach."""
REMOTE_SHELL = "SCALESTUDY_SSH"
"""Variable with the command that connects to a host; `ssh -o BatchMode=yes` if unset."""
GRACE_S = 35.0  # torchrun gives up on a hanging rank after 30 s


def parse_hosts(text: str) -> tuple[str, ...]:
    """'node1,node2' -> ('node1', 'node2'). Raises UserError where a host is listed twice."""
    hosts = tuple(text.replace(",", " ").split())
    if len(set(hosts)) < len(hosts):
        raise UserError(f"{HOSTS}: a host is listed twice in {text!r}; list each host once")
    return hosts


def remote_line(starter: list[str], index: int, host: str) -> str:
    """The command line for a host's shell: change to our directory, set the search paths, run the starter."""
    kept = {key: value for key, value in os.environ.items() if key in ("PATH", "PYTHONPATH", "LD_LIBRARY_PATH")}
    variables = " ".join(f"{key}={shlex.quote(value)}" for key, value in sorted(kept.items()))
    command = shlex.join([*starter, f"--index={index}", f"--name={host}", "--end-with-stdin"])
    return f"cd {shlex.quote(str(Path.cwd()))} && exec env {variables} {command}"


def main() -> int:
    """Run one starter per host, and end all when one fails. Returns the exit code of the first failure, or 0."""
    parser = argparse.ArgumentParser(prog="python -m scalestudy.launch.nodes.hosts", description=__doc__)
    parser.add_argument("--hosts", nargs="+", required=True)
    parser.add_argument("starter", nargs="+", help="command that every host runs, after --")
    arguments = parser.parse_args()
    shell = shlex.split(os.environ.get(REMOTE_SHELL, "ssh -o BatchMode=yes"))
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    processes = [
        subprocess.Popen([*shell, host, remote_line(arguments.starter, index, host)], stdin=subprocess.PIPE)
        for index, host in enumerate(arguments.hosts)
    ]
    try:
        while True:
            codes = [process.poll() for process in processes]
            failed = [code for code in codes if code]
            if failed or None not in codes:
                return failed[0] if failed else 0
            time.sleep(0.1)
    finally:
        for process in processes:
            assert process.stdin is not None
            process.stdin.close()  # the starter on that host then ends its ranks
        deadline = time.monotonic() + GRACE_S
        for process in processes:
            try:
                process.wait(timeout=max(0.1, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                process.kill()


if __name__ == "__main__":
    sys.exit(main())
