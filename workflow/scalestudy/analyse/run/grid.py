"""Steps of a run as a grid: every rank makes every step, so a column has a row per rank and an entry per step.

The slowest rank or the mean of a block is then a line of numpy. Grouping row by row took most of the time of
reading a thousand runs.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pyarrow

from scalestudy.record.tables import Table


class Columns(dict[str, np.ndarray]):
    """The columns of a table as arrays, each extracted when it is first used.

    The same columns of a run's table are used many times, and each time pandas takes longer to return a column
    than numpy takes to process it.
    """

    def __init__(self, table: Table | Columns) -> None:
        super().__init__(table if isinstance(table, Columns) else {})
        self.table: Table = table.table if isinstance(table, Columns) else table
        self._words: dict[str, tuple[np.ndarray, np.ndarray]] = table._words if isinstance(table, Columns) else {}

    def __missing__(self, name: str) -> np.ndarray:
        values: np.ndarray = self.table[name].to_numpy()
        self[name] = values
        return values

    def has(self, name: str) -> bool:
        """Returns whether the table has a column; a record of an earlier release may lack it."""
        return name in (self.table.columns if isinstance(self.table, pd.DataFrame) else self.table.column_names)

    def __len__(self) -> int:
        """Returns the number of rows."""
        return len(self.table)

    def __bool__(self) -> bool:
        return len(self) > 0

    def words(self, name: str) -> tuple[np.ndarray, np.ndarray]:
        """Returns (number of its word for each row, the words) of a column of text."""
        if name not in self._words:
            self._words[name] = _words(self.table[name])
        return self._words[name]

    def among(self, name: str, words: Collection[str]) -> np.ndarray:
        """Returns (rows,): whether a column of text has one of these words."""
        codes, known = self.words(name)
        return np.array([word in words for word in known], dtype=bool)[codes] if len(codes) else codes.astype(bool)


def _words(column: pd.Series | pyarrow.ChunkedArray) -> tuple[np.ndarray, np.ndarray]:
    if isinstance(column, pd.Series):
        codes, words = pd.factorize(column)
        return codes, np.asarray(words, dtype=object)
    coded = column.combine_chunks().dictionary_encode()
    return coded.indices.to_numpy(), coded.dictionary.to_numpy(zero_copy_only=False)


@dataclass(frozen=True)
class Grid:
    """rows: positions in the table, of shape (ranks, steps), both in their order."""

    table: Columns
    rows: np.ndarray

    @classmethod
    def of(
        cls,
        table: Table | Columns,
        chosen: np.ndarray | None = None,
        *,
        along: Sequence[str] = ("step",),
    ) -> Grid:
        """Returns the grid of a table's rows by rank and step number, or by the columns in `along`.

        A step that not all ranks have is left out. chosen: of shape (rows,), the rows to use; all if None.
        """
        table = Columns(table)
        places = np.arange(len(table)) if chosen is None else np.flatnonzero(chosen)
        if not len(places):
            return cls(table, np.empty((0, 0), dtype=int))
        rank = table["rank"][places]
        order = np.lexsort([*(table[name][places] for name in reversed(along)), rank])
        ranks, counts = np.unique(rank, return_counts=True)
        if counts.min() == counts.max():
            grid = cls(table, places[order].reshape(len(ranks), -1))
            if all((grid[name] == grid.of_step(name)).all() for name in along):
                return grid
        rows = pd.DataFrame({name: table[name][places] for name in ("rank", *along)})
        everywhere = (rows.groupby(list(along))["rank"].transform("nunique") == len(ranks)).to_numpy()
        if everywhere.all():
            raise ValueError(f"a rank has two rows of the same {', '.join(along)}")
        kept = np.zeros(len(table), dtype=bool)
        kept[places[everywhere]] = True
        return cls.of(table, kept, along=along)

    def __getitem__(self, name: str) -> np.ndarray:
        """Returns a column, of shape (ranks, steps)."""
        values: np.ndarray = self.table[name][self.rows]
        return values

    def __len__(self) -> int:
        """Returns the number of steps."""
        return int(self.rows.shape[1])

    def of_step(self, name: str) -> np.ndarray:
        """Returns (steps,): a column that is the same on all ranks, such as the block or the phase."""
        values: np.ndarray = self.table[name][self.rows[0] if len(self.rows) else []]
        return values

    def where(self, chosen: np.ndarray) -> Grid:
        """Returns the grid of the chosen steps; chosen: of shape (steps,)."""
        return Grid(self.table, self.rows[:, chosen])


def firsts(numbers: np.ndarray) -> np.ndarray:
    """Returns where each sequence of equal numbers begins, such as a block of steps; not empty."""
    return np.flatnonzero(np.append(True, np.diff(numbers) != 0))


def means(values: np.ndarray, begins: np.ndarray) -> np.ndarray:
    """Returns (ranks, blocks): means over the steps of each block that have a value; nan if none has one.

    values: (ranks, steps). begins: from `firsts`.
    """
    known = ~np.isnan(values)
    counts = np.add.reduceat(known, begins, axis=1, dtype=int)
    with np.errstate(invalid="ignore"):
        return np.add.reduceat(np.where(known, values, 0.0), begins, axis=1) / counts
