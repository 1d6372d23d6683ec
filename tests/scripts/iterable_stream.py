"""Train from a stream of unknown length. Each rank takes every world_size-th record."""

import argparse
import itertools
import os

import torch
import torch.distributed as dist
from _count import count
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, IterableDataset


class Records(IterableDataset):
    def __init__(self, n, rank, world):
        self.n, self.rank, self.world = n, rank, world

    def parse(self):
        g = torch.Generator().manual_seed(17)
        for _ in range(self.n):
            x = torch.randn(96, generator=g)
            yield {"x": x, "y": x[:3].sum()}

    def __iter__(self):
        return itertools.islice(self.parse(), self.rank, None, self.world)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--batch-size", type=int, default=40)
    ap.add_argument("--epochs", type=int, default=2)
    ap.add_argument("--records", type=int, default=3000)
    a = ap.parse_args()
    rank, world = int(os.getenv("RANK", 0)), int(os.getenv("WORLD_SIZE", 1))
    if world > 1:
        dist.init_process_group("gloo", rank=rank, world_size=world)
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(96, 768), nn.ReLU(), nn.Linear(768, 768), nn.ReLU(), nn.Linear(768, 1))
    if world > 1:
        net = DistributedDataParallel(net)
    opt = torch.optim.Adam(net.parameters(), 1e-3)
    for epoch in range(a.epochs):
        for n, batch in enumerate(DataLoader(Records(a.records, rank, world), batch_size=a.batch_size)):
            loss = nn.functional.mse_loss(net(batch["x"]).squeeze(-1), batch["y"])
            opt.zero_grad()
            loss.backward()
            opt.step()
            count(len(batch["y"]))
            if n % 25 == 0 and rank == 0:
                print(epoch, n, round(loss.item(), 4))
    if world > 1:
        dist.destroy_process_group()


if __name__ == "__main__":
    main()
