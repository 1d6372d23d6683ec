"""Starts the ranks of one node as child processes, with their environment, and waits until they end.

A rank that fails ends the others, as under torchrun. Only the standard library is imported, for a fast start.
"""

import contextlib
import os
import platform
import random
import select
import signal
import socket
import time
from collections.abc import Callable, Mapping, Sequence

from scalestudy.errors import UserError

GRACE_S = 30.0
"""Seconds between SIGTERM and SIGKILL, in which a rank writes what it has measured."""
TORCHRUN_DEFAULTS = {"TORCH_NCCL_ASYNC_ERROR_HANDLING": "1"}
"""Variables that torchrun sets where the user has not."""
PORTS = range(20_000, 32_768)
"""Ports for the rendezvous: below those that Linux assigns to outgoing connections."""

Start = Callable[[int, Sequence[socket.socket]], int]
"""Starts a rank and returns its process id. The second argument: sockets that a forked process must close."""


def run_ranks(connection: socket.socket, count: int, start: Start) -> dict[int, int]:
    """Start this many ranks and wait for them.

    Returns rank -> exit code (negative for a signal), in the order in which the ranks ended.
    connection: any message on it, or its closing, ends the ranks; so does SIGTERM.
    """
    waking, woken = socket.socketpair()
    for end in (waking, woken):
        end.setblocking(False)
    for signum in (signal.SIGCHLD, signal.SIGTERM):
        signal.signal(signum, lambda *_: None)
    signal.set_wakeup_fd(woken.fileno(), warn_on_full_buffer=False)
    try:
        return _wait(connection, waking, {start(rank, (waking, woken)): rank for rank in range(count)})
    finally:
        signal.set_wakeup_fd(-1)  # the socket is closed with this function, and signals may still come


def _wait(connection: socket.socket, waking: socket.socket, running: dict[int, int]) -> dict[int, int]:
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
            with contextlib.suppress(BlockingIOError):
                if signal.SIGTERM in waking.recv(4096):
                    end()
        if connection in ready:
            if not connection.recv(1):
                listening.remove(connection)  # the requesting process is gone
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


def code_of(codes: Mapping[int, int]) -> int:
    """The exit code of a group of ranks: 0, or 1 where one failed.

    Failed ranks are printed in torchrun's format, in the order in which they ended.
    """
    for rank, code in codes.items():
        if code:
            print(f"rank      : {rank} (local_rank: {rank})\n  exitcode  : {code}", flush=True)
    return int(any(codes.values()))


def group_environment(environment: Mapping[str, str], rank: int, ranks: int, port: int) -> dict[str, str]:
    """The environment of a rank: the given one, and the variables that torchrun sets on a single node."""
    numbers = {"RANK": rank, "LOCAL_RANK": rank, "WORLD_SIZE": ranks, "LOCAL_WORLD_SIZE": ranks}
    said = {name: str(number) for name, number in (numbers | {"MASTER_PORT": port}).items()}
    return {**TORCHRUN_DEFAULTS, **environment, **said, "MASTER_ADDR": "127.0.0.1"}


def torchrun_environment(rank: int, ranks: int, name: str) -> dict[str, str]:
    """The other variables that torchrun sets on a single node, which some scripts read. name: of the run."""
    numbers = {"GROUP_RANK": 0, "GROUP_WORLD_SIZE": 1, "ROLE_RANK": rank, "ROLE_WORLD_SIZE": ranks}
    numbers |= {"TORCHELASTIC_RESTART_COUNT": 0, "TORCHELASTIC_MAX_RESTARTS": 0}
    words = {"ROLE_NAME": "default", "TORCHELASTIC_RUN_ID": name, "TORCHELASTIC_USE_AGENT_STORE": "False"}
    return words | {name: str(number) for name, number in numbers.items()}


def held_port() -> socket.socket:
    """A socket on a port of this host, drawn at random. While it is open, no other run takes this port.

    The first rank can listen on the port nevertheless, because the store of torch allows the reuse of an address
    and nothing listens on this socket. The rank may import torch for a minute before it does.
    """
    for _ in range(100):
        holder = socket.socket()
        try:
            holder.bind(("", random.SystemRandom().choice(PORTS)))
        except OSError:
            holder.close()
            continue
        holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # before bind, two runs could share a port
        return holder
    raise UserError(f"no port of {PORTS.start} to {PORTS.stop - 1} is free on {platform.node()}")


def port_of(holder: socket.socket) -> int:
    """The port of a socket."""
    port: int = holder.getsockname()[1]
    return port


def free_port() -> int:
    """A port of this host that is free now, for a store that another host may open. It is not held until then."""
    with held_port() as holder:
        return port_of(holder)
