"""A loop of its own: batches are slices of an array, and gradients are averaged and applied explicitly."""

import argparse
import os

import scalestudy
import torch
import torch.distributed as dist
from sklearn.datasets import load_digits
from torch import nn


def batches(images, labels, size, rank, ranks, seed):
    """Yield the batches of this rank, from an order that is the same on all ranks."""
    order = torch.randperm(len(images), generator=torch.Generator().manual_seed(seed))
    for begin in range(rank * size, len(images) - size + 1, ranks * size):
        chosen = order[begin : begin + size]
        yield images[chosen], labels[chosen]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--batch-size", type=int, default=48, help="samples of each process")
    parser.add_argument("--epochs", type=int, default=6)
    parser.add_argument("--lr", type=float, default=0.2)
    args = parser.parse_args()

    ranks = int(os.environ.get("WORLD_SIZE", 1))
    if ranks > 1:
        dist.init_process_group("gloo")
    rank = dist.get_rank() if ranks > 1 else 0
    digits = load_digits()
    images = torch.tensor(digits.data, dtype=torch.float32) / 16
    labels = torch.tensor(digits.target)

    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(64, 768), nn.ReLU(), nn.Linear(768, 768), nn.ReLU(), nn.Linear(768, 10))
    parameters = list(model.parameters())
    rec = scalestudy.Recorder()
    for epoch in range(args.epochs):
        for inputs, targets in rec.steps(
            batches(images[:1440], labels[:1440], args.batch_size, rank, ranks, epoch)
        ):
            loss = nn.functional.cross_entropy(model(inputs), targets)
            gradients = torch.autograd.grad(loss, parameters)
            with torch.no_grad():
                for parameter, gradient in zip(parameters, gradients, strict=True):
                    if ranks > 1:
                        dist.all_reduce(gradient)
                    parameter -= args.lr * gradient / ranks
        with torch.no_grad():
            accuracy = (model(images[1440:]).argmax(dim=1) == labels[1440:]).float().mean().item()
        rec.epoch(validation_accuracy=accuracy)
        if rank == 0:
            print(f"epoch {epoch + 1}: accuracy {accuracy:.4f}", flush=True)
    if ranks > 1:
        dist.destroy_process_group()


if __name__ == "__main__":
    main()
