"""Agreement of all ranks on the last step of a run that only measures the step time.

The launcher writes a file when enough steps are measured. Rank 0 then proposes a future step to the other ranks.
It uses its own sockets, never a collective, which would come between the script's collectives. A rank that has
reached that step waits there until all agree. If a rank has already passed it, a later step is proposed. After the
agreed step each rank raises SystemExit, so that `finally` and `atexit` of the script run.

Ranks leave right after the last update of that step if all their steps had the same number of updates. A rank
that gets its batches from another rank would otherwise wait for one that has left. Else they leave where it is
known that the step gets no further update: at the next batch, or the next update of the same optimizer.
"""

from __future__ import annotations

import os
import secrets
import socket
import sys
import threading
import time
from collections.abc import Callable
from typing import NamedTuple, TextIO

from .pace import Pace

STOP, ADDRESS = "stop", "ending"
FIRST_S, POLL_S = 0.01, 0.1
"""Seconds between two checks for the launcher's file, at first and later."""
CURRENT_S = 0.002
"""Seconds between two checks whether steps are counted as they end."""
NOTICE_S = 0.1
"""Seconds until the first proposed step, so that no rank must wait: a message takes milliseconds."""
NOTICE_STEPS = 2
SWALLOWED = 2
"""Number of times that a script may catch the exit and continue."""
CONNECT_S = 60.0
COMES, LATE = "comes", "late"
OK, ALIKE = "ok", "ok-alike"
"""The step is still ahead; and all steps of this rank had the same number of updates."""
AGREED, ALL_ALIKE = "agreed", "agreed-alike"
"""All leave after that step; and right after its last update."""


class Enough(SystemExit):
    """All requested steps are measured."""


class Line(NamedTuple):
    """A connection between two ranks that exchange lines of text."""

    connection: socket.socket
    reader: TextIO

    @classmethod
    def of(cls, connection: socket.socket) -> Line:
        """A line over a new connection, with a time-out of CONNECT_S until the caller removes it."""
        connection.settimeout(CONNECT_S)
        return cls(connection, connection.makefile("r"))

    def say(self, text: str) -> None:
        self.connection.sendall((text + "\n").encode())

    def hear(self) -> str:
        """Read a line. Raises OSError where the other side has ended."""
        line = self.reader.readline()
        if not line:
            raise ConnectionError("the other rank has ended")
        return line.strip()


class Ending:
    """The agreement, as one process takes part in it. folder: of the run, visible to all ranks."""

    def __init__(self, folder: str, *, several_nodes: bool) -> None:
        self._folder, self._several_nodes = folder, several_nodes
        self._last: int | None = None
        self._agreed = False
        self._at_update = False
        """Whether all ranks leave right after the last update."""
        self._changed = threading.Condition()
        self._left = 0
        self._listening = False
        self._steps: Callable[[], int] = lambda: 0
        self.comes: Callable[[], None] = lambda: None
        """Called once there will be a last step. From then on, steps must be counted as they end."""
        self.is_current: Callable[[], bool] = lambda: True
        """Whether steps are already counted as they end."""
        self.step_time_s: Callable[[], float] = lambda: 0.0
        """Mean time of the last steps."""
        self.alike: Callable[[], bool] = lambda: False
        """Whether all steps of this rank so far had the same number of updates."""
        self.probe_steps: Callable[[float], int] = lambda step_time_s: 0
        """On rank 0: step time in s -> steps per block of the probes that follow; 0 for no probes."""
        self.announced: Callable[[int, int], int] = lambda last, steps: last
        """(last of the script's own steps, steps per block of probes) -> last step including the probes."""

    def listen(self, rank: int, world_size: int, steps: Callable[[], int]) -> None:
        """Start a thread that waits for the end, once the rank is known. steps: number of steps so far."""
        if self._listening:
            return
        self._listening, self._steps = True, steps
        watch = self._lead if rank == 0 else self._follow
        threading.Thread(target=watch, args=(world_size,), name="scalestudy-ending", daemon=True).start()

    def is_last(self, step: int, *, at_update: bool = False) -> bool:
        """Whether this step is the last. Where it may be, wait until all ranks agree.

        at_update: this rank asks right after the step's last update, and leaves there only if all ranks do.
        """
        if self._is_before_last(step):
            return False
        with self._changed:
            self._changed.wait_for(lambda: self._agreed or self._is_before_last(step), timeout=CONNECT_S)
        return not self._is_before_last(step) and (self._at_update or not at_update)

    def _is_before_last(self, step: int) -> bool:
        return self._last is None or step < self._last

    def leave(self) -> None:
        """Raise Enough. End the process if the script has caught it more than SWALLOWED times."""
        self._left += 1
        if self._left > SWALLOWED:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(0)
        raise Enough(0)

    def _count_steps(self) -> None:
        """Count steps as they end from here on. Returns once this is the case."""
        self.comes()
        while not self.is_current():
            time.sleep(CURRENT_S)

    def _propose(self, last: int) -> bool:
        """Set the last step, at which this rank waits until all agree. Returns whether it is still ahead."""
        with self._changed:
            self._last = last
            self._changed.notify_all()
        return self._steps() < last

    def _agree(self, last: int, block: int, *, at_update: bool) -> None:
        """Note that all ranks can end after that step of the script's own."""
        with self._changed:
            self._last, self._at_update, self._agreed = self.announced(last, block), at_update, True
            self._changed.notify_all()

    def _lead(self, world_size: int) -> None:
        """On rank 0: accept the others, wait for the launcher's file, and agree on the last step."""
        others: list[Line] = []
        if world_size > 1:
            self._accept(others)
        stop, pace = os.path.join(self._folder, STOP), Pace(FIRST_S, POLL_S)
        while not os.path.exists(stop):
            time.sleep(pace.next_s() if self._steps() else POLL_S)
        while len(others) < world_size - 1:
            time.sleep(POLL_S)  # a rank that connects later would continue alone
        for other in others:
            other.say(COMES)
        self._count_steps()
        for other in others:
            other.hear()
        step_time_s = self.step_time_s() or 1.0  # 0 before the first step is written
        block, notice_s = self.probe_steps(step_time_s), NOTICE_S if others else 0.0
        while True:
            last = self._steps() + (NOTICE_STEPS if others else 1) + int(notice_s / step_time_s)
            for other in others:
                other.say(f"{last} {block}")
            ahead, heard = self._propose(last), [other.hear() for other in others]
            if ahead and LATE not in heard:
                break
            notice_s = max(2 * notice_s, step_time_s)
        at_update = self.alike() and OK not in heard
        for other in others:
            other.say(ALL_ALIKE if at_update else AGREED)
        self._agree(last, block, at_update=at_update)

    def _accept(self, others: list[Line]) -> None:
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
                line = Line.of(connection)
                if line.hear() == token:
                    connection.settimeout(None)
                    others.append(line)

        threading.Thread(target=accept, name="scalestudy-accept", daemon=True).start()

    def _follow(self, _world_size: int) -> None:
        """On the other ranks: block in a read until rank 0 sends the last step."""
        path, until = os.path.join(self._folder, ADDRESS), time.monotonic() + CONNECT_S
        while not os.path.exists(path):
            if time.monotonic() > until:
                return
            time.sleep(POLL_S)
        with open(path, encoding="ascii") as file:
            name, port, token = file.read().split()
        line = Line.of(socket.create_connection((name, int(port)), timeout=CONNECT_S))
        line.connection.settimeout(None)
        line.say(token)
        last = block = 0
        try:
            while (said := line.hear()) not in (AGREED, ALL_ALIKE):
                if said == COMES:
                    self._count_steps()
                    line.say(OK)
                else:
                    last, block = map(int, said.split())
                    line.say((ALIKE if self.alike() else OK) if self._propose(last) else LATE)
        except OSError:
            return  # rank 0 has ended in another way, and the script will end too
        self._agree(last, block, at_update=said == ALL_ALIKE)
