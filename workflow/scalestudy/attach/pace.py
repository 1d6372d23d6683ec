"""How long to wait until the next check: short at first, so that a short training ends soon once enough is
measured, and longer later, so that checks cost little.
"""

from __future__ import annotations

GROWTH = 1.05


class Pace:
    """Waits that grow by 5 % each, so that each is about 5 % of the elapsed time. All in seconds."""

    def __init__(self, first_s: float, most_s: float) -> None:
        self._wait_s, self._most_s = first_s, most_s

    def next_s(self) -> float:
        """The next wait."""
        wait_s = self._wait_s
        self._wait_s = min(self._most_s, GROWTH * wait_s)
        return wait_s
