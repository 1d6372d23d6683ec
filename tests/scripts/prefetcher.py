"""Loop until max_steps with a prefetcher that is one batch ahead of the training."""

import argparse
import threading
import queue

import torch
from _count import count
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class DataPrefetcher:
    """A thread that keeps the next batch ready; ends with None."""

    def __init__(self, loader, depth=1):
        self.q = queue.Queue(depth)
        self.stop = threading.Event()
        self.thread = threading.Thread(target=self._fill, args=(loader,), daemon=True)
        self.thread.start()

    def _put(self, item):
        while not self.stop.is_set():
            try:
                self.q.put(item, timeout=0.05)
                return
            except queue.Full:
                pass

    def _fill(self, loader):
        for batch in loader:
            if self.stop.is_set():
                return
            x, y = batch
            self._put((x.float().div_(255).sub_(0.5), y))
        self._put(None)

    def next(self):
        return self.q.get()

    def close(self):
        self.stop.set()
        self.thread.join()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--batch-size", type=int, default=40)
    parser.add_argument("--max-steps", type=int, default=130)
    args = parser.parse_args()
    torch.manual_seed(0)
    data = TensorDataset(
        torch.randint(0, 256, (2000, 3, 16, 16), dtype=torch.uint8), torch.randint(0, 10, (2000,))
    )
    loader = DataLoader(data, batch_size=args.batch_size, shuffle=True)
    model = nn.Sequential(
        nn.Flatten(), nn.Linear(768, 768), nn.ReLU(), nn.Linear(768, 768), nn.ReLU(), nn.Linear(768, 10)
    )
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)

    global_step = 0
    while global_step < args.max_steps:
        prefetcher = DataPrefetcher(loader)
        batch = prefetcher.next()
        while batch is not None:
            x, y = batch
            loss = nn.functional.cross_entropy(model(x), y)
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()
            count(len(x))
            global_step += 1
            if global_step % 25 == 0:
                print(f"step {global_step}/{args.max_steps} loss {loss.item():.3f}")
            if global_step >= args.max_steps:
                break
            batch = prefetcher.next()
        prefetcher.close()
