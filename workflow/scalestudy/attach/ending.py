"""The last step of a launch that is asked for no more than its step time: the same on all ranks.

The launcher writes a file when enough is known. Rank 0 sees it, chooses a step that is still to come, and tells
the other ranks over sockets of our own: never by a collective, which would come between those of the script. Each
rank leaves after that step by SystemExit, so that `finally` and `atexit` of the script run.
"""

from __future__ import annotations

import os
import secrets
import socket
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

STOP, ADDRESS = "stop", "ending"
POLL_S = 0.1
NOTICE_S = 1.0
"""Seconds that the last step lies ahead: a message takes milliseconds."""
NOTICE_STEPS = 3
PACE_S = 0.5
"""Seconds in which it is seen how fast steps follow each other."""
SWALLOWED = 2
"""Times that a script may catch the exit and go on."""
CONNECT_S = 60.0


class Enough(SystemExit):
    """Everything that was asked for is measured."""


class Ending:
    """Of one process. folder: of the launch, which all ranks see."""

    def __init__(self, folder: str, *, several_nodes: bool) -> None:
        self._folder, self._several_nodes = folder, several_nodes
        self._last: int | None = None
        self._left = 0
        self._listening = False
        self.comes: Callable[[], None] = lambda: None
        """Called once it is known that there will be a last step: from then on steps are counted as they end."""
        self.probe_steps: Callable[[float], int] = lambda pace: 0
        """Of rank 0: seconds of a step -> steps of a block of probes that are to follow; 0 for none."""
        self.announced: Callable[[int, int], int] = lambda last, steps: last
        """Told the last step of the script's own and the steps of a block: the last step of all."""

    def listen(self, rank: int, world_size: int, steps: Callable[[], int]) -> None:
        """Wait for the end in a thread, once it is known who we are. steps: that have ended so far."""
        if self._listening:
            return
        self._listening = True
        watch = self._lead if rank == 0 else self._follow
        threading.Thread(target=watch, args=(world_size, steps), name="scalestudy-ending", daemon=True).start()

    def is_last(self, step: int) -> bool:
        """Whether nothing is asked for after this step."""
        return self._last is not None and step >= self._last

    def leave(self) -> None:
        """Raise Enough; end the process where the script has caught it again and again."""
        self._left += 1
        if self._left > SWALLOWED:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(0)
        raise Enough(0)

    def _lead(self, world_size: int, steps: Callable[[], int]) -> None:
        """Rank 0: accept the others, wait for the launcher's word, and pass on the last step."""
        others: list[socket.socket] = []
        if world_size > 1:
            self._accept(others)
        stop = os.path.join(self._folder, STOP)
        while not os.path.exists(stop):
            time.sleep(POLL_S)
        self.comes()
        if world_size == 1 and not self.probe_steps(1.0):
            self._last = steps() + 1
            return
        while len(others) < world_size - 1:
            time.sleep(POLL_S)  # one that comes late would go on alone
        before, begin = steps(), time.monotonic()
        time.sleep(PACE_S)
        rate = max(1, steps() - before) / (time.monotonic() - begin)
        last, block = steps() + NOTICE_STEPS + int(rate * NOTICE_S), self.probe_steps(1 / rate)
        for other in others:
            other.sendall(b"%d %d\n" % (last, block))
        self._last = self.announced(last, block)

    def _accept(self, others: list[socket.socket]) -> None:
        token = secrets.token_hex(16)
        listener = socket.socket()
        listener.bind(("" if self._several_nodes else "127.0.0.1", 0))
        listener.listen()
        name = socket.gethostname() if self._several_nodes else "127.0.0.1"
        path = os.path.join(self._folder, ADDRESS)
        with open(path + ".tmp", "w", encoding="ascii") as file:
            file.write(f"{name} {listener.getsockname()[1]} {token}")
        os.replace(path + ".tmp", path)

        def accept() -> None:
            while True:
                connection, _ = listener.accept()
                connection.settimeout(CONNECT_S)
                if connection.makefile("r").readline().strip() == token:
                    others.append(connection)

        threading.Thread(target=accept, name="scalestudy-accept", daemon=True).start()

    def _follow(self, _world_size: int, _steps: Callable[[], int]) -> None:
        """The other ranks: sleep in a read until rank 0 says which step is the last."""
        path, until = os.path.join(self._folder, ADDRESS), time.monotonic() + CONNECT_S
        while not os.path.exists(path):
            if time.monotonic() > until:
                return
            time.sleep(POLL_S)
        with open(path, encoding="ascii") as file:
            name, port, token = file.read().split()
        connection = socket.create_connection((name, int(port)), timeout=CONNECT_S)
        connection.settimeout(None)
        connection.sendall((token + "\n").encode())
        said: Any = connection.makefile("r").readline()
        if said:
            self.comes()
            last, block = map(int, said.split())
            self._last = self.announced(last, block)
