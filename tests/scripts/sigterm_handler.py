"""Preemptible training: SIGTERM asks for a checkpoint and a clean end after the current step."""

import argparse
import os
import signal

import torch
from _count import count
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Preemption:
    def __init__(self):
        self.requested = False
        signal.signal(signal.SIGTERM, self._on_signal)

    def _on_signal(self, signum, frame):
        print(f"received {signal.Signals(signum).name}, stopping after this step", flush=True)
        self.requested = True


def save(path, model, optimizer, epoch):
    torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "epoch": epoch}, path + ".tmp")
    os.replace(path + ".tmp", path)


def train(args):
    preemption = Preemption()
    torch.manual_seed(0)
    x = torch.randn(1600, 90)
    loader = DataLoader(TensorDataset(x, x.roll(1, dims=1)), batch_size=args.batch_size, shuffle=True)
    model = nn.Sequential(nn.Linear(90, 768), nn.SiLU(), nn.Linear(768, 768), nn.SiLU(), nn.Linear(768, 90))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    done = 0
    for epoch in range(args.epochs):
        for inputs, targets in loader:
            loss = nn.functional.smooth_l1_loss(model(inputs), targets)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            count(len(inputs))
            done += 1
            if done == args.preempt_after:
                os.kill(os.getpid(), signal.SIGTERM)  # what the cluster does at the end of the time limit
            if preemption.requested:
                save("preempted.pt", model, optimizer, epoch)
                return
        save("last.pt", model, optimizer, epoch)
        print(f"epoch {epoch} loss {loss.item():.4f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument(
        "--preempt-after", type=int, default=0, help="send SIGTERM to itself after this many steps"
    )
    train(parser.parse_args())
