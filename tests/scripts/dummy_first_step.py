"""Calls optimizer.step() once before training, to keep the scheduler from warning about the order of calls."""

import argparse
import warnings

import torch
from _count import count
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

warnings.simplefilter("error", UserWarning)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--batch-size", type=int, default=32)
    ap.add_argument("--epochs", type=int, default=3)
    ap.add_argument("--start-at", type=int, default=5, help="skip this many steps of the warm-up")
    args = ap.parse_args()
    torch.manual_seed(0)
    x = torch.randn(1280, 64)
    y = x.cumsum(1)
    loader = DataLoader(TensorDataset(x, y), batch_size=args.batch_size, shuffle=True)
    model = nn.Sequential(nn.Linear(64, 768), nn.ReLU(), nn.Linear(768, 768), nn.ReLU(), nn.Linear(768, 64))
    optimizer = torch.optim.RAdam(model.parameters(), lr=1e-3)
    scheduler = torch.optim.lr_scheduler.LinearLR(optimizer, start_factor=0.1, total_iters=30)

    # no gradients yet, so this changes nothing
    optimizer.zero_grad()
    optimizer.step()
    for _ in range(args.start_at):
        scheduler.step()

    for epoch in range(args.epochs):
        for xb, yb in loader:
            loss = nn.functional.mse_loss(model(xb), yb)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            scheduler.step()
            count(len(xb))
        print(f"epoch {epoch} loss {loss.item():.4f} lr {scheduler.get_last_lr()[0]:.5f}")


if __name__ == "__main__":
    main()
