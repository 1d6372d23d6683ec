"""`scalestudy estimate`: what data-parallel training would communicate, from a few numbers and without any run."""

from __future__ import annotations

from dataclasses import dataclass, fields
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING

import click

from scalestudy.cli import options
from scalestudy.cli.naming import find_results
from scalestudy.cli.quantities import bandwidth, count, seconds
from scalestudy.errors import UserError

if TYPE_CHECKING:
    import pandas as pd

LATENCY_S = 20e-6  # of a message, where nobody says


@options.verb(short_help="estimate what a model would communicate, without any run")
@click.option("--params", type=count, help="Parameters, such as 125M or 7B.")
@click.option("--gpus", type=count, required=True, help="Number of ranks.")
@click.option("--bandwidth", type=bandwidth, help="Bandwidth of the slowest link of the ring, such as 10Gbit/s.")
@click.option(
    "--latency", type=seconds, metavar="TIME", help="Latency of a message. Default: as measured, or 20us."
)
@click.option("--dtype", default="fp32", type=click.Choice(["fp32", "bf16", "fp16"]), help="Of what is sent.")
@click.option("--blocks", default="12", help="Units that FSDP wraps.", type=count)
@click.option("--accumulation", default="1", help="Micro-batches per step.", type=count)
@click.option("--optimizer-states", default=2, help="Numbers kept per parameter: 2 for Adam, 0 for SGD.")
@options.path("--results", metavar="FOLDER", help="Take parameters, step time and link from these runs.")
@options.study
@click.option("--workload", metavar="NAME", help="Workload of that study. Default: its only one.")
@click.option("--step-time", type=seconds, metavar="TIME", help="Step time of one process at the batch per rank.")
@click.option("--target", default=0.9, help="Efficiency wanted.")
def command(
    params: float | None,
    gpus: float,
    bandwidth: float | None,
    latency: float | None,
    dtype: str,
    blocks: float,
    accumulation: float,
    optimizer_states: int,
    results: Path | None,
    study: tuple[Path, ...],
    workload: str | None,
    step_time: float | None,
    target: float,
) -> int:
    """Estimate what data-parallel training would communicate and how it would scale, without any run.

    Prints bytes and times of a step's collectives on a link, by algorithm and by strategy. With the step time of
    one process, also the limits between which the step on many ranks lies.
    """
    from scalestudy.analyse.costs.collectives import Link
    from scalestudy.analyse.costs.strategies import Setting
    from scalestudy.cli.inputs import table_of
    from scalestudy.publish.estimate import estimate_view
    from scalestudy.publish.templates import DIRECTORY, render

    known = Known(params, step_time, bandwidth, latency)
    if results or study:
        summary = table_of(find_results(study, results, having="summary"), "summary")
        known = known.completed(known_of(summary, workload))
    if known.parameters is None or known.bandwidth is None:
        name = "--params" if known.parameters is None else "--bandwidth"
        where = "no run of the study has it" if results or study else "or --results of a study that has runs"
        raise UserError(f"{name}: is needed; {where}")
    setting = Setting(
        parameters=known.parameters,
        ranks=int(gpus),
        link=Link(known.latency_s if known.latency_s is not None else LATENCY_S, known.bandwidth),
        dtype=dtype,
        blocks=int(blocks),
        accumulation_steps=int(accumulation),
        optimizer_states=optimizer_states,
    )
    view = estimate_view(setting, step_time_s=known.step_time_s, target=target)
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
    from scalestudy.analyse.costs.collectives import RING
    from scalestudy.analyse.point.rows import ring_latency_s

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
