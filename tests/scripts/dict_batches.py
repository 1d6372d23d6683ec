"""Short texts with labels. A batch is a dict: file names, class weights, nested metadata, padded tokens."""

import argparse
import random

import torch
from _count import count
from torch import nn
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader, Dataset

LANGS = ["en", "de", "fr"]
CLASS_WEIGHTS = torch.tensor([1.0, 0.5, 2.0, 1.0, 1.5])


class Texts(Dataset):
    def __init__(self, n, seed):
        rng = random.Random(seed)
        self.items = []
        for i in range(n):
            tokens = [rng.randrange(1, 500) for _ in range(rng.randint(5, 30))]
            item = {
                "name": f"doc_{i:05d}.txt",
                "tokens": tokens,
                "label": sum(tokens) % 5,
                "lang": rng.choice(LANGS),
            }
            self.items.append(item)

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        return self.items[i]


def collate(items):
    return {
        "names": [it["name"] for it in items],
        "class_weights": CLASS_WEIGHTS,
        "pad_id": 0,
        "meta": {
            "lang": [it["lang"] for it in items],
            "lengths": torch.tensor([len(it["tokens"]) for it in items]),
        },
        "tokens": pad_sequence([torch.tensor(it["tokens"]) for it in items]),  # time first
        "labels": torch.tensor([it["label"] for it in items]),
    }


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(500, 64, padding_idx=0)
        self.rnn = nn.GRU(64, 128)
        self.fc = nn.Linear(128, 5)

    def forward(self, batch):
        out, _ = self.rnn(self.emb(batch["tokens"]))
        last = out[batch["meta"]["lengths"] - 1, torch.arange(out.shape[1])]
        return self.fc(last)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--batch-size", type=int, default=48)
    parser.add_argument("--epochs", type=int, default=4)
    args = parser.parse_args()
    torch.manual_seed(0)
    train_loader = DataLoader(Texts(1000, 0), batch_size=args.batch_size, shuffle=True, collate_fn=collate)
    dev_loader = DataLoader(Texts(200, 1), batch_size=args.batch_size, collate_fn=collate)
    model = Classifier()
    optimizer = torch.optim.Adamax(model.parameters(), lr=2e-3)
    for epoch in range(1, args.epochs + 1):
        model.train()
        for batch in train_loader:
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(batch), batch["labels"], weight=batch["class_weights"])
            loss.backward()
            optimizer.step()
            count(len(batch["names"]))
        model.eval()
        wrong = []
        with torch.no_grad():
            for batch in dev_loader:
                miss = model(batch).argmax(1) != batch["labels"]
                wrong += [n for n, m in zip(batch["names"], miss.tolist()) if m]
        print(f"epoch {epoch}: loss {loss.item():.3f}, {len(wrong)} wrong, e.g. {wrong[:3]}")


if __name__ == "__main__":
    main()
