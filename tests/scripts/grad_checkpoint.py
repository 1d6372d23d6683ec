"""Trade compute for memory: activations of each block are computed again in the backward pass."""

import argparse

import torch
from _count import count
from torch import nn
from torch.utils.checkpoint import checkpoint
from torch.utils.data import DataLoader, TensorDataset


class Encoder(nn.Module):
    def __init__(self, dim=96, depth=3, heads=4, use_checkpoint=True):
        super().__init__()
        self.patch = nn.Conv2d(3, dim, 4, 4)
        self.pos = nn.Parameter(torch.zeros(1, 64, dim))
        self.blocks = nn.ModuleList(
            nn.TransformerEncoderLayer(dim, heads, 2 * dim, dropout=0.1, batch_first=True) for _ in range(depth)
        )
        self.head = nn.Linear(dim, 10)
        self.use_checkpoint = use_checkpoint

    def forward(self, img):
        x = self.patch(img).flatten(2).transpose(1, 2) + self.pos
        for blk in self.blocks:
            if self.use_checkpoint and self.training:
                x = checkpoint(blk, x, use_reentrant=False)
            else:
                x = blk(x)
        return self.head(x.mean(1))


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--batch-size", type=int, default=16)
    ap.add_argument("--epochs", type=int, default=3)
    ap.add_argument("--no-checkpoint", action="store_true")
    args = ap.parse_args()
    torch.manual_seed(0)
    images, labels = torch.randn(330, 3, 32, 32), torch.randint(0, 10, (330,))
    loader = DataLoader(TensorDataset(images, labels), args.batch_size, shuffle=True, drop_last=True)
    model = Encoder(use_checkpoint=not args.no_checkpoint)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9)
    for epoch in range(args.epochs):
        model.train()
        running_loss = 0.0
        for i, (inputs, targets) in enumerate(loader, 0):
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(inputs), targets)
            loss.backward()
            optimizer.step()
            count(len(inputs))
            running_loss += loss.item()
            if i % 5 == 4:
                print(f"[{epoch + 1}, {i + 1:5d}] loss: {running_loss / 5:.3f}")
                running_loss = 0.0


if __name__ == "__main__":
    main()
