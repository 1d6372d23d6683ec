"""How long to wait until the next look: shortly at first, so that a quick training is not kept long once enough is
known of it, and longer as it goes on, so that looking costs nothing.
"""

from __future__ import annotations

GROWTH = 1.05


class Pace:
    """Waits that grow by a twentieth each, and so last a twentieth of the time that has passed. All in seconds."""

    def __init__(self, first_s: float, most_s: float) -> None:
        self._wait_s, self._most_s = first_s, most_s

    def next_s(self) -> float:
        """The next wait."""
        wait_s = self._wait_s
        self._wait_s = min(self._most_s, GROWTH * wait_s)
        return wait_s
