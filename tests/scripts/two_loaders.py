"""FixMatch-like semi-supervised training: each step takes a labelled and a larger unlabelled batch."""

import argparse

import torch
import torch.nn.functional as F
from _count import count
from torch import nn
from torch.utils.data import DataLoader, RandomSampler, TensorDataset

parser = argparse.ArgumentParser()
parser.add_argument("--batch-size", default=16, type=int, help="labelled batch size")
parser.add_argument("--mu", default=3, type=int, help="coefficient of unlabelled batch size")
parser.add_argument("--total-steps", default=100, type=int)
parser.add_argument("--threshold", default=0.6, type=float, help="pseudo label threshold")
args = parser.parse_args()
torch.manual_seed(5)

labelled = TensorDataset(torch.randn(80, 200), torch.randint(0, 5, (80,)))
unlabelled = TensorDataset(torch.randn(1000, 200))
labelled_loader = DataLoader(labelled, sampler=RandomSampler(labelled), batch_size=args.batch_size, drop_last=True)
unlabelled_loader = DataLoader(
    unlabelled, sampler=RandomSampler(unlabelled), batch_size=args.batch_size * args.mu, drop_last=True
)
model = nn.Sequential(nn.Linear(200, 768), nn.ReLU(), nn.Linear(768, 768), nn.ReLU(), nn.Linear(768, 5))
optimizer = torch.optim.SGD(model.parameters(), lr=0.03, momentum=0.9, nesterov=True)

labelled_iter, unlabelled_iter = iter(labelled_loader), iter(unlabelled_loader)
for step in range(args.total_steps):
    try:
        inputs_x, targets_x = next(labelled_iter)
    except StopIteration:
        labelled_iter = iter(labelled_loader)
        inputs_x, targets_x = next(labelled_iter)
    try:
        (inputs_u,) = next(unlabelled_iter)
    except StopIteration:
        unlabelled_iter = iter(unlabelled_loader)
        (inputs_u,) = next(unlabelled_iter)
    weak, strong = inputs_u + 0.05 * torch.randn_like(inputs_u), inputs_u + 0.5 * torch.randn_like(inputs_u)
    logits = model(torch.cat((inputs_x, weak, strong)))
    logits_x = logits[: len(inputs_x)]
    logits_w, logits_s = logits[len(inputs_x) :].chunk(2)
    confidence, pseudo = logits_w.detach().softmax(-1).max(-1)
    loss_u = (F.cross_entropy(logits_s, pseudo, reduction="none") * (confidence >= args.threshold)).mean()
    loss = F.cross_entropy(logits_x, targets_x) + loss_u
    loss.backward()
    optimizer.step()
    model.zero_grad()
    count(len(inputs_x) + len(inputs_u))
    if step % 20 == 0:
        print(
            f"step {step}: loss {loss.item():.3f} mask {(confidence >= args.threshold).float().mean().item():.2f}"
        )
