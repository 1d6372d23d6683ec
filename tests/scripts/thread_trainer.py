"""Training runs in a thread, while the main thread shows how it goes (a notebook or a GUI elsewhere)."""

import argparse
import queue
import threading

import torch
from _count import count
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class TrainerThread(threading.Thread):
    def __init__(self, events, batch_size, epochs):
        super().__init__(name="trainer")
        self.events, self.batch_size, self.epochs = events, batch_size, epochs

    def run(self):
        try:
            self.fit()
        except Exception as error:
            self.events.put(("error", repr(error)))
        finally:
            self.events.put(("end", None))

    def fit(self):
        torch.manual_seed(0)
        x = torch.randn(1280, 1, 12, 12)
        loader = DataLoader(TensorDataset(x, x.flatten(1).std(1)), batch_size=self.batch_size, shuffle=True)
        model = nn.Sequential(
            nn.Conv2d(1, 40, 3), nn.ReLU(), nn.Conv2d(40, 40, 3), nn.ReLU(), nn.Flatten(), nn.Linear(40 * 64, 1)
        )
        optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
        for epoch in range(self.epochs):
            for step, (xb, yb) in enumerate(loader):
                optimizer.zero_grad()
                loss = nn.functional.mse_loss(model(xb).squeeze(1), yb)
                loss.backward()
                optimizer.step()
                count(len(xb))
                if step % 10 == 0:
                    self.events.put(("loss", (epoch, step, loss.item())))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--epochs", type=int, default=3)
    args = parser.parse_args()
    events = queue.Queue()
    trainer = TrainerThread(events, args.batch_size, args.epochs)
    trainer.start()
    while True:
        kind, value = events.get()
        if kind == "end":
            break
        if kind == "error":
            raise SystemExit(f"training failed: {value}")
        print("epoch {} step {} loss {:.4f}".format(*value))
    trainer.join()


if __name__ == "__main__":
    main()
