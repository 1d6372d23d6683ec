"""Commands on a pseudo-terminal of a given size, and their screen."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import signal
import struct
import termios
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pyte


@dataclass
class Terminal:
    """A command on a terminal."""

    columns: int
    rows: int
    status: int = -1
    """Exit status; negative for a signal."""
    printed: bytes = b""
    silences_s: list[float] = field(default_factory=list)
    """Seconds between what it printed."""
    settings_before: list[object] = field(default_factory=list)
    settings_after: list[object] = field(default_factory=list)

    def screen(self, *, at: float = 1.0) -> list[str]:
        """Lines that were not empty, those scrolled out included, after this share of what was printed."""
        screen = pyte.HistoryScreen(self.columns, self.rows, history=10_000)
        pyte.ByteStream(screen).feed(self.printed[: int(len(self.printed) * at)])
        above = ["".join(row[x].data for x in range(self.columns)) for row in screen.history.top]
        return [line.rstrip() for line in [*above, *screen.display] if line.strip()]

    @property
    def cursor_is_hidden(self) -> bool:
        """Whether the cursor was left hidden."""
        screen = pyte.Screen(self.columns, self.rows)
        pyte.ByteStream(screen).feed(self.printed)
        return bool(screen.cursor.hidden)


def on_terminal(
    command: Sequence[str],
    at: Path,
    environment: Mapping[str, str],
    *,
    columns: int = 80,
    rows: int = 25,
    interrupt_at: bytes = b"",
) -> Terminal:
    """Run a command to its end. interrupt_at: type Ctrl-C once it has printed this."""
    found = Terminal(columns, rows)
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    found.settings_before = termios.tcgetattr(slave)
    pid = os.fork()
    if pid == 0:
        os.login_tty(slave) if hasattr(os, "login_tty") else _login(slave)
        os.chdir(at)
        os.execvpe(command[0], list(command), dict(environment))
    last, typed = time.monotonic(), False
    while True:
        ready, _, _ = select.select([master], [], [], 0.5)
        if ready:
            now = time.monotonic()
            found.silences_s.append(now - last)
            last = now
            found.printed += os.read(master, 65536)
            if interrupt_at and not typed and interrupt_at in found.printed:
                typed = True
                os.write(master, b"\x03")
        elif (ended := os.waitpid(pid, os.WNOHANG))[0]:
            found.status = os.waitstatus_to_exitcode(ended[1])
            break
    found.settings_after = termios.tcgetattr(slave)
    os.close(master)
    os.close(slave)
    return found


def _login(slave: int) -> None:
    """Make a terminal the controlling one of this process, as Python 3.12 does by `os.login_tty`."""
    os.setsid()
    fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
    for number in (0, 1, 2):
        os.dup2(slave, number)
    signal.signal(signal.SIGINT, signal.default_int_handler)
