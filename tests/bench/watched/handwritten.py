"""The hand-written loop that our own is compared with (peers/handwritten.py), as a script that runs by itself."""

import sys

import torch
from scalestudy.train.place.placement import Placement

from bench.peers.handwritten import prepare
from bench.task import CASES, make_task

case, steps = CASES[sys.argv[1]], int(sys.argv[2])
torch.set_num_threads(1)
place = Placement(
    rank=0,
    world_size=1,
    node="here",
    local_rank=0,
    local_world_size=1,
    cores=(0,),
    threads=1,
    device=torch.device("cpu"),
    backend="gloo",
    choice="",
)
loop = prepare(make_task(case, place)).run
for _ in range(0, steps, case.steps):
    loop(case.steps)
