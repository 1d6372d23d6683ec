import argparse
import os
import time

import numpy as np
import torch
import torch.distributed as dist
from _count import count
from torch import nn
from torch.utils.data import DataLoader, Dataset
from torch.utils.data.distributed import DistributedSampler


class AugmentedPatches(Dataset):
    """Patches cut at random from a big image, with noise; the work is done in the loader's workers."""

    def __init__(self, n, seed=0):
        rng = np.random.default_rng(seed)
        self.image = rng.random((256, 256), dtype=np.float32)
        self.corners = rng.integers(0, 256 - 16, (n, 2))

    def __len__(self):
        return len(self.corners)

    def __getitem__(self, i):
        r, c = self.corners[i]
        patch = self.image[r : r + 16, c : c + 16] + np.random.default_rng(i).normal(0, 0.05, (16, 16))
        if i % 2:
            patch = patch[:, ::-1]
        return torch.from_numpy(np.ascontiguousarray(patch, dtype=np.float32)), int(r // 60)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--batch-size", type=int, default=50)
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--workers", type=int, default=2)
    args = parser.parse_args()
    is_ddp = "LOCAL_RANK" in os.environ
    if is_ddp:
        dist.init_process_group("gloo")
    torch.manual_seed(0)

    ds = AugmentedPatches(2000)
    sampler = DistributedSampler(ds) if is_ddp else None
    loader = DataLoader(
        ds,
        batch_size=args.batch_size,
        sampler=sampler,
        shuffle=None if is_ddp else True,
        num_workers=args.workers,
        persistent_workers=args.workers > 0,
        prefetch_factor=4 if args.workers > 0 else None,
    )
    model = nn.Sequential(
        nn.Flatten(), nn.Linear(256, 1024), nn.ReLU(), nn.Linear(1024, 512), nn.ReLU(), nn.Linear(512, 5)
    )
    if is_ddp:
        model = nn.parallel.DistributedDataParallel(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9, nesterov=True)
    for epoch in range(args.epochs):
        if is_ddp:
            sampler.set_epoch(epoch)
        tic = time.perf_counter()
        for patches, labels in loader:
            optimizer.zero_grad(set_to_none=True)
            loss = nn.functional.cross_entropy(model(patches), labels)
            loss.backward()
            optimizer.step()
            count(patches.shape[0])
        print(f"epoch {epoch}: loss {loss.item():.3f}, {len(loader) / (time.perf_counter() - tic):.0f} it/s")
    if is_ddp:
        dist.destroy_process_group()


if __name__ == "__main__":
    main()
