import argparse
import random

import torch
from _count import count
from torch import einsum, nn
from torch.nn import functional as F
from torch.optim import Adam
from torch.utils.data import DataLoader, Dataset

# constants

GRAD_ACCUM_EVERY = 4
LEARNING_RATE = 1e-3
VALIDATE_EVERY = 20
SEQ_LEN = 64

# helpers


def exists(v):
    return v is not None


def cycle(loader):
    while True:
        for data in loader:
            yield data


# model


class Attention(nn.Module):
    def __init__(self, dim, heads=4):
        super().__init__()
        self.heads = heads
        self.norm = nn.LayerNorm(dim)
        self.to_qkv = nn.Linear(dim, dim * 3, bias=False)
        self.to_out = nn.Linear(dim, dim, bias=False)

    def forward(self, x):
        q, k, v = self.to_qkv(self.norm(x)).chunk(3, dim=-1)
        q, k, v = (t.unflatten(-1, (self.heads, -1)).transpose(1, 2) for t in (q, k, v))
        sim = einsum("b h i d, b h j d -> b h i j", q, k) * q.shape[-1] ** -0.5
        mask = torch.ones(sim.shape[-2:], dtype=torch.bool).triu(1)
        attn = sim.masked_fill(mask, -torch.finfo(sim.dtype).max).softmax(dim=-1)
        out = einsum("b h i j, b h j d -> b h i d", attn, v)
        return x + self.to_out(out.transpose(1, 2).flatten(2))


class Transformer(nn.Module):
    def __init__(self, *, num_tokens, dim, depth):
        super().__init__()
        self.emb = nn.Embedding(num_tokens, dim)
        self.layers = nn.ModuleList([])
        for _ in range(depth):
            ff = nn.Sequential(nn.LayerNorm(dim), nn.Linear(dim, dim * 4), nn.GELU(), nn.Linear(dim * 4, dim))
            self.layers.append(nn.ModuleList([Attention(dim), ff]))
        self.to_logits = nn.Linear(dim, num_tokens)

    def forward(self, x, return_loss=False):
        if return_loss:
            x, labels = x[:, :-1], x[:, 1:]
        x = self.emb(x)
        for attn, ff in self.layers:
            x = attn(x)
            x = x + ff(x)
        logits = self.to_logits(x)
        return F.cross_entropy(logits.transpose(1, 2), labels) if return_loss else logits


class TextSamplerDataset(Dataset):
    def __init__(self, data, seq_len):
        super().__init__()
        self.data = data
        self.seq_len = seq_len

    def __getitem__(self, index):
        rand_start = random.randint(0, self.data.size(0) - self.seq_len - 1)
        return self.data[rand_start : rand_start + self.seq_len + 1].long()

    def __len__(self):
        return self.data.size(0) // self.seq_len


parser = argparse.ArgumentParser()
parser.add_argument("--num-batches", type=int, default=60)
parser.add_argument("--batch-size", type=int, default=4)
args = parser.parse_args()

torch.manual_seed(0)
random.seed(0)
data = torch.randint(0, 256, (16000,), dtype=torch.uint8)
train_loader = cycle(DataLoader(TextSamplerDataset(data[:12800], SEQ_LEN), batch_size=args.batch_size))
val_loader = cycle(DataLoader(TextSamplerDataset(data[12800:], SEQ_LEN), batch_size=args.batch_size))
model = Transformer(num_tokens=256, dim=64, depth=2)
optim = Adam(model.parameters(), lr=LEARNING_RATE)

# training

for i in range(args.num_batches):
    model.train()
    for _ in range(GRAD_ACCUM_EVERY):
        batch = next(train_loader)
        loss = model(batch, return_loss=True)
        (loss / GRAD_ACCUM_EVERY).backward()
        count(len(batch), steps=0)

    torch.nn.utils.clip_grad_norm_(model.parameters(), 0.5)
    optim.step()
    optim.zero_grad()
    count()

    if i % VALIDATE_EVERY == 0:
        model.eval()
        with torch.no_grad():
            val = model(next(val_loader), return_loss=True)
        print(f"{i}: training loss {loss.item():.3f} validation loss {val.item():.3f}")
