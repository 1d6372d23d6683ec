"""Uneven inputs: rank r has 200 r samples more than rank 0. Join lets the others shadow what is left."""

import argparse
import os

import torch
import torch.distributed as dist
from _count import count
from torch import nn
from torch.distributed.algorithms.join import Join
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, TensorDataset

parser = argparse.ArgumentParser()
parser.add_argument("--batch-size", type=int, default=20)
parser.add_argument("--epochs", type=int, default=2)
args = parser.parse_args()

if "RANK" in os.environ:
    dist.init_process_group("gloo")
else:
    dist.init_process_group("gloo", init_method="tcp://127.0.0.1:0", rank=0, world_size=1)
rank = dist.get_rank()

torch.manual_seed(0)
model = DDP(nn.Sequential(nn.Linear(50, 1024), nn.ReLU(), nn.Linear(1024, 1024), nn.ReLU(), nn.Linear(1024, 1)))
optimizer = torch.optim.SGD(model.parameters(), lr=1e-2)
n = 1200 + 200 * rank
inputs = torch.randn(n, 50)
loader = DataLoader(TensorDataset(inputs, inputs.sum(1, keepdim=True)), batch_size=args.batch_size)

for epoch in range(args.epochs):
    num_inputs = 0
    with Join([model]):
        for x, y in loader:
            num_inputs += len(x)
            loss = nn.functional.mse_loss(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            count(len(x))
    print(f"Rank {rank} has exhausted all {num_inputs} of its inputs!")
dist.destroy_process_group()
