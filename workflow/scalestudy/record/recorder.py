"""The recorder of one rank: it keeps what was measured in memory and writes its part of the observation.

Written by a rank into the run's partial directory:
    TABLE-<rank>.parquet for each of parts.TABLES, epochs-<rank>.csv, rank-<rank>.json, progress.json (rank 0)
`launch` puts the parts together; a rank never waits for another in order to write.
"""

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from scalestudy.record.files import write_json, write_text
from scalestudy.record.observation import (
    DDP_COLUMNS,
    EPOCH_COLUMNS,
    PART_COLUMNS,
    STEP_COLUMNS,
    TABLES,
    RankReport,
    Stopping,
)

PROGRESS_EVERY_S = 1.0  # a bar need not be smoother, and writing a file takes most of a millisecond


class Recorder:
    """Collects what one rank measures."""

    def __init__(self, directory: str | Path, *, rank: int) -> None:
        self.directory = Path(directory)
        self.rank = rank
        self.steps = 0
        """Number of steps recorded so far, probes included."""
        self.blocks = 0
        """Number of blocks recorded so far."""
        self._blocks: list[dict[str, Any]] = []
        self._rows: dict[str, list[dict[str, Any]]] = {name: [] for name in TABLES}
        self._epochs: list[dict[str, float]] = []
        self._next_progress = 0.0

    def add_block(
        self,
        *,
        epoch: int,
        phases: Sequence[str],
        times_s: np.ndarray,
        samples: int,
        losses: Sequence[float],
        ddp_s: np.ndarray | None = None,
        state: dict[str, float | None],
    ) -> None:
        """Append the steps of one block, and the state of host and device at its end.

        epoch: 0 for a probe. phases: of each step. times_s: (steps, parts), in the order of STEP_PARTS; the parts
        meet end to end, so their sum is the step. samples: of this rank, each step. ddp_s: (steps, 3),
        DDP_COLUMNS. state: the columns of blocks.parquet that come after `steps`; what is missing is not known.
        """
        count = len(times_s)
        block = {"epoch": epoch, "phases": phases, "times_s": times_s, "samples": samples, "losses": losses}
        self._blocks.append(block | {"ddp_s": ddp_s, "block": self.blocks, "first_step": self.steps})
        self.add_rows(
            "blocks",
            [{"block": self.blocks, "phase": phases[-1], "first_step": self.steps, "steps": count, **state}],
        )
        self.steps += count
        self.blocks += 1

    def pass_over(self, *, steps: int, blocks: int) -> None:
        """Go on at these numbers, those of a rank that has recorded more: all ranks count alike."""
        self.steps, self.blocks = steps, blocks

    def add_rows(self, table: str, rows: list[dict[str, Any]]) -> None:
        """Append rows of blocks, buckets or collectives; the rank is filled in, what is missing is null."""
        assert all(set(row) <= set(TABLES[table]) for row in rows), rows
        self._rows[table] += rows

    def add_epoch(self, **values: float) -> None:
        """Append an epoch; the keys are EPOCH_COLUMNS."""
        assert set(values) == set(EPOCH_COLUMNS), values
        self._epochs.append(values)

    def report_progress(self, *, done: int, total: int) -> None:
        """Steps done of all steps, for whoever watches; rank 0 speaks for the run."""
        if self.rank == 0 and (time.monotonic() >= self._next_progress or done == total):
            self._next_progress = time.monotonic() + PROGRESS_EVERY_S
            write_json(self.directory / "progress.json", {"done": done, "total": total})

    def write(self, report: RankReport, environment: dict[str, Any], stopping: Stopping | None = None) -> None:
        """Write this rank's part. Also called when training ends early: what was measured is kept."""
        frames = {"steps": self._steps_frame()}
        for name, columns in TABLES.items():
            if name != "steps":
                frames[name] = pd.DataFrame(self._rows[name], columns=list(columns)).assign(rank=self.rank)
        for name, frame in frames.items():
            frame[list(TABLES[name])].to_parquet(self.directory / f"{name}-{self.rank}.parquet", index=False)
        epochs = pd.DataFrame(self._epochs, columns=list(EPOCH_COLUMNS))
        write_text(self.directory / f"epochs-{self.rank}.csv", epochs.to_csv(index=False))
        # Last: a rank report vouches for the files before it.
        write_json(
            self.directory / f"rank-{self.rank}.json",
            {
                "report": report.model_dump(mode="json"),
                "environment": environment,
                "stopping": stopping and stopping.model_dump(mode="json"),
            },
        )

    def _steps_frame(self) -> pd.DataFrame:
        """All blocks as rows of steps.parquet."""
        if not self._blocks:
            return pd.DataFrame(columns=list(STEP_COLUMNS))
        counts = [len(block["times_s"]) for block in self._blocks]
        times = np.concatenate([block["times_s"] for block in self._blocks])
        ddp = [
            np.full((count, len(DDP_COLUMNS)), np.nan) if block["ddp_s"] is None else block["ddp_s"]
            for block, count in zip(self._blocks, counts, strict=True)
        ]
        return pd.DataFrame(
            {
                "rank": self.rank,
                "epoch": np.repeat([block["epoch"] for block in self._blocks], counts),
                "block": np.repeat([block["block"] for block in self._blocks], counts),
                "step": np.concatenate(
                    [
                        block["first_step"] + np.arange(count)
                        for block, count in zip(self._blocks, counts, strict=True)
                    ]
                ),
                "phase": [phase for block in self._blocks for phase in block["phases"]],
                **dict(zip(PART_COLUMNS, times.T, strict=True)),
                "step_time_s": times.sum(axis=1),
                **dict(zip(DDP_COLUMNS, np.concatenate(ddp).T, strict=True)),
                "samples": np.repeat([block["samples"] for block in self._blocks], counts),
                "loss": [loss for block in self._blocks for loss in block["losses"]],
            }
        )
