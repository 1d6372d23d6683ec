"""Matrices are trained with Muon, everything else with AdamW: two optimizers, each with a scheduler, in one step."""

import argparse

import torch
from _count import count
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def zeropower_via_newtonschulz5(G, steps=5):
    a, b, c = (3.4445, -4.7750, 2.0315)
    X = G / (G.norm() + 1e-7)
    if G.size(0) > G.size(1):
        X = X.T
    for _ in range(steps):
        A = X @ X.T
        B = b * A + c * A @ A
        X = a * X + B @ X
    return X.T if G.size(0) > G.size(1) else X


class Muon(torch.optim.Optimizer):
    def __init__(self, params, lr=0.02, momentum=0.95):
        super().__init__(params, dict(lr=lr, momentum=momentum))

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            for p in group["params"]:
                buf = self.state[p].setdefault("momentum_buffer", torch.zeros_like(p))
                buf.lerp_(p.grad, 1 - group["momentum"])
                update = zeropower_via_newtonschulz5(p.grad.lerp(buf, group["momentum"]))
                p.add_(update, alpha=-group["lr"] * max(1, p.size(0) / p.size(1)) ** 0.5)


class Net(nn.Module):
    def __init__(self, vocab=300, dim=160):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.hidden = nn.ModuleList([nn.Linear(dim, dim) for _ in range(2)])
        self.head = nn.Linear(dim, vocab)

    def forward(self, ids):
        x = self.embed(ids).mean(1)
        for layer in self.hidden:
            x = x + nn.functional.relu(layer(x)).square()
        return self.head(x)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--batch-size", type=int, default=30)
    parser.add_argument("--epochs", type=int, default=3)
    args = parser.parse_args()
    torch.manual_seed(0)
    ids = torch.randint(0, 300, (1500, 9))
    loader = DataLoader(TensorDataset(ids), batch_size=args.batch_size, shuffle=True)
    model = Net()
    matrices = [p for p in model.hidden.parameters() if p.ndim == 2]
    chosen = {id(p) for p in matrices}
    rest = [p for p in model.parameters() if id(p) not in chosen]
    optimizers = [torch.optim.AdamW(rest, lr=3e-3, betas=(0.8, 0.95), fused=True), Muon(matrices, lr=0.02)]
    total = args.epochs * len(loader)
    schedulers = [torch.optim.lr_scheduler.LambdaLR(o, lambda s: 1 - s / (total + 1)) for o in optimizers]
    for epoch in range(args.epochs):
        for (seq,) in loader:
            loss = nn.functional.cross_entropy(model(seq[:, :-1]), seq[:, -1])
            loss.backward()
            for opt, sched in zip(optimizers, schedulers):
                opt.step()
                sched.step()
            model.zero_grad(set_to_none=True)
            count(len(seq))
        print(f"epoch {epoch} loss {loss.item():.3f}")


if __name__ == "__main__":
    main()
