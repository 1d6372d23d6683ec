"""`python -m scalestudy.launch.cold RANKS -m MODULE ...`: the ranks of one node, each a fresh interpreter.

What torchrun does on one node, without importing torch for it: on a file system where that takes a minute,
torchrun needs that minute before the first rank begins. Told to end by SIGTERM it passes that on, and its own end
ends the ranks.
"""

import os
import signal
import socket
import sys

from scalestudy.launch.ranks import code_of, end_with_parent, free_port, group_environment, run_ranks


def main() -> int:
    """Start the ranks and wait for their end: the exit code of the launch."""
    ranks, *worker = int(sys.argv[1]), *sys.argv[2:]
    told, telling = socket.socketpair()
    for signum in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(signum, lambda *_: telling.send(b"end"))
    command, port = [sys.executable, "-u", *worker], free_port()

    def start(rank: int, _: object) -> int:
        environment = group_environment(os.environ, rank, ranks, port)
        pid = os.fork()
        if pid == 0:
            try:
                end_with_parent(signal.SIGKILL)
                os.execve(command[0], command, environment)
            finally:
                os._exit(127)
        return pid

    return code_of(run_ranks(told, ranks, start))


if __name__ == "__main__":
    sys.exit(main())
