# Sharpness-aware minimization, after davda54/sam.
import argparse

import torch
from _count import count
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class SAM(torch.optim.Optimizer):
    def __init__(self, params, base_optimizer, rho=0.05, **kwargs):
        defaults = dict(rho=rho, **kwargs)
        super(SAM, self).__init__(params, defaults)
        self.base_optimizer = base_optimizer(self.param_groups, **kwargs)
        self.param_groups = self.base_optimizer.param_groups
        self.defaults.update(self.base_optimizer.defaults)

    @torch.no_grad()
    def first_step(self, zero_grad=False):
        grad_norm = torch.stack([p.grad.norm(p=2) for g in self.param_groups for p in g["params"]]).norm(p=2)
        for group in self.param_groups:
            scale = group["rho"] / (grad_norm + 1e-12)
            for p in group["params"]:
                self.state[p]["old_p"] = p.data.clone()
                p.add_(p.grad * scale)  # climb to the local maximum "w + e(w)"
        if zero_grad:
            self.zero_grad()

    @torch.no_grad()
    def second_step(self, zero_grad=False):
        for group in self.param_groups:
            for p in group["params"]:
                p.data = self.state[p]["old_p"]  # get back to "w" from "w + e(w)"
        self.base_optimizer.step()  # do the actual "sharpness-aware" update
        if zero_grad:
            self.zero_grad()

    def step(self, closure=None):
        raise NotImplementedError("use first_step and second_step")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--batch-size", default=32, type=int)
    parser.add_argument("--epochs", default=3, type=int)
    parser.add_argument("--rho", default=0.05, type=float)
    args = parser.parse_args()
    torch.manual_seed(0)
    x = torch.randn(1280, 120)
    y = x[:, :6].argmax(1)
    loader = DataLoader(TensorDataset(x, y), batch_size=args.batch_size, shuffle=True)
    model = nn.Sequential(nn.Linear(120, 768), nn.ReLU(), nn.Linear(768, 768), nn.ReLU(), nn.Linear(768, 6))
    optimizer = SAM(model.parameters(), torch.optim.SGD, rho=args.rho, lr=0.1, momentum=0.9)
    for epoch in range(args.epochs):
        for inputs, targets in loader:
            # first forward-backward step
            loss = nn.functional.cross_entropy(model(inputs), targets)
            loss.backward()
            optimizer.first_step(zero_grad=True)
            # second forward-backward step
            nn.functional.cross_entropy(model(inputs), targets).backward()
            optimizer.second_step(zero_grad=True)
            count(len(inputs))
        print(f"epoch {epoch} loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
