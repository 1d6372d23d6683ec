"""Stands for the ranks of one launch towards whoever started it: it lives as long as they do and ends as they did.

It runs as a file, needs the standard library only, and so starts at once. Told to end by SIGTERM it passes that
on to the ranks and waits for them. When it dies, its connection ends, and that ends the ranks.
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
    """The abstract socket of a parent; it is gone with the process that holds it, and leaves no file."""
    return f"\0scalestudy-{os.getuid()}-{key}"


def peer_uid(connection: socket.socket) -> int:
    """The user at the other end. An abstract socket has no owner, so each side asks."""
    _, uid, _ = struct.unpack(
        "3i", connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    )
    return int(uid)


def connect(key: str) -> socket.socket:
    """A connection to the parent of this key, which is started if there is none."""
    starting: subprocess.Popen[bytes] | None = None
    while True:
        connection = socket.socket(socket.AF_UNIX)
        try:
            connection.connect(address(key))
        except ConnectionRefusedError:
            connection.close()
            if starting is None:
                starting = start_parent(key)
            elif starting.poll() is not None:
                sys.exit(f"the process that was to fork the ranks ended with {starting.returncode} before it did")
            time.sleep(POLL_S)
            continue
        if peer_uid(connection) != os.getuid():
            sys.exit("the process that was to fork the ranks is of another user")
        return connection


def start_parent(key: str) -> subprocess.Popen[bytes]:
    """The parent outlives this launch, for the next one, and so does not have its mark (launch/family.py); its
    warnings go to the log of this one."""
    command = [sys.executable, "-u", "-m", "scalestudy.launch.forked.parent", key]
    environment = {name: value for name, value in os.environ.items() if name != MARK}
    return subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL, start_new_session=True)


def main() -> int:
    """Have the ranks forked and wait for their end: the exit code of the launch."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--key", required=True, help="names the parent")
    parser.add_argument("--ranks", type=int, required=True, help="0: one process without a group")
    parser.add_argument("worker", nargs=argparse.REMAINDER, help="module of a rank, and its arguments")
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
        print("the process that watched the ranks is gone", file=sys.stderr)
        return 1
    (code,) = CODE.unpack(answer)
    if code < 0:  # end as the rank did
        with contextlib.suppress(OSError):
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    return int(code)


if __name__ == "__main__":
    sys.exit(main())
