"""The recorder of one rank: it keeps steps and epochs in memory and writes its part of the observation.

Written by a rank into the run's partial directory:
    steps-<rank>.parquet, epochs-<rank>.csv, rank-<rank>.json, progress.json (rank 0)
`launch` puts the parts together; a rank never waits for another in order to write.
"""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pyarrow
import pyarrow.parquet

from scalestudy.record.files import write_json, write_text
from scalestudy.record.observation import EPOCH_COLUMNS, STEP_COLUMNS, RankReport


class Recorder:
    """Collects what one rank measures."""

    def __init__(self, directory: str | Path, *, rank: int) -> None:
        self.directory = Path(directory)
        self.rank = rank
        self._steps: dict[str, list] = {name: [] for name in STEP_COLUMNS}
        self._epochs: list[dict[str, float]] = []

    @property
    def steps(self) -> int:
        """Number of steps recorded so far."""
        return len(self._steps["step"])

    def add_block(
        self,
        *,
        epoch: int,
        block: int,
        warmup_steps: int,
        times_s: list[tuple[float, float, float, float]],
        samples: int,
        losses: list[float],
    ) -> None:
        """Append the steps of one block.

        times_s: for each step its data, forward, backward and optimizer seconds; they meet end to end, so their
        sum is the step. samples: of this rank, each step. losses: of this rank, each step.
        """
        first, count = self.steps, len(times_s)
        columns = self._steps
        columns["rank"] += [self.rank] * count
        columns["epoch"] += [epoch] * count
        columns["block"] += [block] * count
        columns["step"] += range(first, first + count)
        columns["phase"] += [
            "warmup" if step < warmup_steps else "measured" for step in range(first, first + count)
        ]
        for index, name in enumerate(("data", "forward", "backward", "optimizer")):
            columns[f"{name}_time_s"] += [times[index] for times in times_s]
        columns["step_time_s"] += [sum(times) for times in times_s]
        columns["samples"] += [samples] * count
        columns["loss"] += losses

    def add_epoch(self, **values: float) -> None:
        """Append an epoch; the keys are EPOCH_COLUMNS."""
        assert set(values) == set(EPOCH_COLUMNS), values
        self._epochs.append(values)

    def report_progress(self, *, done: int, total: int) -> None:
        """Steps done of all steps, for whoever watches; rank 0 speaks for the run."""
        if self.rank == 0:
            write_json(self.directory / "progress.json", {"done": done, "total": total})

    def write(self, report: RankReport, environment: dict) -> None:
        """Write this rank's part. Also called when training ends early: what was measured is kept."""
        pyarrow.parquet.write_table(
            pyarrow.Table.from_pandas(pd.DataFrame(self._steps), preserve_index=False),
            self.directory / f"steps-{self.rank}.parquet",
        )
        epochs = pd.DataFrame(self._epochs, columns=list(EPOCH_COLUMNS))
        write_text(self.directory / f"epochs-{self.rank}.csv", epochs.to_csv(index=False))
        # Last: a rank report vouches for the files before it.
        write_json(
            self.directory / f"rank-{self.rank}.json",
            {"report": report.model_dump(mode="json"), "environment": environment},
        )
