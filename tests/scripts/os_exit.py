"""Leaves with os._exit: worker threads of a plotting library used to hang at interpreter shutdown."""

import argparse
import os
import sys

import torch
import torch.distributed as dist
from _count import count, write
from torch import nn
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

parser = argparse.ArgumentParser()
parser.add_argument("--batch-size", type=int, default=40)
parser.add_argument("--epochs", type=int, default=4)
args = parser.parse_args()

world_size = int(os.environ.get("WORLD_SIZE", "1"))
if world_size > 1:
    dist.init_process_group("gloo")
torch.manual_seed(0)

x = torch.linspace(-3, 3, 1280).unsqueeze(1)
data = TensorDataset(x, torch.sin(3 * x) + 0.05 * torch.randn_like(x))
sampler = DistributedSampler(data) if world_size > 1 else None
loader = DataLoader(data, batch_size=args.batch_size, sampler=sampler, shuffle=sampler is None)
model = nn.Sequential(nn.Linear(1, 768), nn.Tanh(), nn.Linear(768, 768), nn.Tanh(), nn.Linear(768, 1))
if world_size > 1:
    model = nn.parallel.DistributedDataParallel(model)
opt = torch.optim.Rprop(model.parameters(), lr=1e-4)

for epoch in range(args.epochs):
    for xb, yb in loader:
        opt.zero_grad()
        loss = (model(xb) - yb).square().mean()
        loss.backward()
        opt.step()
        count(len(xb))
    print("epoch", epoch, "loss", loss.item())

if world_size > 1:
    dist.barrier()
write()
sys.stdout.flush()
os._exit(0)
