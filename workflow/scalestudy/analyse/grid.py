"""Steps of a launch as a rectangle: every rank makes every step, so a column has a row a rank and an entry a step.

What the analysis asks of steps, the slowest rank or the mean of a block, is then a line of numpy; grouped row by
row it took the longer part of reading a thousand runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd


@dataclass(frozen=True)
class Grid:
    """columns: name -> values of shape (ranks, steps), in their order."""

    columns: dict[str, np.ndarray]
    steps: int

    @classmethod
    def of(cls, table: pd.DataFrame, *, along: Sequence[str] = ("step",)) -> Grid:
        """Rows of a table with a rank and a number of the step, or of what `along` counts.

        A step that not all ranks have is left out: nothing can be said of it.
        """
        rank = table["rank"].to_numpy()
        order = np.lexsort([*(table[name].to_numpy() for name in reversed(along)), rank])
        ranks, counts = np.unique(rank, return_counts=True)
        if not len(ranks):
            return cls({name: np.empty((0, 0)) for name in table}, 0)
        if counts.min() == counts.max():
            shape = (len(ranks), int(counts[0]))
            columns = {name: table[name].to_numpy()[order].reshape(shape) for name in table}
            if all((columns[name] == columns[name][0]).all() for name in along):
                return cls(columns, shape[1])
        everywhere = table.groupby(list(along))["rank"].transform("nunique") == len(ranks)
        if everywhere.all():
            raise ValueError(f"a rank has two rows of the same {', '.join(along)}")
        return cls.of(table[everywhere], along=along)

    def __getitem__(self, name: str) -> np.ndarray:
        """(ranks, steps)."""
        return self.columns[name]

    def __len__(self) -> int:
        """Steps."""
        return self.steps

    def of_step(self, name: str) -> np.ndarray:
        """(steps,): a column that is the same on all ranks, such as the block or the phase."""
        values = self[name]
        return values[0] if len(values) else values.ravel()

    def where(self, chosen: np.ndarray) -> Grid:
        """The steps that are chosen; of shape (steps,)."""
        return Grid({name: values[:, chosen] for name, values in self.columns.items()}, int(np.sum(chosen)))

    def firsts(self, name: str = "block") -> np.ndarray:
        """Where each block begins, or what else follows one another; with at least one step."""
        return np.flatnonzero(np.append(True, np.diff(self.of_step(name)) != 0))

    def means(self, name: str) -> np.ndarray:
        """(ranks, blocks): the mean of each block over its steps that have a value; nan where none has."""
        values, firsts = self[name].astype(float), self.firsts()
        known = ~np.isnan(values)
        with np.errstate(invalid="ignore"):
            sums = np.add.reduceat(np.where(known, values, 0.0), firsts, axis=1)
            return sums / np.add.reduceat(known, firsts, axis=1, dtype=int)
