"""Shows the progress of a run: a bar on a terminal, a line every 30 s elsewhere."""

import json
import sys
import time
from pathlib import Path
from typing import NoReturn

from tqdm import tqdm

from scalestudy.record.say import say

LINE_EVERY_S = 30.0


class Progress:
    """Reads what rank 0 reports and shows it. `watch` may be called at any rate."""

    def __init__(self, directory: Path, *, name: str) -> None:
        self._path = directory / "progress.json"
        self._name = name
        self._terminal = sys.stderr.isatty()
        self._bar: tqdm[NoReturn] | None = None
        self._next_line = time.monotonic() + LINE_EVERY_S

    def watch(self) -> None:
        """Show the current state."""
        if not self._terminal and time.monotonic() < self._next_line:
            return
        try:
            state = json.loads(self._path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return  # the ranks have not finished a block yet, or the disk is full; a display ends no run
        if self._terminal:
            if self._bar is None:
                self._bar = tqdm(total=state["total"], desc=self._name, unit="step", file=sys.__stderr__)
            self._bar.update(state["done"] - self._bar.n)
        else:
            self._next_line += LINE_EVERY_S
            say(f"{self._name}: step {state['done']} of {state['total']}")

    def close(self) -> None:
        """Remove the bar."""
        if self._bar is not None:
            self._bar.close()
