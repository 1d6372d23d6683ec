"""A convolutional network on scikit-learn's digits with Accelerate."""

import argparse

import torch
from accelerate import Accelerator
from accelerate.utils import set_seed
from scalestudy.adapters.accelerate import ScalestudyTracker
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def dataloaders(batch_size):
    digits = load_digits()
    images = torch.tensor(digits.images, dtype=torch.float32).unsqueeze(1) / 16
    labels = torch.tensor(digits.target)
    train_set = TensorDataset(images[:1440], labels[:1440])
    test_set = TensorDataset(images[1440:], labels[1440:])
    return DataLoader(train_set, batch_size=batch_size, shuffle=True), DataLoader(test_set, batch_size=100)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--batch-size", type=int, default=48, help="samples of each process")
    parser.add_argument("--epochs", type=int, default=6)
    parser.add_argument("--lr", type=float, default=2e-3)
    parser.add_argument("--mixed-precision", choices=["no", "bf16"], default="no")
    parser.add_argument("--cpu", action="store_true", help="train on the CPU")
    args = parser.parse_args()

    accelerator = Accelerator(cpu=args.cpu, mixed_precision=args.mixed_precision, log_with=[ScalestudyTracker()])
    accelerator.init_trackers("digits", config=vars(args))
    set_seed(0)
    train_loader, test_loader = dataloaders(args.batch_size)
    model = nn.Sequential(
        *(nn.Conv2d(1, 32, 3, padding=1), nn.ReLU(), nn.Conv2d(32, 32, 3, padding=1), nn.ReLU()),
        *(nn.Flatten(), nn.Linear(32 * 64, 128), nn.ReLU(), nn.Linear(128, 10)),
    )
    optimizer = torch.optim.AdamW(model.parameters(), lr=args.lr)
    model, optimizer, train_loader, test_loader = accelerator.prepare(model, optimizer, train_loader, test_loader)

    for epoch in range(args.epochs):
        model.train()
        total_loss = 0.0
        for images, labels in train_loader:
            loss = nn.functional.cross_entropy(model(images), labels)
            accelerator.backward(loss)
            optimizer.step()
            optimizer.zero_grad()
            total_loss += loss.detach().float()

        model.eval()
        correct = samples = 0
        for images, labels in test_loader:
            with torch.no_grad():
                predicted = model(images).argmax(dim=1)
            predicted, labels = accelerator.gather_for_metrics((predicted, labels))
            correct += (predicted == labels).sum().item()
            samples += len(labels)
        accelerator.print(f"epoch {epoch + 1}: accuracy {correct / samples:.4f}", flush=True)
        accelerator.log(
            {"accuracy": correct / samples, "train_loss": total_loss.item() / len(train_loader)}, step=epoch
        )
    accelerator.end_training()


if __name__ == "__main__":
    main()
