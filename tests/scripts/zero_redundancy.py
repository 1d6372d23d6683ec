"""ZeroRedundancyOptimizer recipe: the optimizer's state is divided among the ranks."""

import argparse
import os

import torch
import torch.distributed as dist
import torch.nn as nn
from _count import count
from torch.distributed.optim import ZeroRedundancyOptimizer
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--batch-size", type=int, default=40)
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--no-zero", action="store_true")
    args = parser.parse_args()
    if "RANK" in os.environ:
        dist.init_process_group("gloo")
    else:
        dist.init_process_group("gloo", init_method="tcp://127.0.0.1:0", rank=0, world_size=1)
    torch.manual_seed(0)
    data = TensorDataset(torch.randn(1600, 64), torch.randn(1600, 64))
    sampler = DistributedSampler(data, shuffle=True)
    loader = DataLoader(data, batch_size=args.batch_size, sampler=sampler)
    ddp_model = DDP(
        nn.Sequential(*[nn.Linear(64, 1024), nn.ReLU(), nn.Linear(1024, 1024), nn.ReLU(), nn.Linear(1024, 64)])
    )
    loss_fn = nn.MSELoss()
    if args.no_zero:
        optimizer = torch.optim.Adam(ddp_model.parameters(), lr=0.01)
    else:
        optimizer = ZeroRedundancyOptimizer(ddp_model.parameters(), optimizer_class=torch.optim.Adam, lr=0.01)
    for epoch in range(args.epochs):
        sampler.set_epoch(epoch)
        for inputs, labels in loader:
            optimizer.zero_grad()
            loss_fn(ddp_model(inputs), labels).backward()
            optimizer.step()
            count(len(inputs))
    print(f"params sum is: {sum(p.sum() for p in ddp_model.parameters()).item():.4f}")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
