"""How lines come onto a terminal, or into a log where there is none."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Protocol, TextIO

from rich.console import Console, Group
from rich.live import Live
from rich.text import Text


class Painter(Protocol):
    """Shows lines that stay, and where it can, lines that change."""

    def say(self, lines: Sequence[str]) -> None:
        """Print lines that stay."""

    def close(self) -> None:
        """Leave the terminal as it was."""


class Lines:
    """Lines that stay, one after another. Nobody to read them is no reason for a study to stop."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def say(self, lines: Sequence[str]) -> None:
        try:
            for line in lines:
                self._stream.write(f"{line}\n")
            self._stream.flush()
        except (OSError, ValueError):  # a pipe or file that was closed
            pass

    def close(self) -> None:
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
