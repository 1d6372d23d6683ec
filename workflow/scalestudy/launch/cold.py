"""`python -m scalestudy.launch.cold [--python PYTHON] RANKS SCRIPT ...`: the ranks of one node, each a fresh
interpreter. SCRIPT is a file, or -m and a module.

What torchrun does on one node, without importing torch for it: on a file system where that takes a minute,
torchrun needs that minute before the first rank begins. Told to end by SIGTERM it passes that on, and its own end
ends the ranks.
"""

import os
import signal
import socket
import sys

from scalestudy.launch.family import end_with_parent
from scalestudy.launch.ranks import code_of, free_port, group_environment, run_ranks, torchrun_environment


def main() -> int:
    """Start the ranks and wait for their end: the exit code of the launch."""
    python, arguments = sys.executable, sys.argv[1:]
    script = arguments[0] == "--python"  # somebody's own
    if script:
        python, arguments = arguments[1], arguments[2:]
    ranks, worker = int(arguments[0]), arguments[1:]
    told, telling = socket.socketpair()
    for signum in (signal.SIGINT, signal.SIGHUP):  # SIGTERM is heard where the ranks are waited for
        signal.signal(signum, lambda *_: telling.send(b"end"))
    command, port = [python, "-u", *worker], free_port()

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

    return code_of(run_ranks(told, ranks, start))


if __name__ == "__main__":
    sys.exit(main())
