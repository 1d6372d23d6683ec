"""`scalestudy accept`: does the instrument work on this machine? Checked in minutes."""

import os
import sys
from pathlib import Path

import click

from scalestudy.cli import options
from scalestudy.cli.command import Several
from scalestudy.errors import UserError

STAGES = ("1", "2", "3", "4", "5")


@options.verb(short_help="check on this machine that what is measured is right")
@click.option("--devices", type=click.IntRange(min=1), default=2, help="Ranks; each has a device of its own.")
@click.option(
    "--device",
    type=click.Choice(["auto", "cpu", "cuda"]),
    default="auto",
    help="auto: CUDA where a CUDA device is visible, else the CPU.",
)
@click.option(
    "--stages",
    cls=Several,
    more=lambda word: word in STAGES,
    type=click.Choice(STAGES),
    metavar="NUMBER...",
    help="1 identity, 2 clocks, 3 combinations, 4 bandwidth, 5 faults. Default: all.",
)
@click.option("--short", is_flag=True, help="Fewer combinations and faults: under 90 s on two cores.")
@options.path(
    "--out", metavar="FOLDER", help="Where both files and all runs go. Default: results/accept-DEVICE-N."
)
def accept(devices: int, device: str, stages: tuple[str, ...], short: bool, out: Path | None) -> int:
    """Check on this machine that what is measured is right, and write acceptance.json and acceptance.md.

    Stages: identity of devices, clocks on a step of known length, tiny trainings with every pair of options, the
    bandwidth probe against a plain loop, and launches with faults. A stage that fails stops no other.

    The exit status is 0 if nothing is red and 1 otherwise. What this machine cannot prove is listed as unproven,
    and is not red. A CPU proves nothing of CUDA.
    """
    from scalestudy.accept.page import FILE
    from scalestudy.cli.acceptance import PAGE, Acceptance
    from scalestudy.launch.process import Interrupted

    device, shared = choose(device, devices)
    folder = out or Path("results") / f"accept-{device}-{devices}"
    if (folder / FILE).exists():
        raise UserError(
            f"--out {folder}: holds an acceptance already, and nothing is overwritten; move it away, or name"
            " another folder"
        )
    acceptance = Acceptance(device, devices, folder, short=short, shared=shared)
    try:
        found = acceptance.run([int(number) for number in stages or STAGES])
    except Interrupted as stop:
        print("interrupted; the launches that ended are kept, and the same command goes on", file=sys.stderr)
        return 128 + stop.signum
    print(f"{found.word}: {folder / FILE}, {folder / PAGE}")
    return 1 if found.word == "red" else 0


def choose(device: str, devices: int) -> tuple[str, bool]:
    """(`cpu` or `cuda`, whether there is one CUDA device for all). Raises UserError for too many devices."""
    from scalestudy.record.host.nvml import NvmlError, nvml_session, visible_gpus

    gpus = 0
    if device != "cpu":
        try:
            with nvml_session() as _:
                gpus = len(visible_gpus(os.environ))
        except NvmlError:
            gpus = 0
    if device == "auto":
        device = "cuda" if gpus else "cpu"
    if device == "cuda" and devices > gpus:
        raise UserError(f"--devices {devices}: this machine shows {gpus} CUDA devices; {advice(gpus)}")
    if device == "cuda":
        return device, devices == 1
    cores = len(os.sched_getaffinity(0))
    if devices > cores:
        raise UserError(
            f"--devices {devices}: each rank needs a core, and this job may use {cores}; use --devices"
            f" {cores} or less"
        )
    return device, False


def advice(gpus: int) -> str:
    """What to ask for, by the number of CUDA devices."""
    return f"use --devices {gpus} or less" if gpus else "use --device cpu to check the CPU"
