"""Published scaling series (data/scaling_series.csv) as questions: what is the step time at a larger size?"""

from __future__ import annotations

import csv
import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from scalestudy.analyse.forecast.columns import Place
from scalestudy.analyse.forecast.extrapolate import Measured

DATA = Path(__file__).parent / "data" / "scaling_series.csv"
LATER = DATA.with_name("scaling_series_later.csv")
"""Series typed after the constants had been set."""
LAST = DATA.with_name("scaling_series_last.csv")
"""Series typed after the growth model "divided" had been added, most of them of strong scaling."""
KNOWN_BEFORE = ("Oneflow-Inc/DLPerf", "NVIDIA/DeepLearningExamples", "mosaicml/llm-foundry")
"""Sources that had set earlier constants, so they are in the setting part."""
FOURTH = DATA.with_name("scaling_series_fourth.csv")
"""Series typed before the method was calibrated on those above."""
FIFTH = DATA.with_name("scaling_series_fifth.csv")
"""Series typed before the discrepancy included the scatter of the overheads."""
SIXTH = DATA.with_name("scaling_series_sixth.csv")
"""Series of training on accelerators, typed after the method had been frozen."""
SEVENTH = DATA.with_name("scaling_series_seventh.csv")
"""Series of training on accelerators, typed after the sixth set had been evaluated."""
EIGHTH = DATA.with_name("scaling_series_eighth.csv")
"""Series of training on accelerators, typed after the seventh set had been evaluated."""
FARTHEST = 4
IN_A_NODE, ACROSS_NODES = "in a node", "across nodes"


@dataclass(frozen=True)
class Question:
    """The smallest sizes of a series, and a larger size with its step time."""

    source: str
    tier: str
    """IN_A_NODE or ACROSS_NODES, by the target."""
    strong: bool
    known: tuple[Measured, ...]
    target: Measured
    sizes: int
    """Number of known sizes of the target's tier."""
    farther: float
    """Target over the largest known size."""


def held_out(source: str) -> bool:
    """Return whether a source is in the part that set no constant (data/scaling_split.md)."""
    return source not in KNOWN_BEFORE and hashlib.sha256(f"scalestudy-26:{source}".encode()).digest()[0] % 2 == 1


def questions(data: Path = DATA) -> Iterator[Question]:
    """Yield every question: known sizes from the two smallest to all but one, each with every larger target."""
    with data.open(encoding="utf-8") as lines:
        for row in csv.DictReader(lines):
            yield from _of_series(row)


def _of_series(row: dict[str, str]) -> Iterator[Question]:
    node, strong = int(row["gpus_per_node"]), row["scaling"] == "strong"
    points = [
        Measured(_place(int(gpus), node), _step_time(row["quantity"], float(value), int(gpus), strong=strong))
        for gpus, value in zip(row["gpus"].split(), row["values"].split(), strict=True)
        if int(gpus) <= node or int(gpus) % node == 0
    ]
    for count in range(2, len(points)):
        for target in points[count:]:
            known = tuple(points[:count])
            inside = target.place.nodes == 1
            alike = [
                one for one in known if (one.place.nodes == 1 if inside else one.place.devices_per_node == node)
            ]
            yield Question(
                row["source"],
                IN_A_NODE if inside else ACROSS_NODES,
                strong,
                known,
                target,
                len(alike),
                target.place.ranks / known[-1].place.ranks,
            )


def _place(gpus: int, node: int) -> Place:
    return Place(1, gpus) if gpus <= node else Place(gpus // node, node)


def _step_time(quantity: str, value: float, gpus: int, *, strong: bool) -> float:
    """The time of a step of one sample per device (weak) or of one sample (strong)."""
    if quantity == "step_time":
        return value
    rate = {"throughput": value, "per_device": value * gpus, "time": 1 / value}[quantity]
    return (1 if strong else gpus) / rate


def efficiencies_in_a_node(data: Path) -> Iterator[tuple[str, str, int, float]]:
    """Yield (source, scaling, devices, efficiency) of sizes in a node, for series that begin with one device."""
    with data.open(encoding="utf-8") as lines:
        for row in csv.DictReader(lines):
            strong = row["scaling"] == "strong"
            devices = [int(gpus) for gpus in row["gpus"].split()]
            times = [
                _step_time(row["quantity"], float(value), gpus, strong=strong)
                for gpus, value in zip(devices, row["values"].split(), strict=True)
            ]
            if devices[0] != 1:
                continue
            for gpus, time in zip(devices[1:], times[1:], strict=True):
                if gpus <= int(row["gpus_per_node"]):
                    yield row["source"], row["scaling"], gpus, times[0] / time / (gpus if strong else 1)
