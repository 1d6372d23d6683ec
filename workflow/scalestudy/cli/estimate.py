"""What data-parallel training would communicate and how it would scale, from a few numbers and without any run.

Bytes and times of a step's collectives on a link, by algorithm and by strategy, and, with the step time of one
process, the limits between which the step on many ranks lies.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass, fields
from math import isnan
from pathlib import Path

import pandas as pd

from scalestudy.analyse.costs.collectives import RING, Link
from scalestudy.analyse.costs.strategies import ELEMENT_BYTES, Setting
from scalestudy.analyse.point.rows import ring_latency_s
from scalestudy.cli.inputs import read_table
from scalestudy.cli.quantities import bandwidth, count, seconds
from scalestudy.errors import UserError
from scalestudy.publish.estimate import estimate_view
from scalestudy.publish.templates import DIRECTORY, render

LATENCY_S = 20e-6  # of a message, where nobody says
HELP = "what a model would communicate on so many devices, without any run"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--params", type=count, help="parameters, such as 125M or 7B")
    parser.add_argument("--gpus", type=count, required=True, help="ranks in all")
    parser.add_argument("--bandwidth", type=bandwidth, help="of the slowest link of the ring, such as 10Gbit/s")
    parser.add_argument("--latency", type=seconds, help="of a message (default: as measured, or 20us)")
    parser.add_argument("--dtype", choices=ELEMENT_BYTES, default="fp32", help="of what is sent (default: fp32)")
    parser.add_argument("--blocks", type=count, default=12, help="units that FSDP wraps (default: 12)")
    parser.add_argument("--accumulation", type=count, default=1, help="micro-batches a step (default: 1)")
    parser.add_argument(
        "--optimizer-states",
        type=int,
        default=2,
        help="numbers kept for a parameter: 2 for Adam (default), 0 for SGD",
    )
    parser.add_argument(
        "--results", type=Path, help="results folder of a study: parameters, step time and link from its runs"
    )
    parser.add_argument("--workload", help="of that study (default: its only one)")
    parser.add_argument("--step-time", type=seconds, help="of one process at the batch that a rank is to have")
    parser.add_argument("--target", type=float, default=0.9, help="efficiency wanted (default: 0.9)")


def run(arguments: argparse.Namespace) -> int:
    known = Known(arguments.params, arguments.step_time, arguments.bandwidth, arguments.latency)
    if arguments.results:
        summary = read_table(arguments.results / "comprehensive_summary.csv")
        known = known.completed(known_of(summary, arguments.workload))
    for name, value in (("--params", known.parameters), ("--bandwidth", known.bandwidth)):
        if value is None:
            where = "no run of the study has it" if arguments.results else "or --results of a study that has runs"
            raise UserError(f"{name}: is needed; {where}")
    setting = Setting(
        parameters=known.parameters,
        ranks=int(arguments.gpus),
        link=Link(known.latency_s if known.latency_s is not None else LATENCY_S, known.bandwidth),
        dtype=arguments.dtype,
        blocks=int(arguments.blocks),
        accumulation_steps=int(arguments.accumulation),
        optimizer_states=arguments.optimizer_states,
    )
    view = estimate_view(setting, step_time_s=known.step_time_s, target=arguments.target)
    print(render(DIRECTORY / "estimate.txt", **view), end="")
    return 0


@dataclass(frozen=True)
class Known:
    """What is given or was measured; None where it is not."""

    parameters: float | None = None
    step_time_s: float | None = None
    bandwidth: float | None = None
    latency_s: float | None = None

    def completed(self, other: Known) -> Known:
        """Ours, and the other's where we have nothing."""
        names = [field.name for field in fields(self)]
        return Known(
            *(getattr(self, name) if getattr(self, name) is not None else getattr(other, name) for name in names)
        )


def known_of(summary: pd.DataFrame, workload: str | None) -> Known:
    """Parameters and step time of a workload's base case, and the link that its largest probed scale measured.

    The all-reduce was measured as a whole: a ring makes 2 (n - 1) / n bytes of every byte, and 2 (n - 1) messages.
    Raises UserError where the workload is not there, or has to be named.
    """
    names = list(dict.fromkeys(summary["workload"]))
    if workload is None and len(names) > 1:
        raise UserError(f"--workload: the study has {', '.join(names)}; name one")
    if workload is not None and workload not in names:
        raise UserError(f"--workload {workload}: the study has {', '.join(names)}")
    mine = summary[summary["workload"] == (workload or names[0])]
    base = mine[mine["is_base"]].iloc[0]
    probed = mine[mine["all_reduce_gib_per_s"].notna()].sort_values("world_size")
    found = Known(_or_none(base["parameters"]), _or_none(base["step_time_s"]))
    if probed.empty:
        return found
    widest = probed.iloc[-1]
    ranks = int(widest["world_size"])
    return found.completed(
        Known(
            bandwidth=widest["all_reduce_gib_per_s"] * 2**30 * RING.volume(ranks),
            latency_s=ring_latency_s(widest),
        )
    )


def _or_none(value: float) -> float | None:
    return None if isnan(value) else float(value)
