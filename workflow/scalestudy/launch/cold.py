"""`python -m scalestudy.launch.cold [--python PYTHON] RANKS SCRIPT ...`: the ranks of one node, each a fresh
interpreter. SCRIPT is a file, or -m and a module.

This does what torchrun does on one node, but does not import torch: on a file system where the import takes a
minute, torchrun needs that minute before the first rank begins. SIGTERM is passed on to the ranks, and they end
when this process ends.
"""

import os
import signal
import socket
import sys

from scalestudy.launch.family import end_with_parent
from scalestudy.launch.ranks import (
    code_of,
    group_environment,
    held_port,
    port_of,
    run_ranks,
    torchrun_environment,
)


def main() -> int:
    """Start the ranks and wait for their end. Returns the exit code of the run."""
    python, arguments = sys.executable, sys.argv[1:]
    script = arguments[0] == "--python"  # a user's script
    if script:
        python, arguments = arguments[1], arguments[2:]
    ranks, worker = int(arguments[0]), arguments[1:]
    told, telling = socket.socketpair()
    for signum in (signal.SIGINT, signal.SIGHUP):  # run_ranks handles SIGTERM
        signal.signal(signum, lambda *_: telling.send(b"end"))
    command = [python, "-u", *worker]
    holder = held_port()
    port = port_of(holder)

    def start(rank: int, _: object) -> int:
        environment = group_environment(os.environ, rank, ranks, port)
        if script:
            environment |= torchrun_environment(rank, ranks, f"scalestudy-{port}")
        pid = os.fork()
        if pid == 0:
            try:
                end_with_parent(signal.SIGKILL)
                os.execve(command[0], command, environment)
            finally:
                os._exit(127)
        return pid

    with holder:
        return code_of(run_ranks(told, ranks, start))


if __name__ == "__main__":
    sys.exit(main())
