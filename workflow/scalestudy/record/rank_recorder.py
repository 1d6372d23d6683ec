"""The recorder of one of our ranks, which writes the rank's part of the observation.

Each rank writes into the run's partial directory:
    TABLE-<rank>.parquet for each of TABLES, epochs-<rank>.csv, rank-<rank>.json, progress.json (rank 0)
The launcher merges the parts (record/parts.py). A rank never waits for another rank in order to write.
"""

import time
from pathlib import Path
from typing import Any

from pyarrow import parquet

from scalestudy.record.epochs import write_epochs
from scalestudy.record.files import write_json
from scalestudy.record.observation import RankReport, Stopping
from scalestudy.record.recorder import Recorder

PROGRESS_EVERY_S = 1.0  # smooth enough for a progress bar; writing a file takes most of a millisecond


class RankRecorder(Recorder):
    """A recorder that writes into the partial directory of a run."""

    def __init__(self, directory: str | Path, *, rank: int) -> None:
        super().__init__(rank=rank)
        self.directory = Path(directory)
        self._next_progress = 0.0

    def report_progress(self, *, done: int, total: int) -> None:
        """Write the numbers of completed and of all steps, for progress displays. Only rank 0 writes."""
        if self.rank == 0 and (time.monotonic() >= self._next_progress or done == total):
            self._next_progress = time.monotonic() + PROGRESS_EVERY_S
            write_json(self.directory / "progress.json", {"done": done, "total": total}, lasting=False)

    def write(self, report: RankReport, environment: dict[str, Any], stopping: Stopping | None = None) -> None:
        """Write this rank's part. Also called when training ends early, so that what was measured is kept."""
        for name, table in self.tables().items():
            parquet.write_table(table, self.directory / f"{name}-{self.rank}.parquet")
        write_epochs(self.directory / f"epochs-{self.rank}.csv", self.epochs)
        # Last: the presence of a rank's report means that its other files are complete.
        write_json(
            self.directory / f"rank-{self.rank}.json",
            {
                "report": report.model_dump(mode="json"),
                "environment": environment,
                "stopping": stopping and stopping.model_dump(mode="json"),
            },
            lasting=False,
        )
