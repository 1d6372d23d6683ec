"""DDP with a DistributedSampler and a validation pass after each epoch, after the PyTorch DDP tutorial series."""

import argparse
import os

import torch
import torch.distributed as dist
import torch.nn.functional as F
from _count import count
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, Dataset
from torch.utils.data.distributed import DistributedSampler


class MyTrainDataset(Dataset):
    def __init__(self, size, seed):
        g = torch.Generator().manual_seed(seed)
        self.size = size
        self.data = [
            (torch.rand(256, generator=g), int(torch.randint(10, (1,), generator=g))) for _ in range(size)
        ]

    def __len__(self):
        return self.size

    def __getitem__(self, index):
        return self.data[index]


class Trainer:
    def __init__(self, model, train_data, val_data, optimizer, save_every):
        self.rank = dist.get_rank()
        self.train_data = train_data
        self.val_data = val_data
        self.optimizer = optimizer
        self.save_every = save_every
        self.model = DDP(model)

    def _run_batch(self, source, targets):
        self.optimizer.zero_grad()
        output = self.model(source)
        loss = F.cross_entropy(output, targets)
        loss.backward()
        self.optimizer.step()
        count(len(source))

    def _run_epoch(self, epoch):
        b_sz = len(next(iter(self.train_data))[0])
        print(f"[rank{self.rank}] Epoch {epoch} | Batchsize: {b_sz} | Steps: {len(self.train_data)}")
        self.train_data.sampler.set_epoch(epoch)
        for source, targets in self.train_data:
            self._run_batch(source, targets)

    @torch.no_grad()
    def _validate(self, epoch):
        self.model.eval()
        right = torch.zeros(2)
        for source, targets in self.val_data:
            right += torch.tensor([(self.model(source).argmax(1) == targets).sum().item(), len(targets)])
        dist.all_reduce(right)
        self.model.train()
        if self.rank == 0:
            print(f"Epoch {epoch} | Validation accuracy {right[0] / right[1]:.3f}")

    def train(self, max_epochs):
        for epoch in range(max_epochs):
            self._run_epoch(epoch)
            self._validate(epoch)
            if self.rank == 0 and epoch % self.save_every == 0:
                torch.save(self.model.module.state_dict(), "checkpoint.pt")


def main(args):
    if "RANK" not in os.environ:
        os.environ.update(RANK="0", WORLD_SIZE="1", MASTER_ADDR="127.0.0.1", MASTER_PORT="0")
    dist.init_process_group(backend="gloo")
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(256, 1024), nn.ReLU(), nn.Linear(1024, 1024), nn.ReLU(), nn.Linear(1024, 10))
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-2)
    train, val = MyTrainDataset(1999, 0), MyTrainDataset(400, 1)
    train_data = DataLoader(train, batch_size=args.batch_size, shuffle=False, sampler=DistributedSampler(train))
    val_data = DataLoader(val, batch_size=100, sampler=DistributedSampler(val, shuffle=False))
    Trainer(model, train_data, val_data, optimizer, args.save_every).train(args.epochs)
    dist.destroy_process_group()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="simple distributed training job")
    parser.add_argument("--epochs", type=int, default=3, help="Total epochs to train the model")
    parser.add_argument("--save-every", type=int, default=2, help="How often to save a snapshot")
    parser.add_argument("--batch-size", default=32, type=int, help="Input batch size on each device (default: 32)")
    main(parser.parse_args())
