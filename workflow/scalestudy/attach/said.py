"""What a script says by itself, with scalestudy.Recorder or an adapter of a framework."""

from __future__ import annotations

import contextlib
import csv
import threading
import time
from typing import Any, Callable, Iterable, Iterator

from .batches import samples_of

EPOCH_COLUMNS = ("epoch", "after_step", "elapsed_s", "train_loss", "validation_loss", "validation_accuracy")
OWN = -1
"""Stands for the loader of samples that the script counts itself."""


class SaidByScript:
    """Of this process. rank: gives its Rank, which there is once torch was imported."""

    def __init__(self, rank: Callable[[], Any]) -> None:
        self._rank = rank
        self._epochs: list[dict[str, float]] = []
        self._begin = time.perf_counter()

    def steps(self, batches: Iterable[Any]) -> Iterator[Any]:
        """The batches; the step of each ends when the next one is asked for."""
        rank = self._rank()
        if rank is None:
            yield from batches
            return
        iterator = iter(batches)
        while True:
            rank.tell("fetch_begins", threading.get_ident())
            begin = time.perf_counter()
            try:
                batch = next(iterator)
            except StopIteration:
                rank.tell("fetch_ends", threading.get_ident(), OWN, None, time.perf_counter() - begin)
                return
            except BaseException:
                rank.tell("fetch_failed")
                raise
            waited = time.perf_counter() - begin
            rank.see(self._fetched, rank, batch, waited)
            rank.tell("said_to_begin")
            yield batch
            rank.tell("said_to_end")
            rank.read_if_due()

    def _fetched(self, rank: Any, batch: Any, waited_s: float) -> None:
        """A batch came. Where a loader that we know has counted it already, these samples do not count."""
        rank.tell("fetch_ends", threading.get_ident(), OWN, samples_of(batch, rank.torch), waited_s)

    def samples(self, count: int) -> None:
        """Of the step under way."""
        rank = self._rank()
        if rank is not None:
            rank.tell("count_samples", OWN, count)

    @contextlib.contextmanager
    def part(self, name: str) -> Iterator[None]:
        """A part of the step under way."""
        rank = self._rank()
        if rank is None:
            yield
            return
        rank.tell("part_begins", name)
        try:
            yield
        finally:
            rank.tell("part_ends", name)

    def epoch(self, values: dict[str, float]) -> None:
        """An epoch ended."""
        rank = self._rank()
        if rank is None:
            return
        rank.see(rank.read)
        known = {"epoch": len(self._epochs) + 1, "after_step": rank.report.steps + rank.steps.is_open}
        self._epochs.append({**known, "elapsed_s": time.perf_counter() - self._begin, **values})
        rank.see(self._write)

    def metric(self, name: str, value: float) -> None:
        """A number of the run."""
        rank = self._rank()
        if rank is not None:
            rank.report.facts.setdefault("metrics", {})[name] = value

    def _write(self) -> None:
        path = self._rank().report.path("epochs")
        with open(path, "w", encoding="utf-8", newline="") as file:
            rows = csv.DictWriter(file, EPOCH_COLUMNS)
            rows.writeheader()
            rows.writerows(self._epochs)
