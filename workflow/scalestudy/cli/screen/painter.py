"""How lines come onto a terminal, or into a log where there is none."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from threading import Event, Thread
from typing import Final, Protocol, TextIO

from rich.console import Console, Group
from rich.live import Live
from rich.text import Text

QUIET_S: Final = 60.0
"""Seconds without a line after which a log says what is under way."""


class Painter(Protocol):
    """Shows lines that stay, and where it can, lines that change."""

    def say(self, lines: Sequence[str]) -> None:
        """Print lines that stay."""

    def close(self) -> None:
        """Leave the terminal as it was."""


class Lines:
    """Lines that stay, one after another. Nobody to read them is no reason for a study to stop.

    After a minute without a line it says what is under way, then after two further minutes, four, and so on.
    """

    def __init__(self, stream: TextIO, under_way: Callable[[], str], *, quiet_s: float = QUIET_S) -> None:
        """under_way: what to say after a silence of quiet_s seconds; '' for nothing."""
        self._stream = stream
        self._under_way = under_way
        self._quiet_s = quiet_s
        self._spoke = Event()
        self._closed = False
        self._watch = Thread(target=self._end_silence, daemon=True)
        self._watch.start()

    def say(self, lines: Sequence[str]) -> None:
        if lines:
            self._spoke.set()
        self._write(lines)

    def close(self) -> None:
        self._closed = True
        self._spoke.set()
        self._watch.join()

    def _end_silence(self) -> None:
        wait_s = self._quiet_s
        while not self._closed:
            if self._spoke.wait(wait_s):
                self._spoke.clear()
                wait_s = self._quiet_s
            else:
                self._write([line] if (line := self._under_way()) else [])
                wait_s *= 2

    def _write(self, lines: Sequence[str]) -> None:
        try:
            for line in lines:
                self._stream.write(f"{line}\n")
            self._stream.flush()
        except (OSError, ValueError):  # a pipe or file that was closed
            pass


class CalmConsole(Console):
    """Never hides the cursor: a process that is killed could not show it again."""

    def show_cursor(self, show: bool = True) -> bool:
        return False


class Screen:
    """Lines that are painted again every second, below those that stay."""

    def __init__(self, stream: TextIO, lines: Callable[[], Sequence[str]]) -> None:
        self._console = CalmConsole(file=stream, highlight=False)
        self._lines = lines
        self._live = Live(
            console=self._console,
            get_renderable=self._painted,
            refresh_per_second=1,
            transient=True,
            redirect_stdout=False,
            redirect_stderr=False,
            vertical_overflow="crop",
        )
        self._live.start()

    def _painted(self) -> Group:
        return Group(*(Text(line, no_wrap=True, overflow="ellipsis") for line in self._lines()))

    def say(self, lines: Sequence[str]) -> None:
        for line in lines:
            self._console.print(Text(line))

    def close(self) -> None:
        self._live.stop()


def is_live(stream: TextIO) -> bool:
    """Whether lines can be painted again: on a terminal that can move its cursor."""
    return stream.isatty() and os.environ.get("TERM", "") not in ("", "dumb")
