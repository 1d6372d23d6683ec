import argparse
import os

import lightning as L
import torch
import torch.nn.functional as F
from _count import count
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class LitClassifier(L.LightningModule):
    def __init__(self, hidden=1024, lr=1e-3):
        super().__init__()
        self.save_hyperparameters()
        self.net = nn.Sequential(
            nn.Linear(128, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU(), nn.Linear(hidden, 7)
        )

    def training_step(self, batch, batch_idx):
        x, y = batch
        loss = F.cross_entropy(self.net(x), y)
        self.log("train_loss", loss)
        return loss

    def on_train_batch_end(self, outputs, batch, batch_idx):
        count(len(batch[0]))

    def validation_step(self, batch, batch_idx):
        x, y = batch
        self.log("val_loss", F.cross_entropy(self.net(x), y), sync_dist=True)

    def configure_optimizers(self):
        optimizer = torch.optim.Adam(self.parameters(), lr=self.hparams.lr)
        return [optimizer], [torch.optim.lr_scheduler.StepLR(optimizer, 1, 0.9)]


class RandomData(L.LightningDataModule):
    def __init__(self, batch_size):
        super().__init__()
        self.batch_size = batch_size

    def setup(self, stage=None):
        g = torch.Generator().manual_seed(5)
        x = torch.randn(1200, 128, generator=g)
        y = x[:, :7].argmax(1)
        self.train, self.val = TensorDataset(x[:1000], y[:1000]), TensorDataset(x[1000:], y[1000:])

    def train_dataloader(self):
        return DataLoader(self.train, batch_size=self.batch_size, shuffle=True)

    def val_dataloader(self):
        return DataLoader(self.val, batch_size=self.batch_size)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--epochs", type=int, default=3)
    args = parser.parse_args()
    L.seed_everything(42)
    world = int(os.environ.get("WORLD_SIZE", 1))
    trainer = L.Trainer(
        max_epochs=args.epochs,
        accelerator="cpu",
        devices=world,
        strategy="ddp" if world > 1 else "auto",
        enable_checkpointing=False,
        enable_progress_bar=False,
        logger=False,
        gradient_clip_val=1.0,
    )
    trainer.fit(LitClassifier(), datamodule=RandomData(args.batch_size))
    print(trainer.callback_metrics)
