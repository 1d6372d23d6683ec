"""The complete_nlp_example of Accelerate, with a bag of random tokens."""

import argparse

import torch
from _count import count
from accelerate import Accelerator
from accelerate.utils import set_seed
from torch import nn
from torch.optim.lr_scheduler import LambdaLR
from torch.utils.data import DataLoader, TensorDataset


class BagOfTokens(nn.Module):
    def __init__(self, vocab=1000, dim=256, classes=4):
        super().__init__()
        self.emb = nn.EmbeddingBag(vocab, dim)
        self.mlp = nn.Sequential(
            nn.Linear(dim, 1024), nn.GELU(), nn.Linear(1024, 512), nn.GELU(), nn.Linear(512, classes)
        )

    def forward(self, ids):
        return self.mlp(self.emb(ids))


def training_function(args):
    accelerator = Accelerator(cpu=True, gradient_accumulation_steps=args.gradient_accumulation_steps)
    set_seed(args.seed)
    ids = torch.randint(0, 1000, (1200, 20))
    labels = (ids[:, 0] + ids[:, 1]) % 4
    train_dataloader = DataLoader(
        TensorDataset(ids[:1000], labels[:1000]), shuffle=True, batch_size=args.batch_size
    )
    eval_dataloader = DataLoader(TensorDataset(ids[1000:], labels[1000:]), shuffle=False, batch_size=64)
    model = BagOfTokens()
    optimizer = torch.optim.AdamW(model.parameters(), lr=args.lr)
    scheduler = LambdaLR(optimizer, lambda s: min(1.0, (s + 1) / 20))

    model, optimizer, train_dataloader, eval_dataloader, scheduler = accelerator.prepare(
        model, optimizer, train_dataloader, eval_dataloader, scheduler
    )
    for epoch in range(args.epochs):
        model.train()
        for batch_ids, batch_labels in train_dataloader:
            with accelerator.accumulate(model):
                loss = nn.functional.cross_entropy(model(batch_ids), batch_labels)
                accelerator.backward(loss)
                if accelerator.sync_gradients:
                    accelerator.clip_grad_norm_(model.parameters(), 1.0)
                optimizer.step()
                scheduler.step()
                optimizer.zero_grad()
                count(len(batch_ids), steps=int(accelerator.sync_gradients))

        model.eval()
        correct = total = 0
        for batch_ids, batch_labels in eval_dataloader:
            with torch.no_grad():
                predictions = model(batch_ids).argmax(dim=-1)
            predictions, references = accelerator.gather_for_metrics((predictions, batch_labels))
            correct += (predictions == references).sum().item()
            total += len(references)
        accelerator.print(f"epoch {epoch}: {correct}/{total}")
    accelerator.end_training()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Simple example of training script.")
    parser.add_argument("--batch-size", type=int, default=16)
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--lr", type=float, default=1e-3)
    parser.add_argument("--seed", type=int, default=42)
    parser.add_argument("--gradient-accumulation-steps", type=int, default=2)
    training_function(parser.parse_args())
