"""Watches the ranks of one launch, as torchrun does: one that fails ends the others, and so does whoever hangs
up."""

import contextlib
import ctypes
import json
import os
import runpy
import select
import signal
import socket
import sys
import time
from typing import Any, NoReturn

from scalestudy.launch.forked.client import CODE, LENGTH, TERMINATE

GRACE_S = 30.0
"""Seconds between SIGTERM and SIGKILL: a rank that is told to end writes what it has measured."""
PR_SET_PDEATHSIG = 1
TORCHRUN_DEFAULTS = {"TORCH_NCCL_ASYNC_ERROR_HANDLING": "1"}
"""Variables that torchrun sets where the user has not."""


def supervise(connection: socket.socket) -> int:
    """Fork the ranks that are asked for and wait for them; whoever asked is told the exit code, which is
    returned."""
    request, output = receive(connection)
    os.setsid()
    os.dup2(output, 1)
    os.dup2(output, 2)
    waking, woken = socket.socketpair()
    for end in (waking, woken):
        end.setblocking(False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(woken.fileno(), warn_on_full_buffer=False)
    port = free_port() if request["ranks"] else 0
    running: dict[int, int] = {}
    for rank in range(max(1, request["ranks"])):
        pid = os.fork()
        if pid == 0:
            for end in (connection, waking, woken):
                end.close()
            become_rank(request, rank, port)
        running[pid] = rank
    codes = wait(connection, waking, running)
    code = next((code for code in codes.values() if code), 0)
    if request["ranks"] and code:
        tell(codes)
        code = 1
    with contextlib.suppress(OSError):
        connection.sendall(CODE.pack(code))
    return 0


def receive(connection: socket.socket) -> tuple[dict[str, Any], int]:
    """(what is asked for, the file that ranks print to)."""
    head, (output,), _, _ = socket.recv_fds(connection, LENGTH.size, 1)
    (length,) = LENGTH.unpack(head)
    content = connection.recv(length, socket.MSG_WAITALL)
    request: dict[str, Any] = json.loads(content)
    return request, output


def wait(connection: socket.socket, waking: socket.socket, running: dict[int, int]) -> dict[int, int]:
    """Exit codes of the ranks, in the order in which they ended; negative for a signal."""
    codes: dict[int, int] = {}
    listening, kill_at = [connection, waking], float("inf")

    def end() -> None:
        nonlocal kill_at
        if kill_at == float("inf"):
            kill_at = time.monotonic() + GRACE_S
            send(signal.SIGTERM)

    def send(signum: int) -> None:
        for pid in running:
            os.kill(pid, signum)

    while running:
        left_s = kill_at - time.monotonic()
        ready, _, _ = select.select(listening, [], [], None if left_s == float("inf") else max(0.0, left_s))
        if waking in ready:
            waking.recv(4096)
        if connection in ready:
            if connection.recv(1) != TERMINATE:
                listening.remove(connection)  # whoever asked is gone
            end()
        for pid in list(running):
            ended, status = os.waitpid(pid, os.WNOHANG)
            if ended:
                codes[running.pop(pid)] = os.waitstatus_to_exitcode(status)
        if any(codes.values()):
            end()
        if time.monotonic() > kill_at:
            send(signal.SIGKILL)
            kill_at = time.monotonic() + GRACE_S
    return codes


def tell(codes: dict[int, int]) -> None:
    """Print how the ranks ended, the first to fail first, in torchrun's words."""
    for rank, code in codes.items():
        if code:
            print(f"rank      : {rank} (local_rank: {rank})\n  exitcode  : {code}", flush=True)


def become_rank(request: dict[str, Any], rank: int, port: int) -> NoReturn:
    """Run the worker in this process as `python -m` would, and end it without clearing up.

    Clearing up an interpreter that holds process groups may wait for ever; what counts is written by then.
    """
    code = 1
    try:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        os.chdir(request["directory"])
        os.sched_setaffinity(0, request["cpus"])
        os.environ.clear()
        os.environ.update(environment_of(request, rank, port))
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


def environment_of(request: dict[str, Any], rank: int, port: int) -> dict[str, str]:
    """The environment of a rank: what is asked for, with what torchrun tells a rank of one node."""
    environment: dict[str, str] = request["environment"]
    ranks = request["ranks"]
    if not ranks:
        return environment
    numbers = {"RANK": rank, "LOCAL_RANK": rank, "WORLD_SIZE": ranks, "LOCAL_WORLD_SIZE": ranks}
    said = {name: str(number) for name, number in (numbers | {"MASTER_PORT": port}).items()}
    return TORCHRUN_DEFAULTS | environment | said | {"MASTER_ADDR": "127.0.0.1"}


def free_port() -> int:
    """A port of this host that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
