"""Reports an outage of SLURM: one message when it begins, and one when it is over."""

import datetime
import threading
from collections.abc import Callable


class Outage:
    """Whether SLURM answers; shared by several threads."""

    def __init__(self, say: Callable[[str], object]) -> None:
        self._say, self._lock = say, threading.Lock()
        self._since: datetime.datetime | None = None

    def begins(self, words: str) -> None:
        """Note that there was no answer. words: the message of SLURM's command."""
        with self._lock:
            if self._since:
                return
            self._since = datetime.datetime.now()
        self._say(
            f"SLURM has not answered since {self._since:%H:%M:%S} ({words}). Jobs continue; queries are repeated"
            " until it answers."
        )

    def ends(self) -> None:
        """Note an answer."""
        with self._lock:
            since, self._since = self._since, None
        if since:
            away = datetime.datetime.now() - since
            self._say(f"SLURM answers again after {away.total_seconds():.0f} s.")
