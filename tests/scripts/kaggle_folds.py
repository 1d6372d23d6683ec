# === Config ===
import argparse
import random

import numpy as np
import torch
import torch.nn as nn
from _count import count
from torch.utils.data import DataLoader, Dataset


class CFG:
    n_folds = 4
    epochs = 2
    train_bs = 64
    valid_bs = 128
    lr = 1e-3
    hidden = 512
    seed = 42


def seed_everything(seed):
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)


# === Dataset ===
class MoADataset(Dataset):
    def __init__(self, features, targets):
        self.features = features
        self.targets = targets

    def __len__(self):
        return self.features.shape[0]

    def __getitem__(self, idx):
        return {
            "x": torch.tensor(self.features[idx, :], dtype=torch.float),
            "y": torch.tensor(self.targets[idx, :], dtype=torch.float),
        }


class Model(nn.Module):
    def __init__(self, num_features, num_targets, hidden_size):
        super(Model, self).__init__()
        self.batch_norm1 = nn.BatchNorm1d(num_features)
        self.dense1 = nn.utils.parametrizations.weight_norm(nn.Linear(num_features, hidden_size))
        self.batch_norm2 = nn.BatchNorm1d(hidden_size)
        self.dense2 = nn.Linear(hidden_size, hidden_size)
        self.dense3 = nn.Linear(hidden_size, num_targets)

    def forward(self, x):
        x = nn.functional.relu(self.dense1(self.batch_norm1(x)))
        x = nn.functional.relu(self.dense2(self.batch_norm2(x)))
        return self.dense3(x)


def train_fn(model, optimizer, scheduler, loss_fn, dataloader):
    model.train()
    final_loss = 0
    for data in dataloader:
        optimizer.zero_grad()
        loss = loss_fn(model(data["x"]), data["y"])
        loss.backward()
        optimizer.step()
        scheduler.step()
        final_loss += loss.item()
        count(len(data["x"]))
    return final_loss / len(dataloader)


def valid_fn(model, loss_fn, dataloader):
    model.eval()
    preds = []
    for data in dataloader:
        with torch.no_grad():
            preds.append(model(data["x"]).sigmoid().numpy())
    return np.concatenate(preds)


# === Train all folds ===
if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--batch-size", type=int, default=CFG.train_bs)
    parser.add_argument("--epochs", type=int, default=CFG.epochs)
    args = parser.parse_args()
    seed_everything(CFG.seed)
    X = np.random.randn(1200, 100)
    Y = (X[:, :20] + 0.5 * np.random.randn(1200, 20) > 1).astype(float)
    folds = np.random.permutation(1200) % CFG.n_folds
    oof = np.zeros_like(Y)
    for fold in range(CFG.n_folds):
        trn, val = np.where(folds != fold)[0], np.where(folds == fold)[0]
        trainloader = DataLoader(MoADataset(X[trn], Y[trn]), batch_size=args.batch_size, shuffle=True)
        validloader = DataLoader(MoADataset(X[val], Y[val]), batch_size=CFG.valid_bs, shuffle=False)
        model = Model(X.shape[1], Y.shape[1], CFG.hidden)
        optimizer = torch.optim.Adam(model.parameters(), lr=CFG.lr, weight_decay=1e-5)
        scheduler = torch.optim.lr_scheduler.OneCycleLR(
            optimizer, max_lr=1e-2, epochs=args.epochs, steps_per_epoch=len(trainloader)
        )
        for epoch in range(args.epochs):
            loss = train_fn(model, optimizer, scheduler, nn.BCEWithLogitsLoss(), trainloader)
            print(f"FOLD: {fold}, EPOCH: {epoch}, train_loss: {loss:.4f}")
        oof[val] = valid_fn(model, nn.BCEWithLogitsLoss(), validloader)
        torch.save(model.state_dict(), f"FOLD{fold}_.pth")
    print("CV log loss:", -(Y * np.log(oof) + (1 - Y) * np.log(1 - oof)).mean())
