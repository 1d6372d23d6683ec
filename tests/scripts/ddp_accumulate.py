"""Gradient accumulation under DDP; gradients are reduced only in the last micro-batch of each update."""

import argparse
import contextlib
import os

import torch
import torch.distributed as dist
from _count import count
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

ap = argparse.ArgumentParser()
ap.add_argument("--batch-size", type=int, default=16)
ap.add_argument("--accum", type=int, default=4)
ap.add_argument("--epochs", type=int, default=4)
args = ap.parse_args()

distributed = int(os.environ.get("WORLD_SIZE", 1)) > 1
if distributed:
    dist.init_process_group("gloo")
rank = dist.get_rank() if distributed else 0

torch.manual_seed(1234)
x = torch.randn(1520, 128)
y = (x[:, :8].sum(1, keepdim=True) > 0).float()
dataset = TensorDataset(x, y)
sampler = DistributedSampler(dataset, seed=3) if distributed else None
loader = DataLoader(dataset, args.batch_size, sampler=sampler, shuffle=sampler is None)

model = nn.Sequential(nn.Linear(128, 768), nn.GELU(), nn.Linear(768, 768), nn.GELU(), nn.Linear(768, 1))
if distributed:
    model = DistributedDataParallel(model)
opt = torch.optim.AdamW(model.parameters(), lr=3e-4)
loss_fn = nn.BCEWithLogitsLoss()

for epoch in range(args.epochs):
    if sampler is not None:
        sampler.set_epoch(epoch)
    running = 0.0
    for i, (xb, yb) in enumerate(loader):
        update = (i + 1) % args.accum == 0 or i + 1 == len(loader)
        ctx = model.no_sync() if distributed and not update else contextlib.nullcontext()
        with ctx:
            loss = loss_fn(model(xb), yb) / args.accum
            loss.backward()
        running += loss.item()
        count(len(xb), steps=int(update))
        if update:
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            opt.step()
            opt.zero_grad(set_to_none=True)
    if rank == 0:
        print(f"epoch {epoch}: loss {args.accum * running / len(loader):.4f}")

if distributed:
    dist.destroy_process_group()
