"""Lion, written out as a torch optimizer of our own."""

import argparse
import os

import torch
import torch.distributed as dist
from _count import count
from torch import nn
from torch.optim import Optimizer
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset


def exists(val):
    return val is not None


def update_fn(p, grad, exp_avg, lr, wd, beta1, beta2):
    p.data.mul_(1.0 - lr * wd)
    update = exp_avg.clone().mul_(beta1).add(grad, alpha=1.0 - beta1).sign_()
    p.add_(update, alpha=-lr)
    exp_avg.mul_(beta2).add_(grad, alpha=1.0 - beta2)


class Lion(Optimizer):
    def __init__(self, params, lr=1e-4, betas=(0.9, 0.99), weight_decay=0.0):
        assert lr > 0.0
        assert all(0.0 <= beta <= 1.0 for beta in betas)
        super().__init__(params, dict(lr=lr, betas=betas, weight_decay=weight_decay))

    @torch.no_grad()
    def step(self, closure=None):
        loss = None
        if exists(closure):
            with torch.enable_grad():
                loss = closure()
        for group in self.param_groups:
            for p in filter(lambda p: exists(p.grad), group["params"]):
                state = self.state[p]
                if len(state) == 0:
                    state["exp_avg"] = torch.zeros_like(p)
                update_fn(p, p.grad, state["exp_avg"], group["lr"], group["weight_decay"], *group["betas"])
        return loss


parser = argparse.ArgumentParser()
parser.add_argument("--batch-size", type=int, default=40)
parser.add_argument("--epochs", type=int, default=5)
args = parser.parse_args()

is_distributed = "TORCHELASTIC_RUN_ID" in os.environ
if is_distributed:
    dist.init_process_group("gloo")
torch.manual_seed(1)
ds = TensorDataset(torch.randn(1280, 80), torch.randint(0, 3, (1280,)))
sampler = DistributedSampler(ds) if is_distributed else None
dl = DataLoader(ds, batch_size=args.batch_size, sampler=sampler, shuffle=not exists(sampler))
net = nn.Sequential(nn.Linear(80, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 3))
if is_distributed:
    net = nn.parallel.DistributedDataParallel(net)
opt = Lion(net.parameters(), lr=1e-4, weight_decay=1e-2)

for epoch in range(args.epochs):
    if exists(sampler):
        sampler.set_epoch(epoch)
    for x, y in dl:
        loss = nn.functional.cross_entropy(net(x), y)
        loss.backward()
        opt.step()
        opt.zero_grad()
        count(x.shape[0])
    print(f"epoch {epoch} loss {loss.item():.3f}")
if is_distributed:
    dist.destroy_process_group()
