"""Receives what a script reports itself, with scalestudy.Recorder or the adapter of a framework."""

from __future__ import annotations

import contextlib
import csv
import threading
import time
from typing import Any, Callable, Iterable, Iterator

from .batches import samples_of

EPOCH_COLUMNS = ("epoch", "after_step", "elapsed_s", "train_loss", "validation_loss", "validation_accuracy")
OWN = -1
"""Id of a pseudo-loader for samples that the script counts itself."""


class SaidByScript:
    """The reports of this process. rank: returns its Rank, or None before torch is imported."""

    def __init__(self, rank: Callable[[], Any]) -> None:
        self._rank = rank
        self._epochs: list[dict[str, float]] = []
        self._begin = time.perf_counter()

    def steps(self, batches: Iterable[Any]) -> Iterator[Any]:
        """Yield the batches. The step of each batch ends when the next one is requested."""
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
        """Note a batch. If a known loader has already counted it, these samples do not count."""
        rank.tell("fetch_ends", threading.get_ident(), OWN, samples_of(batch, rank.torch), waited_s)

    def samples(self, count: int) -> None:
        """Add samples to the current step."""
        rank = self._rank()
        if rank is not None:
            rank.tell("count_samples", OWN, count)

    @contextlib.contextmanager
    def part(self, name: str) -> Iterator[None]:
        """Mark a part of the current step."""
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
        """Note the end of an epoch."""
        rank = self._rank()
        if rank is None:
            return
        rank.see(rank.read)
        known = {"epoch": len(self._epochs) + 1, "after_step": rank.report.steps + rank.steps.is_open}
        self._epochs.append({**known, "elapsed_s": time.perf_counter() - self._begin, **values})
        rank.see(self._write)

    def metric(self, name: str, value: float) -> None:
        """Note a metric of the run."""
        rank = self._rank()
        if rank is not None:
            rank.report.facts.setdefault("metrics", {})[name] = value

    def _write(self) -> None:
        path = self._rank().report.path("epochs")
        with open(path, "w", encoding="utf-8", newline="") as file:
            rows = csv.DictWriter(file, EPOCH_COLUMNS)
            rows.writeheader()
            rows.writerows(self._epochs)
