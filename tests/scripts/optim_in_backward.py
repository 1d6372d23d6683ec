"""Save memory by fusing the optimizer step into the backward pass (one optimizer per parameter)."""

import argparse

import torch
from _count import count
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

parser = argparse.ArgumentParser()
parser.add_argument("--batch-size", type=int, default=32)
parser.add_argument("--epochs", type=int, default=4)
args = parser.parse_args()

torch.manual_seed(0)
model = nn.Sequential(
    nn.Linear(100, 768),
    nn.ReLU(),
    nn.Linear(768, 768),
    nn.ReLU(),
    nn.Linear(768, 768),
    nn.ReLU(),
    nn.Linear(768, 10),
)

# Instead of having just *one* optimizer, we will have a dict of optimizers for every parameter.
optimizer_dict = {p: torch.optim.Adam([p], lr=5e-4, foreach=False) for p in model.parameters()}


def optimizer_hook(parameter) -> None:
    optimizer_dict[parameter].step()
    optimizer_dict[parameter].zero_grad()


for p in model.parameters():
    p.register_post_accumulate_grad_hook(optimizer_hook)

x = torch.randn(1024, 100)
y = torch.randint(10, (1024,))
loader = DataLoader(TensorDataset(x, y), batch_size=args.batch_size, shuffle=True)

for epoch in range(args.epochs):
    total = 0.0
    for xb, yb in loader:
        loss = nn.functional.cross_entropy(model(xb), yb)
        loss.backward()  # no optimizer.step() or zero_grad(), the hooks do it
        total += loss.item() * len(xb)
        count(len(xb))
    print(f"epoch {epoch}: {total / len(x):.4f}")
