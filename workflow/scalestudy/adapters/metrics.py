"""Finds the numbers of an epoch among a framework's metrics, by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

ACCURACY, LOSS, TRAIN_LOSS = "validation_accuracy", "validation_loss", "train_loss"
"""Names that scalestudy.Recorder accepts."""
FIELDS = {"accuracy": ACCURACY, "loss": LOSS, "train_loss": TRAIN_LOSS}
"""Arguments of the adapters -> names of the Recorder."""


class Metrics:
    """Metric names of an adapter. who: the adapter's name in errors. usual: names to look for by default.

    accuracy, loss, train_loss: names given by the user, which must exist among the metrics.
    """

    def __init__(
        self,
        who: str,
        usual: Mapping[str, tuple[str, ...]],
        *,
        accuracy: str | None,
        loss: str | None,
        train_loss: str | None,
    ) -> None:
        self._who = who
        given = {"accuracy": accuracy, "loss": loss, "train_loss": train_loss}
        self._given = {word: name for word, name in given.items() if name}
        self._names = {
            FIELDS[word]: (name,) if name else tuple(usual[FIELDS[word]]) for word, name in given.items()
        }
        self._seen: set[str] = set()

    def of(self, values: Mapping[str, Any]) -> dict[str, float]:
        """Return the numbers of an epoch among these metrics. Raises ValueError if accuracy is not from 0 to 1."""
        self._seen.update(values)
        found = {}
        for field, names in self._names.items():
            name = next((name for name in names if name in values), None)
            if name is None:
                continue
            found[field] = float(values[name])
            if field == ACCURACY and (found[field] < 0 or found[field] > 1):
                raise ValueError(
                    f"{self._who}: {name} is {found[field]:g}, but an accuracy is a number from 0 to 1. Divide a"
                    " percentage by 100, or name another metric with accuracy=..."
                )
        return found

    def refuse_missing(self, *words: str) -> None:
        """Raise ValueError if a given name was not among the metrics so far. words: keys of FIELDS."""
        for word in words:
            name = self._given.get(word)
            if name and name not in self._seen:
                known = ", ".join(sorted(self._seen)) or "none"
                raise ValueError(
                    f"{self._who}: {word}={name!r} is not among the metrics; the metrics are: {known}"
                )
