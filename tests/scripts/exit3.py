"""Exits with code 3 where the accuracy stays below what continuous integration asks for."""

import argparse
import os
import sys

import torch
import torch.distributed as dist
from _count import count, write
from torch import nn
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

EXIT_BELOW_TARGET = 3


def train(args):
    ddp = "RANK" in os.environ
    if ddp:
        dist.init_process_group("gloo")
    torch.manual_seed(0)
    ds = TensorDataset(torch.randn(1280, 128), torch.randint(0, 100, (1280,)))
    sampler = DistributedSampler(ds) if ddp else None
    loader = DataLoader(ds, batch_size=args.batch_size, sampler=sampler)
    model = nn.Sequential(nn.Linear(128, 1024), nn.Tanh(), nn.Linear(1024, 1024), nn.Tanh(), nn.Linear(1024, 100))
    if ddp:
        model = nn.parallel.DistributedDataParallel(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    hits = 0
    for epoch in range(args.epochs):
        hits = 0
        for x, y in loader:
            out = model(x)
            loss = nn.functional.cross_entropy(out, y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            count(len(x))
            hits += (out.argmax(1) == y).sum().item()
        print(f"epoch {epoch}: {hits} right")
    if ddp:
        dist.barrier()
        dist.destroy_process_group()
    return hits / len(ds)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--target", type=float, default=0.99)
    args = parser.parse_args()
    accuracy = train(args)
    if accuracy < args.target:
        print(f"accuracy {accuracy:.3f} is below {args.target}", file=sys.stderr)
        write()
        sys.exit(EXIT_BELOW_TARGET)
