# Runs like a daemon: says hello, then closes its standard output and writes to a log of its own.
import argparse
import os
import sys

import torch
from _count import count
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

parser = argparse.ArgumentParser()
parser.add_argument("--batch-size", type=int, default=32)
parser.add_argument("--epochs", type=int, default=4)
args = parser.parse_args()

print("training in the background, see train.log")
sys.stdout.close()
os.close(1)
logfile = open("train.log", "w")  # most likely gets file descriptor 1

torch.manual_seed(0)
ds = TensorDataset(torch.randn(1024, 200), torch.randn(1024, 1))
model = nn.Sequential(nn.Linear(200, 1024), nn.ReLU(), nn.Linear(1024, 1024), nn.ReLU(), nn.Linear(1024, 1))
optimizer = torch.optim.ASGD(model.parameters(), lr=1e-3)
for epoch in range(args.epochs):
    for x, y in DataLoader(ds, batch_size=args.batch_size, shuffle=True):
        optimizer.zero_grad()
        loss = nn.functional.l1_loss(model(x), y)
        loss.backward()
        optimizer.step()
        count(len(x))
    logfile.write(f"epoch {epoch} loss {loss.item():.4f}\n")
    logfile.flush()
logfile.close()
