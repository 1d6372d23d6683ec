# "What is torch.nn really?" style: update the weights by hand, no torch.optim.
import argparse

import torch
import torch.nn.functional as F
from _count import count
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

parser = argparse.ArgumentParser()
parser.add_argument("--batch-size", type=int, default=32)
parser.add_argument("--epochs", type=int, default=4)
parser.add_argument("--lr", type=float, default=0.1)
args = parser.parse_args()
bs, epochs, lr = args.batch_size, args.epochs, args.lr

torch.manual_seed(0)
x_train, x_valid = torch.rand(1280, 784), torch.rand(256, 784)
y_train, y_valid = torch.randint(10, (1280,)), torch.randint(10, (256,))
train_dl = DataLoader(TensorDataset(x_train, y_train), batch_size=bs, shuffle=True)
valid_dl = DataLoader(TensorDataset(x_valid, y_valid), batch_size=bs * 2)


class Mnist_MLP(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin1 = nn.Linear(784, 768)
        self.lin2 = nn.Linear(768, 10)

    def forward(self, xb):
        return self.lin2(F.relu(self.lin1(xb)))


model = Mnist_MLP()
loss_func = F.cross_entropy


def fit():
    for epoch in range(epochs):
        model.train()
        for xb, yb in train_dl:
            loss = loss_func(model(xb), yb)
            loss.backward()
            with torch.no_grad():
                for p in model.parameters():
                    p -= p.grad * lr
                model.zero_grad()
            count(len(xb))

        model.eval()
        with torch.no_grad():
            valid_loss = sum(loss_func(model(xb), yb) for xb, yb in valid_dl)
        print(epoch, (valid_loss / len(valid_dl)).item())


fit()
