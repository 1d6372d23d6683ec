"""epochs.csv: one row per epoch, with EPOCH_COLUMNS. An unknown number is an empty cell."""

import csv
import io
from collections.abc import Sequence
from math import isnan, nan
from pathlib import Path

from scalestudy.record.files import write_text
from scalestudy.record.observation import EPOCH_COLUMNS


def read_epochs(path: Path) -> list[dict[str, float]]:
    """Return the rows of a file: whole numbers as int, other numbers as float, empty cells as nan."""
    with path.open(encoding="utf-8", newline="") as file:
        return [{name: _number(text) for name, text in row.items()} for row in csv.DictReader(file)]


def write_epochs(path: Path, epochs: Sequence[dict[str, float]]) -> None:
    """Write a file that `read_epochs` can read."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(EPOCH_COLUMNS)
    writer.writerows(["" if isnan(row[name]) else row[name] for name in EPOCH_COLUMNS] for row in epochs)
    write_text(path, text.getvalue(), lasting=False)


def epochs_over_ranks(epochs: Sequence[dict[str, float]]) -> list[dict[str, float]]:
    """Return one row per epoch: times are the maximum over ranks, other columns are equal on all ranks."""
    merged: dict[float, dict[str, float]] = {}
    for row in epochs:
        known = merged.setdefault(row["epoch"], {name: row[name] for name in EPOCH_COLUMNS})
        known |= {name: max(known[name], row[name]) for name in EPOCH_COLUMNS if name.endswith("_s")}
    return [merged[epoch] for epoch in sorted(merged)]


def _number(text: str) -> float:
    if not text:
        return nan
    return int(text) if text.lstrip("-").isdigit() else float(text)
