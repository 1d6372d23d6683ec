"""The recorder of one rank: it collects what was measured and makes tables of it.

Our own ranks fill it while they train (record/rank_recorder.py). For a user's own script the launcher fills it
from the plain files that the script's ranks wrote (launch/foreign/gather.py), since our code in such a rank uses
only the standard library and torch. So the rows of built-in workloads and of scripts are made by the same code.

It is used between two measurements, so it avoids pandas, which takes longer to import than the rest of a rank's
own code. Arrow imports pandas when it makes an array of a list.
"""

from collections.abc import Iterable, Sequence
from itertools import accumulate
from typing import Any

import numpy as np
import pyarrow as pa

from scalestudy.record.observation import DDP_COLUMNS, EPOCH_COLUMNS, PART_COLUMNS, TABLES, TEXTS


class Recorder:
    """Collects what one rank measured."""

    def __init__(self, *, rank: int) -> None:
        self.rank = rank
        self.steps = 0
        """Number of steps recorded so far, probes included."""
        self.blocks = 0
        """Number of blocks recorded so far."""
        self.epochs: list[dict[str, float]] = []
        """One row per epoch, with EPOCH_COLUMNS."""
        self._steps: list[dict[str, np.ndarray | Sequence[str]]] = []  # columns of the steps of each block
        self._rows: dict[str, list[dict[str, Any]]] = {name: [] for name in TABLES if name != "steps"}

    def add_block(
        self,
        *,
        epoch: int,
        phases: Sequence[str],
        times_s: np.ndarray,
        samples: int,
        losses: Sequence[float] | None,
        step_times_s: np.ndarray | None = None,
        ddp_s: np.ndarray | None = None,
        state: dict[str, float | None],
    ) -> None:
        """Append the steps of one block, and the state of host and device at its end.

        epoch: 0 for a probe. phases: one per step. times_s: (steps, parts), in the order of STEP_PARTS; nan for a
        part that was not observed. samples: per step, of this rank. losses: None if unknown. step_times_s: one
        per step; None if the parts are contiguous, so that they sum to the step. ddp_s: (steps, 3), DDP_COLUMNS.
        state: the columns of blocks.parquet that come after `steps`; missing ones are unknown.
        """
        count = len(times_s)
        unknown = np.full((count, len(DDP_COLUMNS)), np.nan)
        self._steps.append(
            {
                "epoch": np.full(count, epoch),
                "block": np.full(count, self.blocks),
                "step": np.arange(self.steps, self.steps + count),
                "phase": phases,
                **dict(zip(PART_COLUMNS, times_s.T, strict=True)),
                "step_time_s": times_s.sum(axis=1) if step_times_s is None else step_times_s,
                **dict(zip(DDP_COLUMNS, (unknown if ddp_s is None else ddp_s).T, strict=True)),
                "samples": np.full(count, samples),
                "loss": np.full(count, np.nan) if losses is None else np.array(losses, dtype=np.float64),
            }
        )
        self.add_rows(
            "blocks",
            [{"block": self.blocks, "phase": phases[-1], "first_step": self.steps, "steps": count, **state}],
        )
        self.steps += count
        self.blocks += 1

    def pass_over(self, *, steps: int, blocks: int) -> None:
        """Continue at the numbers of a rank that has recorded more, so that all ranks number alike."""
        self.steps, self.blocks = steps, blocks

    def forget_probes(self, *, steps: int, blocks: int) -> None:
        """Remove what was recorded after the training. steps, blocks: the counts at the end of the training."""
        self._steps = [block for block in self._steps if np.max(block["block"], initial=-1) < blocks]
        self._rows = {name: [] for name in self._rows} | {
            "blocks": [row for row in self._rows["blocks"] if row["block"] < blocks]
        }
        self.pass_over(steps=steps, blocks=blocks)

    def add_rows(self, table: str, rows: list[dict[str, Any]]) -> None:
        """Append rows of blocks, buckets or collectives. The rank is filled in; missing columns are unknown."""
        assert all(set(row) <= set(TABLES[table]) for row in rows), rows
        self._rows[table] += rows

    def add_epoch(self, **values: float) -> None:
        """Append an epoch; the keys are EPOCH_COLUMNS."""
        assert set(values) == set(EPOCH_COLUMNS), values
        self.epochs.append(values)

    def tables(self) -> dict[str, pa.Table]:
        """Return each of TABLES for this rank; nan for unknown numbers."""
        columns = {
            "steps": {name: _joined([block[name] for block in self._steps]) for name in TABLES["steps"][1:]},
            **{
                table: {name: [row.get(name) for row in rows] for name in TABLES[table] if name != "rank"}
                for table, rows in self._rows.items()
            },
        }
        return {table: self._table(table, of_table) for table, of_table in columns.items()}

    def _table(self, name: str, columns: dict[str, Any]) -> pa.Table:
        """Return one table. Without rows its columns have no type."""
        count = len(next(iter(columns.values())))
        if not count:
            return pa.table({column: pa.nulls(0) for column in TABLES[name]})
        columns["rank"] = np.full(count, self.rank)
        arrays = [
            _texts(columns[column]) if column in TEXTS else _numbers(columns[column]) for column in TABLES[name]
        ]
        return pa.Table.from_arrays(arrays, names=list(TABLES[name]))


def _joined(blocks: Sequence[Any]) -> Any:
    """Return one column over all blocks."""
    if blocks and isinstance(blocks[0], np.ndarray):
        return np.concatenate(blocks)
    return [value for block in blocks for value in block]


def _numbers(values: Iterable[float | None]) -> pa.Array:
    """Return integers if all values are, else floats, with nan for None."""
    array = values if isinstance(values, np.ndarray) else np.array([np.nan if v is None else v for v in values])
    whole = array.dtype.kind in "iu"
    held = np.ascontiguousarray(array, dtype=np.int64 if whole else np.float64)
    kind = pa.int64() if whole else pa.float64()
    return pa.Array.from_buffers(kind, len(held), [None, pa.py_buffer(held)])


def _texts(values: Sequence[str]) -> pa.Array:
    encoded = [value.encode() for value in values]
    ends = np.array([0, *accumulate(map(len, encoded))], dtype=np.int32)
    return pa.Array.from_buffers(
        pa.string(), len(encoded), [None, pa.py_buffer(ends), pa.py_buffer(b"".join(encoded))]
    )
