"""epochs.csv: a row an epoch, with EPOCH_COLUMNS; a number that is not known is empty."""

import csv
import io
from collections.abc import Sequence
from math import isnan, nan
from pathlib import Path

from scalestudy.record.files import write_text
from scalestudy.record.observation import EPOCH_COLUMNS


def read_epochs(path: Path) -> list[dict[str, float]]:
    """Rows of a file: whole numbers as such, nan for what is not known."""
    with path.open(encoding="utf-8", newline="") as file:
        return [{name: _number(text) for name, text in row.items()} for row in csv.DictReader(file)]


def write_epochs(path: Path, epochs: Sequence[dict[str, float]]) -> None:
    """A file that read_epochs reads."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(EPOCH_COLUMNS)
    writer.writerows(["" if isnan(row[name]) else row[name] for name in EPOCH_COLUMNS] for row in epochs)
    write_text(path, text.getvalue(), lasting=False)


def epochs_over_ranks(epochs: Sequence[dict[str, float]]) -> list[dict[str, float]]:
    """One row an epoch: times are the largest over ranks, the rest is the same on all of them."""
    merged: dict[float, dict[str, float]] = {}
    for row in epochs:
        known = merged.setdefault(row["epoch"], {name: row[name] for name in EPOCH_COLUMNS})
        known |= {name: max(known[name], row[name]) for name in EPOCH_COLUMNS if name.endswith("_s")}
    return [merged[epoch] for epoch in sorted(merged)]


def _number(text: str) -> float:
    if not text:
        return nan
    return int(text) if text.lstrip("-").isdigit() else float(text)
