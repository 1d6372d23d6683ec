"""Each run gets a folder of its own, named after its overrides, and works in it (as Hydra used to do)."""

import argparse
import csv
import json
import logging
import os
import sys

import torch
from _count import count
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

log = logging.getLogger(__name__)


def run_dir(args):
    name = ",".join(f"{k}={v}" for k, v in sorted(vars(args).items()) if k != "root")
    path = os.path.join(args.root, name)
    os.makedirs(path, exist_ok=True)
    return path


def make_data(n, seed):
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(n, 64, generator=g)
    return TensorDataset(x, (x.abs().sum(1) > 51).float())


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--root", default="outputs")
    p.add_argument("--batch-size", type=int, default=32)
    p.add_argument("--epochs", type=int, default=4)
    p.add_argument("--lr", type=float, default=1e-3)
    p.add_argument("--seed", type=int, default=0)
    args = p.parse_args()
    os.chdir(run_dir(args))
    os.makedirs(".hydra", exist_ok=True)
    with open(".hydra/overrides.json", "w") as f:
        json.dump(sys.argv[1:], f)
    logging.basicConfig(filename="train.log", level=logging.INFO)
    log.info("cwd %s", os.getcwd())

    torch.manual_seed(args.seed)
    loader = DataLoader(make_data(1280, 1), batch_size=args.batch_size, shuffle=True)
    val = DataLoader(make_data(320, 2), batch_size=320)
    net = nn.Sequential(nn.Linear(64, 768), nn.ELU(), nn.Linear(768, 768), nn.ELU(), nn.Linear(768, 1))
    opt = torch.optim.NAdam(net.parameters(), lr=args.lr)
    with open("metrics.csv", "w", newline="") as f:
        out = csv.writer(f)
        out.writerow(["epoch", "train", "val"])
        for epoch in range(args.epochs):
            for x, y in loader:
                loss = nn.functional.binary_cross_entropy_with_logits(net(x)[:, 0], y)
                opt.zero_grad()
                loss.backward()
                opt.step()
                count(len(y))
            with torch.no_grad():
                vl = sum(nn.functional.binary_cross_entropy_with_logits(net(x)[:, 0], y) for x, y in val)
            out.writerow([epoch, f"{loss.item():.4f}", f"{vl.item():.4f}"])
            log.info("epoch %d done", epoch)
    torch.save(net.state_dict(), "last.pt")


if __name__ == "__main__":
    main()
