"""What data-parallel training would communicate and how it would scale, from a few numbers and without any run.

Bytes and times of a step's collectives on a link, by algorithm and by strategy, and, with the step time of one
process, the limits between which the step on many ranks lies.
"""

from __future__ import annotations

import argparse

from scalestudy.analyse.costs.collectives import Link
from scalestudy.analyse.costs.strategies import ELEMENT_BYTES, Setting
from scalestudy.cli.quantities import bandwidth, count, seconds
from scalestudy.publish.estimate import estimate_view
from scalestudy.publish.templates import DIRECTORY, render

HELP = "what a model would communicate on so many devices, without any run"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--params", type=count, required=True, help="parameters, such as 125M or 7B")
    parser.add_argument("--gpus", type=count, required=True, help="ranks in all")
    parser.add_argument(
        "--bandwidth", type=bandwidth, required=True, help="of the slowest link of the ring, such as 10Gbit/s"
    )
    parser.add_argument("--latency", type=seconds, default=20e-6, help="of a message (default: 20us)")
    parser.add_argument("--dtype", choices=ELEMENT_BYTES, default="fp32", help="of what is sent (default: fp32)")
    parser.add_argument("--blocks", type=count, default=12, help="units that FSDP wraps (default: 12)")
    parser.add_argument("--accumulation", type=count, default=1, help="micro-batches a step (default: 1)")
    parser.add_argument(
        "--optimizer-states",
        type=int,
        default=2,
        help="numbers kept for a parameter: 2 for Adam (default), 0 for SGD",
    )
    parser.add_argument("--step-time", type=seconds, help="of one process at the batch that a rank is to have")
    parser.add_argument("--target", type=float, default=0.9, help="efficiency wanted (default: 0.9)")


def run(arguments: argparse.Namespace) -> int:
    setting = Setting(
        parameters=arguments.params,
        ranks=int(arguments.gpus),
        link=Link(arguments.latency, arguments.bandwidth),
        dtype=arguments.dtype,
        blocks=int(arguments.blocks),
        accumulation_steps=int(arguments.accumulation),
        optimizer_states=arguments.optimizer_states,
    )
    view = estimate_view(setting, step_time_s=arguments.step_time, target=arguments.target)
    print(render(DIRECTORY / "estimate.txt", **view), end="")
    return 0
