"""`scalestudy accept`: checks in minutes whether scalestudy measures correctly on this machine."""

import os
import sys
from pathlib import Path

import click

from scalestudy.cli import options
from scalestudy.cli.command import Several
from scalestudy.errors import UserError

STAGES = ("1", "2", "3", "4", "5")


@options.verb(short_help="Check that scalestudy measures correctly on this machine.")
@click.option(
    "--devices", type=click.IntRange(min=1), default=2, help="Number of ranks, each with its own device."
)
@click.option(
    "--device",
    type=click.Choice(["auto", "cpu", "cuda"]),
    default="auto",
    help=options.DEVICE,
)
@click.option(
    "--stages",
    cls=Several,
    more=lambda word: word in STAGES,
    type=click.Choice(STAGES),
    metavar="NUMBER...",
    help="Stages to run: 1 identity, 2 clocks, 3 combinations, 4 bandwidth, 5 faults. Default: all.",
)
@click.option("--short", is_flag=True, help="Check fewer combinations and faults, in less than 90 s on two cores.")
@options.path(
    "--out", metavar="FOLDER", help="Folder for both files and all runs. Default: results/accept-DEVICE-N."
)
def accept(devices: int, device: str, stages: tuple[str, ...], short: bool, out: Path | None) -> int:
    """Check that scalestudy measures correctly on this machine. Writes acceptance.json and acceptance.md.

    The stages check the identity of devices, the clocks on a step of known length, tiny trainings with every pair
    of options, the bandwidth probe against a plain loop, and runs with faults. A failed stage does not stop the
    others.

    A check of times that something else on the host disturbs is repeated once. If it is disturbed again, it
    cannot tell. Checks that this machine cannot do are unproven. The exit status is 1 if a check is red, 3 if none
    is red but one cannot tell, else 0. Checks on a CPU prove nothing about CUDA.
    """
    from scalestudy.accept.model import CANNOT_TELL
    from scalestudy.accept.page import FILE
    from scalestudy.cli.acceptance import PAGE, Acceptance
    from scalestudy.launch.process import Interrupted

    device, shared = choose(device, devices)
    folder = out or Path("results") / f"accept-{device}-{devices}"
    if (folder / FILE).exists():
        raise UserError(
            f"--out {folder}: already has an acceptance, which is not overwritten; move it away, or name another"
            " folder"
        )
    acceptance = Acceptance(device, devices, folder, short=short, shared=shared)
    try:
        found = acceptance.run([int(number) for number in stages or STAGES])
    except Interrupted as stop:
        print("interrupted; finished runs are kept, and the same command continues", file=sys.stderr)
        return 128 + stop.signum
    print(f"{found.word}: {folder / FILE}, {folder / PAGE}")
    return {"red": 1, CANNOT_TELL: 3}.get(found.word, 0)


def choose(device: str, devices: int) -> tuple[str, bool]:
    """Return (`cpu` or `cuda`, whether all ranks share one CUDA device). Raises UserError for too many devices."""
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
        raise UserError(f"--devices {devices}: this machine has {gpus} visible CUDA devices; {advice(gpus)}")
    if device == "cuda":
        return device, devices == 1
    cores = len(os.sched_getaffinity(0))
    if devices > cores:
        raise UserError(
            f"--devices {devices}: each rank needs a core, and only {cores} can be used here; use --devices"
            f" {cores} or less"
        )
    return device, False


def advice(gpus: int) -> str:
    """Return what to do instead, by the number of CUDA devices."""
    return f"use --devices {gpus} or less" if gpus else "use --device cpu to check the CPU"
