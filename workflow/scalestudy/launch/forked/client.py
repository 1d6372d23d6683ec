"""Represents the forked ranks of one run to the process that started it: it ends when they do, with their code.

It runs as a file and needs only the standard library, so it starts fast. It passes SIGTERM on to the ranks and
waits for them. When it dies, its connection closes, and that ends the ranks.
"""

import argparse
import contextlib
import json
import os
import signal
import socket
import struct
import subprocess
import sys
import time
from pathlib import Path

LENGTH = struct.Struct("!I")
CODE = struct.Struct("!i")
TERMINATE = b"T"
POLL_S = 0.05
MARK = "SCALESTUDY_LAUNCH"  # as in launch/family.py, which a file cannot import


def address(key: str) -> str:
    """Name of a parent's abstract socket. It vanishes with the process that has it open, and leaves no file."""
    return f"\0scalestudy-{os.getuid()}-{key}"


def peer_uid(connection: socket.socket) -> int:
    """Id of the user at the other end. An abstract socket has no owner, so each side must check."""
    _, uid, _ = struct.unpack(
        "3i", connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    )
    return int(uid)


def connect(key: str) -> socket.socket:
    """A connection to the parent with this key, which is started if it does not exist."""
    starting: subprocess.Popen[bytes] | None = None
    while True:
        connection = socket.socket(socket.AF_UNIX)
        try:
            connection.connect(address(key))
        except ConnectionRefusedError:
            connection.close()
            if starting is None:
                starting = start_parent(key)
            elif (code := starting.poll()) is not None:
                if code:
                    sys.exit(f"the process that forks the ranks ended with {code} before it forked them")
                starting = None  # another one had the address, and may have ended since
            time.sleep(POLL_S)
            continue
        if peer_uid(connection) != os.getuid():
            sys.exit("the process that forks the ranks belongs to another user")
        return connection


def start_parent(key: str) -> subprocess.Popen[bytes]:
    """Start a parent. It outlives this run, to serve the next one, and so it does not get this run's mark
    (launch/family.py). Its warnings go to the log of this run."""
    command = [sys.executable, "-u", "-m", "scalestudy.launch.forked.parent", key]
    environment = {name: value for name, value in os.environ.items() if name != MARK}
    return subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL, start_new_session=True)


def main() -> int:
    """Request the ranks from the parent and wait for their end. Returns the exit code of the run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--key", required=True, help="key of the parent process")
    parser.add_argument("--ranks", type=int, required=True, help="number of ranks; 0: one process without a group")
    parser.add_argument("worker", nargs=argparse.REMAINDER, help="module of a rank, with its arguments")
    arguments = parser.parse_args()
    connection = connect(arguments.key)
    for signum in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(signum, lambda *_: connection.send(TERMINATE))
    request = {
        "ranks": arguments.ranks,
        "worker": arguments.worker,
        "environment": dict(os.environ),
        "directory": str(Path.cwd()),
        "cpus": sorted(os.sched_getaffinity(0)),
    }
    content = json.dumps(request).encode()
    socket.send_fds(connection, [LENGTH.pack(len(content))], [1])
    connection.sendall(content)
    answer = connection.recv(CODE.size, socket.MSG_WAITALL)
    if len(answer) < CODE.size:
        print("the process that monitored the ranks has ended", file=sys.stderr)
        return 1
    (code,) = CODE.unpack(answer)
    if code < 0:  # end as the rank did
        with contextlib.suppress(OSError):
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    return int(code)


if __name__ == "__main__":
    sys.exit(main())
