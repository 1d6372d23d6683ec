"""torch.compile on a small residual MLP; aot_eager, since this machine has no compiler."""

import argparse
import time

import torch
from _count import count
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class ResBlock(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.net = nn.Sequential(nn.LayerNorm(dim), nn.Linear(dim, 2 * dim), nn.SiLU(), nn.Linear(2 * dim, dim))

    def forward(self, x):
        return x + self.net(x)


class ResMLP(nn.Module):
    def __init__(self, d_in, dim, depth, d_out):
        super().__init__()
        self.stem = nn.Linear(d_in, dim)
        self.blocks = nn.ModuleList([ResBlock(dim) for _ in range(depth)])
        self.head = nn.Linear(dim, d_out)

    def forward(self, x):
        x = self.stem(x)
        for block in self.blocks:
            x = block(x)
        return self.head(x)


def main(args):
    torch.manual_seed(0)
    x = torch.randn(1600, 32)
    y = (x @ torch.randn(32, 5)).argmax(1)
    loader = DataLoader(TensorDataset(x, y), batch_size=args.batch_size, shuffle=True, drop_last=True)
    model = ResMLP(32, 256, 3, 5)
    opt_model = torch.compile(model, backend=args.backend)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, foreach=True)

    for epoch in range(args.epochs):
        begin = time.time()
        opt_model.train()
        for xb, yb in loader:
            optimizer.zero_grad(set_to_none=True)
            loss = nn.functional.cross_entropy(opt_model(xb), yb)
            loss.backward()
            optimizer.step()
            count(len(xb))
        print(f"epoch {epoch} loss {loss.item():.4f} ({time.time() - begin:.2f} s)")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--backend", default="aot_eager")
    main(parser.parse_args())
