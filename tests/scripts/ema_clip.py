import argparse
import copy

import torch
import torch.nn as nn
from _count import count
from torch.optim.lr_scheduler import OneCycleLR
from torch.utils.data import DataLoader, TensorDataset


class ModelEMA:
    """Model exponential moving average, timm's way."""

    def __init__(self, model, decay=0.99):
        self.module = copy.deepcopy(model).eval()
        self.decay = decay
        for p in self.module.parameters():
            p.requires_grad_(False)

    @torch.no_grad()
    def update(self, model):
        for e, m in zip(self.module.state_dict().values(), model.state_dict().values()):
            if e.dtype.is_floating_point:
                e.mul_(self.decay).add_(m, alpha=1 - self.decay)
            else:
                e.copy_(m)


@torch.no_grad()
def accuracy(model, loader):
    was_training = model.training
    model.eval()
    hits = sum((model(x).argmax(-1) == y).sum().item() for x, y in loader)
    model.train(was_training)
    return hits / len(loader.dataset)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--batch-size", type=int, default=50)
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--max-norm", type=float, default=1.0)
    args = parser.parse_args()

    torch.manual_seed(3407)
    x = torch.randn(1800, 1, 16, 16)
    y = (x.mean((1, 2, 3)) > 0).long()
    train = DataLoader(TensorDataset(x[:1500], y[:1500]), batch_size=args.batch_size, shuffle=True)
    valid = DataLoader(TensorDataset(x[1500:], y[1500:]), batch_size=100)

    model = nn.Sequential(
        nn.Conv2d(1, 16, 3, padding=1),
        nn.BatchNorm2d(16),
        nn.ReLU(),
        nn.Conv2d(16, 32, 3, stride=2, padding=1),
        nn.BatchNorm2d(32),
        nn.ReLU(),
        nn.Flatten(),
        nn.Linear(2048, 128),
        nn.ReLU(),
        nn.Linear(128, 2),
    )
    ema = ModelEMA(model)
    decay = [p for p in model.parameters() if p.ndim > 1]
    no_decay = [p for p in model.parameters() if p.ndim <= 1]
    optimizer = torch.optim.AdamW(
        [{"params": decay, "weight_decay": 0.05}, {"params": no_decay, "weight_decay": 0.0}]
    )
    scheduler = OneCycleLR(optimizer, max_lr=2e-3, total_steps=args.epochs * len(train))

    for epoch in range(args.epochs):
        for xb, yb in train:
            loss = nn.functional.cross_entropy(model(xb), yb, label_smoothing=0.1)
            loss.backward()
            norm = nn.utils.clip_grad_norm_(model.parameters(), args.max_norm)
            optimizer.step()
            scheduler.step()
            optimizer.zero_grad()
            ema.update(model)
            count(len(xb))
        print(
            f"{epoch}: loss {loss.item():.3f} norm {norm:.2f} acc {accuracy(model, valid):.3f} "
            f"ema {accuracy(ema.module, valid):.3f} lr {scheduler.get_last_lr()[0]:.2e}"
        )


if __name__ == "__main__":
    main()
