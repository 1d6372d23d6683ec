"""The data of one step."""

from __future__ import annotations

from .clock import Mark


class Row:
    """A step. Times are pairs of marks until the device has passed them."""

    __slots__ = (
        "ahead",
        "begin",
        "checkpoint_s",
        "data_s",
        "end",
        "exhausted",
        "extra",
        "loaders",
        "nested",
        "passes",
        "reading_s",
        "updates",
    )

    def __init__(self, begin: Mark) -> None:
        self.begin = begin
        self.end: Mark = None
        self.ahead = False
        """Whether another thread read the batches, so that the waiting time of the training is unknown."""
        self.data_s = 0.0
        self.checkpoint_s = 0.0
        self.reading_s = 0.0
        """Time for reading the journal while the script waited; part of the step's time."""
        self.passes: list[tuple[str, Mark, Mark]] = []
        """(part, begin, end) of forward passes, backward passes and updates."""
        self.nested: list[tuple[str, Mark, Mark]] = []
        """(enclosing part, begin, end) of nested parts, whose time is subtracted from the enclosing part."""
        self.updates = 0
        self.loaders: dict[int, int] = {}
        """Loader -> number of samples that were fetched from it."""
        self.exhausted: set[int] = set()
        """Loaders that were exhausted."""
        self.extra: set[str] = set()
