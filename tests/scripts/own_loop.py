# Full-batch-in-memory style: no Dataset, no DataLoader, index the tensors.
import argparse

import torch
import torch.nn.functional as F
from _count import count

parser = argparse.ArgumentParser()
parser.add_argument("--batch-size", type=int, default=64)
parser.add_argument("--epochs", type=int, default=5)
parser.add_argument("--hidden", type=int, default=768)
args = parser.parse_args()

g = torch.Generator().manual_seed(2147483647)
X = torch.randn((2000, 100), generator=g)
Y = (X[:, 0] * X[:, 1] > 0).long()
n1 = int(0.9 * len(X))
Xtr, Ytr = X[:n1], Y[:n1]
Xval, Yval = X[n1:], Y[n1:]

W1 = torch.randn((100, args.hidden), generator=g) * (5 / 3) / 100**0.5
b1 = torch.zeros(args.hidden)
W2 = torch.randn((args.hidden, args.hidden), generator=g) / args.hidden**0.5
W3 = torch.randn((args.hidden, 2), generator=g) * 0.01
b3 = torch.zeros(2)
parameters = [W1, b1, W2, W3, b3]
for p in parameters:
    p.requires_grad = True
print(sum(p.nelement() for p in parameters), "parameters")
optimizer = torch.optim.Adam(parameters, lr=1e-3)


def forward(x):
    return torch.tanh(torch.tanh(x @ W1 + b1) @ W2) @ W3 + b3


for epoch in range(args.epochs):
    perm = torch.randperm(n1, generator=g)
    for i in range(0, n1, args.batch_size):
        ix = perm[i : i + args.batch_size]
        loss = F.cross_entropy(forward(Xtr[ix]), Ytr[ix])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        count(len(ix))
    with torch.no_grad():
        val = F.cross_entropy(forward(Xval), Yval)
    print(f"{epoch:3d}: train {loss.item():.4f} val {val.item():.4f}")
