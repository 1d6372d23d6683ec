"""Mixed precision on CPU with a gradient scaler. A corrupt batch turns up now and then; the scaler skips its update."""

import argparse
import os

import torch
import torch.distributed as dist
from _count import count
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler


def build(width):
    return nn.Sequential(nn.Linear(64, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 4))


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--batch-size", type=int, default=32)
    p.add_argument("--epochs", type=int, default=4)
    p.add_argument("--bad-every", type=int, default=10)
    args = p.parse_args()

    ddp = "WORLD_SIZE" in os.environ
    if ddp:
        dist.init_process_group("gloo")
    torch.manual_seed(7)
    x = torch.randn(1200, 64)
    y = x[:, :4].argmax(1)
    data = TensorDataset(x, y)
    sampler = DistributedSampler(data, shuffle=True) if ddp else None
    loader = DataLoader(data, batch_size=args.batch_size, shuffle=not ddp, sampler=sampler, drop_last=True)
    model = build(1280)
    if ddp:
        model = DDP(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    scaler = torch.amp.GradScaler("cpu", init_scale=1024.0)
    criterion = nn.CrossEntropyLoss()

    it = 0
    skipped = 0
    for epoch in range(args.epochs):
        if sampler:
            sampler.set_epoch(epoch)
        for inputs, labels in loader:
            if it % args.bad_every == args.bad_every - 3:
                inputs = inputs * float("inf")  # what the sensor sends when it saturates
            optimizer.zero_grad()
            with torch.autocast("cpu", dtype=torch.bfloat16):
                outputs = model(inputs)
                loss = criterion(outputs, labels)
            scaler.scale(loss).backward()
            scaler.unscale_(optimizer)
            torch.nn.utils.clip_grad_norm_(model.parameters(), 5.0)
            scale = scaler.get_scale()
            scaler.step(optimizer)
            scaler.update()
            skipped += scaler.get_scale() < scale
            count(len(inputs))
            it += 1
        print(f"epoch {epoch} loss {loss.item():.4f} scale {scaler.get_scale():g} skipped {skipped}")
    if ddp:
        dist.destroy_process_group()


if __name__ == "__main__":
    main()
