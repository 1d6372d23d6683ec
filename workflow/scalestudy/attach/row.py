"""What is known of one step."""

from __future__ import annotations

from .clock import Mark


class Row:
    """A step that has ended. Times are pairs of marks until the device has passed them."""

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
        """Whether batches were read by another thread: how long the training waited for them is not seen."""
        self.data_s = 0.0
        self.checkpoint_s = 0.0
        self.reading_s = 0.0
        """In which we read what was noted, where the script waited for it. It is part of the step's time."""
        self.passes: list[tuple[str, Mark, Mark]] = []
        """(part, begin, end) of forward and backward passes and updates."""
        self.nested: list[tuple[str, Mark, Mark]] = []
        """(part that they are within, begin, end) of those that a part's own time must not contain."""
        self.updates = 0
        self.loaders: dict[int, int] = {}
        """Loader -> samples that were fetched from it."""
        self.exhausted: set[int] = set()
        """Loaders that had no batch left."""
        self.extra: set[str] = set()
