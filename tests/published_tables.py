"""The published measurements as numbers, for tests."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pandas as pd
from scalestudy.analyse.forecast.columns import Place
from scalestudy.analyse.forecast.extrapolate import Measured

DATA = Path(__file__).parent / "data"


def table(name: str = "published") -> pd.DataFrame:
    """Return the rows of a file, with total `throughput` per second and `step_time_s` (nan without a batch)."""
    frame = pd.read_csv(DATA / f"{name}.csv")
    per_gpu = frame["throughput_unit"].str.endswith("/GPU", na=False)
    frame["throughput"] *= frame["gpus"].where(per_gpu, 1)
    frame["step_time_s"] = frame["gpus"] * frame["batch_per_gpu"] / frame["throughput"]
    return frame


@dataclass(frozen=True)
class Question:
    """The two smallest scales of a table inside one tier of a machine, and the next."""

    name: str
    strong: bool
    known: tuple[Measured, Measured]
    next: Measured


def questions() -> list[Question]:
    """Return the forecasts to test: from each table's two smallest scales within a node, or of whole nodes."""
    found = []
    for case, rows in table().groupby("case", sort=False):
        strong = len(rows["batch_per_gpu"].unique()) > 1
        if strong and not case.startswith("strong"):
            continue  # the batch per rank changes although the table is not of strong scaling: nothing to forecast
        plain = rows[~((rows["gpus"] == 1) & (rows["strategy"] == "ddp") & case.startswith("pytorch-ddp"))]
        measured = [_measured(row) for row in plain.sort_values("gpus").itertuples()]
        node = int(plain["gpus_per_node"].iloc[0])
        inside = [point for point in measured if point.place.nodes == 1]
        across = [point for point in measured if point.place.devices_per_node == node]
        for tier, points in (("in a node", inside), ("across nodes", across)):
            if len(points) >= 3:
                found.append(Question(f"{case} {tier}", strong, (points[0], points[1]), points[2]))
    return found


def _measured(row: tuple) -> Measured:
    nodes = max(1, row.gpus // row.gpus_per_node)
    return Measured(Place(nodes, row.gpus // nodes), row.step_time_s)
