import argparse
import os
import shutil
import time

import torch
import torch.distributed as dist
import torch.nn as nn
import torch.utils.data.distributed
from _count import count
from torch.utils.data import Subset, TensorDataset

parser = argparse.ArgumentParser(description="PyTorch ImageNet Training")
parser.add_argument("--epochs", default=3, type=int, metavar="N")
parser.add_argument(
    "--start-epoch", default=0, type=int, metavar="N", help="manual epoch number (useful on restarts)"
)
parser.add_argument(
    "-b", "--batch-size", default=32, type=int, metavar="N", help="mini-batch size of each process"
)
parser.add_argument("--lr", "--learning-rate", default=0.1, type=float, dest="lr")
parser.add_argument("-p", "--print-freq", default=10, type=int)
parser.add_argument("--resume", default="", type=str, metavar="PATH")
parser.add_argument("-e", "--evaluate", action="store_true", help="evaluate model on validation set")
best_acc1 = 0


def conv_bn(i, o, s):
    return nn.Sequential(nn.Conv2d(i, o, 3, s, 1, bias=False), nn.BatchNorm2d(o), nn.ReLU(inplace=True))


def main():
    global best_acc1
    args = parser.parse_args()
    args.distributed = int(os.environ.get("WORLD_SIZE", "1")) > 1
    args.rank = int(os.environ.get("RANK", "0"))
    if args.distributed:
        dist.init_process_group(backend="gloo", init_method="env://")
    torch.manual_seed(11)
    model = nn.Sequential(
        conv_bn(3, 16, 1),
        conv_bn(16, 32, 2),
        conv_bn(32, 32, 1),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(32, 10),
    )
    if args.distributed:
        model = torch.nn.parallel.DistributedDataParallel(model)
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), args.lr, momentum=0.9, weight_decay=1e-4)
    if args.resume:
        checkpoint = torch.load(args.resume)
        args.start_epoch, best_acc1 = checkpoint["epoch"], checkpoint["best_acc1"]
        model.load_state_dict(checkpoint["state_dict"])
        optimizer.load_state_dict(checkpoint["optimizer"])

    everything = TensorDataset(torch.randn(1160, 3, 24, 24), torch.randint(0, 10, (1160,)))
    train_dataset, val_dataset = Subset(everything, range(960)), Subset(everything, range(960, 1160))
    train_sampler = torch.utils.data.distributed.DistributedSampler(train_dataset) if args.distributed else None
    train_loader = torch.utils.data.DataLoader(
        train_dataset, batch_size=args.batch_size, sampler=train_sampler, shuffle=(train_sampler is None)
    )
    val_loader = torch.utils.data.DataLoader(val_dataset, batch_size=args.batch_size, shuffle=False)
    if args.evaluate:
        validate(val_loader, model, criterion, args)
        return

    for epoch in range(args.start_epoch, args.epochs):
        if args.distributed:
            train_sampler.set_epoch(epoch)
        for group in optimizer.param_groups:  # decayed by 10 every 30 epochs
            group["lr"] = args.lr * (0.1 ** (epoch // 30))
        train(train_loader, model, criterion, optimizer, epoch, args)
        acc1 = validate(val_loader, model, criterion, args)
        is_best, best_acc1 = acc1 > best_acc1, max(acc1, best_acc1)
        if args.rank == 0:
            state = {
                "epoch": epoch + 1,
                "state_dict": model.state_dict(),
                "best_acc1": best_acc1,
                "optimizer": optimizer.state_dict(),
            }
            torch.save(state, "checkpoint.pth.tar")
            if is_best:
                shutil.copyfile("checkpoint.pth.tar", "model_best.pth.tar")


def train(loader, model, criterion, optimizer, epoch, args):
    batch_time, data_time, losses = AverageMeter("Time"), AverageMeter("Data"), AverageMeter("Loss")
    model.train()
    end = time.time()
    for i, (images, target) in enumerate(loader):
        data_time.update(time.time() - end)
        output = model(images)
        loss = criterion(output, target)
        losses.update(loss.item(), images.size(0))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        count(images.size(0))
        batch_time.update(time.time() - end)
        end = time.time()
        if i % args.print_freq == 0:
            print(f"Epoch: [{epoch}][{i + 1}/{len(loader)}]", batch_time, data_time, losses, sep="\t")


def validate(loader, model, criterion, args):
    top1 = AverageMeter("Acc@1")
    model.eval()
    with torch.no_grad():
        for images, target in loader:
            output = model(images)
            top1.update((output.argmax(1) == target).float().mean().item() * 100, images.size(0))
    print(" *", top1)
    return top1.avg


class AverageMeter:
    """Computes and stores the average and current value"""

    def __init__(self, name):
        self.name, self.val, self.sum, self.n, self.avg = name, 0, 0, 0, 0

    def update(self, val, n=1):
        self.val, self.sum, self.n = val, self.sum + val * n, self.n + n
        self.avg = self.sum / self.n

    def __str__(self):
        return f"{self.name} {self.val:6.3f} ({self.avg:6.3f})"


if __name__ == "__main__":
    main()
