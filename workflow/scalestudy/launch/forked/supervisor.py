"""Forks the ranks of one run and monitors them. All are ended when one fails, or when the client disconnects."""

import contextlib
import json
import os
import runpy
import signal
import socket
import sys
from collections.abc import Sequence
from typing import Any, NoReturn

from scalestudy.launch.family import adopt_orphans, descendants, end_all, end_with_parent
from scalestudy.launch.forked.client import CODE, LENGTH
from scalestudy.launch.ranks import code_of, group_environment, held_port, port_of, run_ranks

LEFT_S = 1.0
"""Seconds for children of ranks that outlive the ranks."""


def supervise(connection: socket.socket) -> int:
    """Fork the requested ranks, wait for them, and send their exit code to the client. Returns 0."""
    request, output = receive(connection)
    os.setsid()
    adopt_orphans()
    os.dup2(output, 1)
    os.dup2(output, 2)
    ranks: int = request["ranks"]
    holders = [held_port()] if ranks else []
    port = port_of(holders[0]) if holders else 0

    def start(rank: int, ours: Sequence[socket.socket]) -> int:
        pid = os.fork()
        if pid == 0:
            become_rank(request, rank, port, not_ours=(connection, *holders, *ours))
        return pid

    codes = run_ranks(connection, max(1, ranks), start)
    code = code_of(codes) if ranks else codes[0]
    end_all(lambda: descendants(os.getpid()), grace_s=LEFT_S, reap=reap)  # processes that the ranks left behind
    with contextlib.suppress(OSError):
        connection.sendall(CODE.pack(code))
    return 0


def reap() -> None:
    """Take the exit codes of children that have ended."""
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def receive(connection: socket.socket) -> tuple[dict[str, Any], int]:
    """Return (the request, the file that ranks print to)."""
    head, (output,), _, _ = socket.recv_fds(connection, LENGTH.size, 1)
    (length,) = LENGTH.unpack(head)
    content = connection.recv(length, socket.MSG_WAITALL)
    request: dict[str, Any] = json.loads(content)
    return request, output


def become_rank(request: dict[str, Any], rank: int, port: int, *, not_ours: Sequence[socket.socket]) -> NoReturn:
    """Run the worker in this process as `python -m` would, and end the process without cleaning up.

    not_ours: sockets of the supervisor, closed once no signal is written to them any more.

    Cleaning up an interpreter with process groups may block forever; the results are written by then.
    """
    code = 1
    try:
        signal.set_wakeup_fd(-1)
        for signum in (signal.SIGCHLD, signal.SIGTERM):
            signal.signal(signum, signal.SIG_DFL)
        for end in not_ours:
            end.close()
        end_with_parent(signal.SIGKILL)
        os.chdir(request["directory"])
        os.sched_setaffinity(0, request["cpus"])
        os.environ.clear()
        environment, ranks = request["environment"], request["ranks"]
        os.environ.update(group_environment(environment, rank, ranks, port) if ranks else environment)
        module, *sys.argv[1:] = request["worker"]
        sys.path[0] = request["directory"]
        runpy.run_module(module, run_name="__main__", alter_sys=True)
        code = 0
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
        if isinstance(ended.code, str):
            print(ended.code, file=sys.stderr)
    except BaseException:
        sys.excepthook(*sys.exc_info())
    finally:
        with contextlib.suppress(OSError, ValueError):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(code)
