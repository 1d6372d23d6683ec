"""A network on scikit-learn's digits with Lightning."""

import argparse
import os

import lightning as L
import torch
from scalestudy.adapters.lightning import ScalestudyCallback
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class LitDigits(L.LightningModule):
    def __init__(self, lr):
        super().__init__()
        self.save_hyperparameters()
        self.net = nn.Sequential(nn.Linear(64, 768), nn.ReLU(), nn.Linear(768, 768), nn.ReLU(), nn.Linear(768, 10))

    def training_step(self, batch, batch_idx):
        images, labels = batch
        loss = nn.functional.cross_entropy(self.net(images), labels)
        self.log("train_loss", loss, on_step=False, on_epoch=True)
        return loss

    def validation_step(self, batch, batch_idx):
        images, labels = batch
        logits = self.net(images)
        accuracy = (logits.argmax(dim=1) == labels).float().mean()
        self.log("val_loss", nn.functional.cross_entropy(logits, labels), sync_dist=True)
        self.log("val_acc", accuracy, sync_dist=True)

    def on_validation_epoch_end(self):
        if self.trainer.is_global_zero and not self.trainer.sanity_checking:
            accuracy = self.trainer.callback_metrics["val_acc"]
            print(f"epoch {self.current_epoch + 1}: accuracy {accuracy:.4f}", flush=True)

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=self.hparams.lr, momentum=0.9)


class Digits(L.LightningDataModule):
    def __init__(self, batch_size):
        super().__init__()
        self.batch_size = batch_size

    def setup(self, stage):
        digits = load_digits()
        images = torch.tensor(digits.data, dtype=torch.float32) / 16
        labels = torch.tensor(digits.target)
        self.train = TensorDataset(images[:1440], labels[:1440])
        self.val = TensorDataset(images[1440:], labels[1440:])

    def train_dataloader(self):
        return DataLoader(self.train, batch_size=self.batch_size, shuffle=True)

    def val_dataloader(self):
        return DataLoader(self.val, batch_size=51)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--batch-size", type=int, default=48, help="samples of each process")
    parser.add_argument("--epochs", type=int, default=6)
    parser.add_argument("--lr", type=float, default=0.05)
    parser.add_argument("--out", default="lightning_logs")
    args = parser.parse_args()

    L.seed_everything(0)
    trainer = L.Trainer(
        max_epochs=args.epochs,
        devices=int(os.environ.get("LOCAL_WORLD_SIZE", 1)),
        num_nodes=int(os.environ.get("GROUP_WORLD_SIZE", 1)),
        default_root_dir=args.out,
        enable_progress_bar=False,
        callbacks=[ScalestudyCallback(accuracy="val_acc")],
    )
    trainer.fit(LitDigits(args.lr), datamodule=Digits(args.batch_size))


if __name__ == "__main__":
    main()
