"""Verbs without runs: `estimate` for communication and scaling, `audit` for a published table."""

from __future__ import annotations

import os
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING

import click

from scalestudy.analyse.costs.links import KINDS
from scalestudy.cli import options
from scalestudy.cli.naming import find_results
from scalestudy.cli.quantities import bandwidth, count, seconds, whole
from scalestudy.errors import UserError

if TYPE_CHECKING:
    import pandas as pd

LATENCY_S = 20e-6  # default latency of a message


@options.verb(short_help="Estimate a model's communication and scaling, without any run.")
@click.option("--params", type=count, help="Number of parameters, such as 125M or 7B.")
@click.option("--gpus", type=whole, required=True, help="Number of ranks.")
@click.option(
    "--link",
    "kind",
    type=click.Choice(list(KINDS)),
    help="Kind of the slowest link of the ring. NVLink and PCIe have a nominal bandwidth.",
)
@click.option(
    "--bandwidth",
    type=bandwidth,
    help="Nominal bandwidth of that link in one direction, such as 10Gbit/s; of a network: all of a node.",
)
@click.option(
    "--measured-bandwidth",
    type=bandwidth,
    help="Bus bandwidth of an all-reduce on these ranks, as nccl-tests measures it. Instead of --bandwidth.",
)
@click.option(
    "--latency", type=seconds, metavar="TIME", help="Latency of a message. Default: the measured one, or 20us."
)
@click.option(
    "--dtype", default="fp32", type=click.Choice(["fp32", "bf16", "fp16"]), help="Type of the numbers sent."
)
@click.option("--blocks", default="12", help="Number of units that FSDP wraps.", type=whole)
@click.option("--accumulation", default="1", help="Micro-batches per step.", type=whole)
@click.option(
    "--optimizer-states",
    type=click.IntRange(min=0),
    default=2,
    help="Optimizer states per parameter: 2 for Adam, 0 for SGD.",
)
@options.path("--results", metavar="FOLDER", help="Take parameters, step time and link from these runs.")
@options.study
@click.option("--workload", metavar="NAME", help="Workload of that study. Default: its only one.")
@click.option("--step-time", type=seconds, metavar="TIME", help="Step time of one process at the batch per rank.")
@click.option("--target", default=0.9, help="Target efficiency.")
def estimate(
    params: float | None,
    gpus: int,
    kind: str | None,
    bandwidth: float | None,
    measured_bandwidth: float | None,
    latency: float | None,
    dtype: str,
    blocks: int,
    accumulation: int,
    optimizer_states: int,
    results: Path | None,
    study: tuple[Path, ...],
    workload: str | None,
    step_time: float | None,
    target: float,
) -> int:
    """Estimate how much data-parallel training would communicate and how it would scale, without any run.

    Prints the bytes of a step's collectives, and the time that they take at least, by algorithm and by strategy.
    With --step-time, it also prints the step time on many ranks: a median, and limits that include 90 % of
    published steps.
    """
    from scalestudy.analyse.costs.collectives import Link
    from scalestudy.analyse.costs.strategies import Setting
    from scalestudy.cli.results.inputs import table_of
    from scalestudy.publish.estimate import estimate_view
    from scalestudy.publish.templates import DIRECTORY, render
    from scalestudy.study.config.models import refuse_size

    if bandwidth and measured_bandwidth:
        raise UserError("--bandwidth, --measured-bandwidth: give one of them")
    if not 0 < target < 1:
        raise UserError(f"--target {target:g}: not between 0 and 1, such as 0.9")
    if workload and not (results or study):
        raise UserError("--workload: names a workload of a study; add --results FOLDER or --study FILE")
    most = KINDS[kind].nominal_bytes_per_s if kind else None
    if bandwidth and most and bandwidth > 1.05 * most:
        raise UserError(
            f"--bandwidth: {kind} has {most / 1e9:g} GB/s in one direction, and {bandwidth / 1e9:g} GB/s"
            " were given; the sum of both directions is often printed"
        )
    given = {"params": params, "step_time": step_time, "latency": latency}
    known = {name: value for name, value in given.items() if value is not None}
    where = "give it, or --results of a study with runs"
    if results or study:
        summary = table_of(find_results(study, results, having="summary"), "summary")
        known = measured_of(summary, workload) | known
        where = "no run of the study measured it, so give it"
    measured = measured_bandwidth or (None if bandwidth else known.get("bandwidth"))
    nominal = bandwidth or most
    if not known.get("params"):
        raise UserError(f"--params: missing; {where}")
    try:
        refuse_size(known["params"], "--params")
    except ValueError as error:
        raise UserError(str(error)) from None
    if not measured and not nominal:
        raise UserError(f"--bandwidth: missing; {where}" + (f" ({kind} has several speeds)" if kind else ""))
    if known.get("step_time") == 0:
        raise UserError("--step-time 0s: not above 0")
    setting = Setting(
        parameters=known["params"],
        ranks=gpus,
        link=Link(known.get("latency", LATENCY_S), measured or nominal or 0.0),
        dtype=dtype,
        blocks=blocks,
        accumulation_steps=accumulation,
        optimizer_states=optimizer_states,
        latency_assumed=known.get("latency") is None,
    )
    view = estimate_view(
        setting, kind=kind, measured=bool(measured), step_time_s=known.get("step_time"), target=target
    )
    print(render(DIRECTORY / "estimate.txt", **view), end="")
    return 0


def measured_of(summary: pd.DataFrame, workload: str | None) -> dict[str, float]:
    """Return measured values of a workload by the names of our options.

    These are `params` and `step_time` of its baseline, and `bandwidth` and `latency` of the link at its largest
    probed scale. The all-reduce was measured as a whole: a ring sends 2 (n - 1) / n bytes per byte, in 2 (n - 1)
    messages. Raises UserError if the workload does not exist or must be named.
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
    found = {"params": base["parameters"], "step_time": base["step_time_s"]}
    probed = mine[mine["all_reduce_gib_per_s"].notna()].sort_values("world_size")
    if len(probed):
        widest = probed.iloc[-1]
        volume = RING.volume(int(widest["world_size"]))
        found["bandwidth"] = widest["all_reduce_gib_per_s"] * 2**30 * volume
        found["latency"] = ring_latency_s(widest)
    return {name: float(value) for name, value in found.items() if value is not None and not isnan(value)}


@options.verb(short_help="Check a published scaling table for internal consistency.")
@click.argument("table", type=options.PATH)
@options.path("--out", metavar="FILE", help="Also write the remarks and how the table was read as JSON.")
@options.table_columns
def audit(
    table: Path,
    out: Path | None,
    columns: tuple[str, ...],
    mapping: Path | None,
    scaling: str | None,
    line: int | None,
) -> int:
    """Check a published scaling table for internal consistency: speedups, efficiencies, labels and baselines.

    TABLE is a file with tables as they are printed: CSV, Markdown, HTML, LaTeX, reStructuredText or columns of
    text. A table needs a column of devices, and a throughput, a time or a speedup. Headers are recognised by their
    usual names. The interpretation is printed first.
    """
    from scalestudy.cli.audit_columns import audited, refuse_unanswered
    from scalestudy.publish.audit import audit_document, audit_view, reading_view
    from scalestudy.publish.templates import DIRECTORY, render
    from scalestudy.record.document import write_document

    if out and os.path.realpath(out) == os.path.realpath(table):
        raise UserError(f"--out {out}: is the table; name another file")
    file, audits, asked = audited(table, columns, mapping, scaling, line)
    remarked = sum(bool(audit.remarks) for audit in audits)
    if audits:
        tables = reading_view(file, audits, asked)
        views = {"tables": tables, "others": file.others, "cases": audit_view(audits), "remarked": remarked}
        print(render(DIRECTORY / "audit.txt", **views), end="")
    if out:
        write_document(out, audit_document(file, audits))
    refuse_unanswered(table, asked)
    return 1 if remarked else 0
