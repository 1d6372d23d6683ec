"""What a script says by itself, with scalestudy.Recorder or an adapter of a framework."""

from __future__ import annotations

import contextlib
import csv
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
            rank.see(rank.steps.fetch_begins)
            try:
                batch = next(iterator)
            except StopIteration:
                rank.see(rank.steps.fetch_ends, OWN, None)
                return
            except BaseException:
                rank.see(rank.steps.fetch_failed)
                raise
            rank.see(self._fetched, batch)
            rank.see(rank.steps.said_to_begin)
            yield batch
            rank.see(rank.steps.said_to_end)

    def _fetched(self, batch: Any) -> None:
        """A loader that we know has counted its batch already."""
        rank = self._rank()
        rank.steps.fetch_ends(OWN, 0 if rank.steps.fetched else samples_of(batch, rank.torch))

    def samples(self, count: int) -> None:
        """Of the step under way."""
        rank = self._rank()
        if rank is not None:
            rank.see(rank.steps.count_samples, OWN, count)

    @contextlib.contextmanager
    def part(self, name: str) -> Iterator[None]:
        """A part of the step under way."""
        rank = self._rank()
        if rank is None:
            yield
            return
        rank.see(rank.steps.part_begins, name)
        try:
            yield
        finally:
            rank.see(rank.steps.part_ends, name)

    def epoch(self, values: dict[str, float]) -> None:
        """An epoch ended."""
        rank = self._rank()
        if rank is None:
            return
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
