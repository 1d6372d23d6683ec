"""Reports times in which SLURM does not answer or accepts no job: a message at their beginning and end."""

import datetime
import threading
from collections.abc import Callable

from scalestudy.chain.slurm.advice import PROFILE

NO_ANSWER = (
    "SLURM has not answered since {since:%H:%M:%S} ({words}). Jobs continue; queries are repeated until it"
    " answers.",
    "SLURM answers again after {away_s:.0f} s.",
)
NO_ROOM = (
    "SLURM has accepted no further job since {since:%H:%M:%S}: a limit on submitted jobs is reached ({words})."
    " Submissions are repeated until it accepts one. To submit fewer jobs at a time: jobs in " + PROFILE + ".",
    "SLURM accepts jobs again after {away_s:.0f} s.",
)
"""(message at the beginning, message at the end)."""


class Outage:
    """Whether SLURM answers, or accepts jobs; shared by several threads."""

    def __init__(self, say: Callable[[str], object], said: tuple[str, str] = NO_ANSWER) -> None:
        self._say, self._lock, self._said = say, threading.Lock(), said
        self._since: datetime.datetime | None = None

    def begins(self, words: str) -> None:
        """Note a refusal or no answer. words: the message of SLURM's command."""
        with self._lock:
            if self._since:
                return
            self._since = datetime.datetime.now()
        self._say(self._said[0].format(since=self._since, words=words))

    def ends(self) -> None:
        """Note an answer, or a job that was accepted."""
        with self._lock:
            since, self._since = self._since, None
        if since:
            away = datetime.datetime.now() - since
            self._say(self._said[1].format(away_s=away.total_seconds()))
