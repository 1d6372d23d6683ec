"""A rank that writes what a rank of an earlier run wrote, instead of training.

The real launcher starts it instead of `scalestudy.train`, with the same arguments, if the study has
`host.environment: {SCALESTUDY_WORKER: replaying_rank, REPLAYED: FOLDER}`. FOLDER has a run directory for each run,
named without the hash of the run: the hash covers the environment, so the replayed study has other hashes.
`prepare` makes the folder. No torch is needed, so a run takes one or two seconds. Repeated attempts at a run write
the same data.
"""

from __future__ import annotations

import argparse
import os
import shutil
import time
from pathlib import Path

from pyarrow import compute, parquet
from scalestudy.record.epochs import read_epochs, write_epochs
from scalestudy.record.files import write_json
from scalestudy.record.observation import TABLES, read_record
from scalestudy.study.spec import parse_spec

REPLAYED = "REPLAYED"
TICKS = 10
TICK_S = 0.1


def name_of(run_id: str) -> str:
    """Return the name of a run without the hash of its spec."""
    return run_id.rpartition("-")[0]


def prepare(runs: Path, target: Path) -> None:
    """Make the folder for `REPLAYED` from the runs of a finished study."""
    for run in sorted(path.parent for path in runs.glob("*/run.json")):
        shutil.copytree(run, target / name_of(run.name) / run.name)


def replay(recorded: Path, rank: int, out: Path) -> None:
    """Write the part of one rank, in steps between which a fault can strike."""
    record = read_record(recorded)
    for tick in range(TICKS):
        time.sleep(TICK_S)
        if rank == 0:
            write_json(out / "progress.json", {"done": tick + 1, "total": TICKS})
    for name in TABLES:
        rows = parquet.read_table(recorded / f"{name}.parquet")
        of_rank = rows.filter(compute.equal(rows["rank"], rank)) if rows.num_rows else rows
        parquet.write_table(of_rank, out / f"{name}-{rank}.parquet")
        time.sleep(TICK_S / 5)
    write_epochs(out / f"epochs-{rank}.csv", read_epochs(recorded / "epochs.csv") if rank == 0 else [])
    # Facts that only the ranks can report to the launcher, by their names in the record.
    totals = {name: value for name, value in record.totals.model_dump().items() if name not in SUMMED}
    write_json(
        out / f"rank-{rank}.json",
        {
            "report": next(one for one in record.ranks if one.rank == rank).model_dump(mode="json"),
            "environment": record.environment | totals,
            "stopping": record.stopping and record.stopping.model_dump(mode="json"),
        },
    )


SUMMED = ("steps", "samples", "train_time_s", "wall_time_s")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--spec", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    arguments, _ = parser.parse_known_args()
    spec = parse_spec(arguments.spec.read_text(encoding="utf-8"))
    (recorded,) = (Path(os.environ[REPLAYED]) / name_of(spec.run_id)).iterdir()
    print(f"replays {recorded.name}", flush=True)
    replay(recorded, int(os.environ.get("RANK", "0")), arguments.out)


if __name__ == "__main__":
    main()
