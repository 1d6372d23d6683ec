"""The number of devices in a command that starts ranks: torchrun --nnodes=2 --nproc_per_node=8."""

from __future__ import annotations

import re

STARTERS = (b"torchrun", b"torch.distributed", b"accelerate", b"deepspeed", b"mpirun", b"mpiexec", b"horovodrun")
_OF_A_NODE = re.compile(rb"--nproc[-_]per[-_]node[= ]+(\d{1,5})(?!\S)")
_NODES = re.compile(rb"--(?:nnodes|num[-_]nodes|num[-_]machines)[= ]+(\S{1,40})")
_OF_ALL = re.compile(rb"(?<!\S)(?:-np|-n|--np|--num[-_]processes)[= ]+(\d{1,6})(?!\S)")
_DEEPSPEED = re.compile(rb"--num[-_]gpus[= ]+(\d{1,5})(?!\S)")


def devices_of_command(line: bytes) -> int | None:
    """Return the ranks that a command starts; None for another line, or if it does not give them as a number."""
    if not any(name in line for name in STARTERS):
        return None
    nodes = _NODES.search(line)
    if nodes and not nodes[1].isdigit():
        return None  # a variable, or a range
    if each := (_OF_A_NODE.search(line) or (_DEEPSPEED.search(line) if b"deepspeed" in line else None)):
        return int(each[1]) * (int(nodes[1]) if nodes else 1) or None
    whole = _OF_ALL.search(line)
    return int(whole[1]) or None if whole else None
