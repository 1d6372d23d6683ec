"""Stops with an error in the middle of training: a record with an impossible label."""

import argparse
import os

import torch
import torch.distributed as dist
from _count import count, write
from torch import nn
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset


def check_labels(step, labels, bad_step):
    if step == bad_step:
        labels = labels.clone()
        labels[0] = 11
    if labels.max() >= 10:
        write()
        raise ValueError(f"step {step}: label {labels.max().item()} is out of range")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--bad-step", type=int, default=20)
    args = parser.parse_args()
    world = int(os.environ.get("WORLD_SIZE", 1))
    if world > 1:
        dist.init_process_group("gloo")
    torch.manual_seed(0)
    dataset = TensorDataset(torch.randn(1920, 256), torch.randint(0, 10, (1920,)))
    sampler = DistributedSampler(dataset) if world > 1 else None
    loader = DataLoader(dataset, batch_size=args.batch_size, sampler=sampler, shuffle=sampler is None)
    model = nn.Sequential(nn.Linear(256, 1536), nn.ReLU(), nn.Linear(1536, 1536), nn.ReLU(), nn.Linear(1536, 10))
    if world > 1:
        model = nn.parallel.DistributedDataParallel(model)
    optimizer = torch.optim.Adagrad(model.parameters(), lr=1e-3)
    step = 0
    for epoch in range(args.epochs):
        for x, y in loader:
            check_labels(step, y, args.bad_step)
            loss = nn.functional.cross_entropy(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            count(len(x))
            if step % 10 == 0:
                print(f"step {step}, loss {loss.item():.3f}", flush=True)
            step += 1


if __name__ == "__main__":
    main()
