"""The last step of a launch that is asked for no more than its step time: the same on all ranks.

The launcher writes a file when enough is known. Rank 0 sees it and proposes a step that is still to come to the
other ranks, over sockets of our own: never by a collective, which would come between those of the script. A rank
that has come to that step waits there until all agree. A rank that had already passed it says so, and a later step
is proposed. Each rank leaves after the agreed step by SystemExit: `finally` and `atexit` of the script run.
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
"""Seconds between two looks for the launcher's word, at first and in the long run."""
CURRENT_S = 0.002
"""Seconds between two looks whether the steps are counted as they end."""
NOTICE_S = 0.1
"""Seconds that the last step lies ahead at first, so that nobody has to wait: a message takes milliseconds."""
NOTICE_STEPS = 2
SWALLOWED = 2
"""Times that a script may catch the exit and go on."""
CONNECT_S = 60.0
COMES, OK, LATE, AGREED = "comes", "ok", "late", "agreed"


class Enough(SystemExit):
    """Everything that was asked for is measured."""


class Line(NamedTuple):
    """A connection between two ranks, on which lines are written."""

    connection: socket.socket
    reader: TextIO

    @classmethod
    def of(cls, connection: socket.socket) -> Line:
        """Of a new connection. What its other side does not say within CONNECT_S is an error, as yet."""
        connection.settimeout(CONNECT_S)
        return cls(connection, connection.makefile("r"))

    def say(self, text: str) -> None:
        self.connection.sendall((text + "\n").encode())

    def hear(self) -> str:
        """Raises OSError where the other side is gone."""
        line = self.reader.readline()
        if not line:
            raise ConnectionError("the other rank is gone")
        return line.strip()


class Ending:
    """Of one process. folder: of the launch, which all ranks see."""

    def __init__(self, folder: str, *, several_nodes: bool) -> None:
        self._folder, self._several_nodes = folder, several_nodes
        self._last: int | None = None
        self._agreed = False
        self._changed = threading.Condition()
        self._left = 0
        self._listening = False
        self._steps: Callable[[], int] = lambda: 0
        self.comes: Callable[[], None] = lambda: None
        """Called once it is known that there will be a last step: from then on steps are counted as they end."""
        self.is_current: Callable[[], bool] = lambda: True
        """Whether the steps are counted as they end by now."""
        self.step_time_s: Callable[[], float] = lambda: 0.0
        """Of the last steps."""
        self.probe_steps: Callable[[float], int] = lambda step_time_s: 0
        """Of rank 0: seconds of a step -> steps of a block of probes that are to follow; 0 for none."""
        self.announced: Callable[[int, int], int] = lambda last, steps: last
        """Told the last step of the script's own and the steps of a block: the last step of all."""

    def listen(self, rank: int, world_size: int, steps: Callable[[], int]) -> None:
        """Wait for the end in a thread, once it is known who we are. steps: that have ended so far."""
        if self._listening:
            return
        self._listening, self._steps = True, steps
        watch = self._lead if rank == 0 else self._follow
        threading.Thread(target=watch, args=(world_size,), name="scalestudy-ending", daemon=True).start()

    def is_last(self, step: int) -> bool:
        """Whether nothing is asked for after this step. Waits until all ranks agree, where it may be the last."""
        if self._is_before_last(step):
            return False
        with self._changed:
            self._changed.wait_for(lambda: self._agreed or self._is_before_last(step), timeout=CONNECT_S)
        return not self._is_before_last(step)

    def _is_before_last(self, step: int) -> bool:
        return self._last is None or step < self._last

    def leave(self) -> None:
        """Raise Enough; end the process where the script has caught it again and again."""
        self._left += 1
        if self._left > SWALLOWED:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(0)
        raise Enough(0)

    def _count_steps(self) -> None:
        """From here on steps are counted as they end."""
        self.comes()
        while not self.is_current():
            time.sleep(CURRENT_S)

    def _propose(self, last: int) -> bool:
        """Whether this rank has not come to that step yet. There it waits until all agree."""
        with self._changed:
            self._last = last
            self._changed.notify_all()
        return self._steps() < last

    def _agree(self, last: int, block: int) -> None:
        """All ranks can end after that step of the script's own."""
        with self._changed:
            self._last, self._agreed = self.announced(last, block), True
            self._changed.notify_all()

    def _lead(self, world_size: int) -> None:
        """Rank 0: accept the others, wait for the launcher's word, and pass on the last step."""
        others: list[Line] = []
        if world_size > 1:
            self._accept(others)
        stop, pace = os.path.join(self._folder, STOP), Pace(FIRST_S, POLL_S)
        while not os.path.exists(stop):
            time.sleep(pace.next_s() if self._steps() else POLL_S)
        while len(others) < world_size - 1:
            time.sleep(POLL_S)  # one that comes late would go on alone
        for other in others:
            other.say(COMES)
        self._count_steps()
        for other in others:
            other.hear()
        step_time_s = self.step_time_s() or 1.0  # no step is written yet
        block, notice_s = self.probe_steps(step_time_s), NOTICE_S if others else 0.0
        while True:
            last = self._steps() + (NOTICE_STEPS if others else 1) + int(notice_s / step_time_s)
            for other in others:
                other.say(f"{last} {block}")
            heard = [self._propose(last), *(other.hear() == OK for other in others)]
            if all(heard):
                break
            notice_s = max(2 * notice_s, step_time_s)
        for other in others:
            other.say(AGREED)
        self._agree(last, block)

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
        """The other ranks: sleep in a read until rank 0 says which step is the last."""
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
            while (said := line.hear()) != AGREED:
                if said == COMES:
                    self._count_steps()
                    line.say(OK)
                else:
                    last, block = map(int, said.split())
                    line.say(OK if self._propose(last) else LATE)
        except OSError:
            return  # rank 0 has ended otherwise: so will the script
        self._agree(last, block)
