# Train/test on tabular data. The number of rows is no multiple of the batch size and drop_last is left False.
import argparse

import torch
from _count import count
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, random_split

parser = argparse.ArgumentParser()
parser.add_argument("--batch-size", type=int, default=64)
parser.add_argument("--epochs", type=int, default=6)
args = parser.parse_args()

torch.manual_seed(2)
X = torch.randn(1281, 40)
y = X[:, 0] * 2 - X[:, 1] ** 2 + 0.1 * torch.randn(1281)
train_set, test_set = random_split(TensorDataset(X, y), [1025, 256], generator=torch.Generator().manual_seed(42))
train_loader = DataLoader(train_set, batch_size=args.batch_size, shuffle=True)
test_loader = DataLoader(test_set, batch_size=256)


class Regressor(nn.Module):
    def __init__(self, n_in, hidden=768, p=0.1):
        super().__init__()
        self.inp = nn.Linear(n_in, hidden)
        self.norm = nn.LayerNorm(hidden)
        self.mid = nn.Linear(hidden, hidden)
        self.drop = nn.Dropout(p)
        self.out = nn.Linear(hidden, 1)

    def forward(self, x):
        h = torch.relu(self.norm(self.inp(x)))
        h = self.drop(torch.relu(self.mid(h)))
        return self.out(h).squeeze(-1)


def evaluate(model, loader):
    model.eval()
    se, n = 0.0, 0
    with torch.inference_mode():
        for xb, yb in loader:
            se += ((model(xb) - yb) ** 2).sum().item()
            n += len(yb)
    model.train()
    return (se / n) ** 0.5


model = Regressor(40)
opt = torch.optim.RMSprop(model.parameters(), lr=1e-4)
sched = torch.optim.lr_scheduler.ReduceLROnPlateau(opt, patience=1)
for epoch in range(args.epochs):
    for xb, yb in train_loader:
        opt.zero_grad()
        loss = nn.functional.mse_loss(model(xb), yb)
        loss.backward()
        opt.step()
        count(len(xb))
    train_rmse = evaluate(model, train_loader)
    test_rmse = evaluate(model, test_loader)
    sched.step(test_rmse)
    print(f"Epoch {epoch + 1}/{args.epochs}  train RMSE {train_rmse:.3f}  test RMSE {test_rmse:.3f}")
