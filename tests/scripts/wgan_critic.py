"""WGAN-GP on 2-D mixtures: the critic learns from every batch, the generator from every n_critic-th."""

import argparse
import math

import torch
from _count import count
from torch import autograd, nn
from torch.utils.data import DataLoader, TensorDataset


def mlp(i, o, h=256):
    return nn.Sequential(nn.Linear(i, h), nn.LeakyReLU(0.2), nn.Linear(h, h), nn.LeakyReLU(0.2), nn.Linear(h, o))


def gradient_penalty(critic, real, fake):
    eps = torch.rand(len(real), 1)
    mixed = (eps * real + (1 - eps) * fake).requires_grad_(True)
    (grad,) = autograd.grad(critic(mixed).sum(), mixed, create_graph=True)
    return ((grad.norm(2, dim=1) - 1) ** 2).mean()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--batch-size", type=int, default=50)
    parser.add_argument("--n-critic", type=int, default=5, help="critic updates per generator update")
    parser.add_argument("--latent-dim", type=int, default=16)
    parser.add_argument("--lambda-gp", type=float, default=10)
    opt = parser.parse_args()

    torch.manual_seed(0)
    angle = 2 * math.pi * torch.randint(8, (1600,)) / 8
    points = torch.stack([angle.cos(), angle.sin()], 1) * 2 + 0.02 * torch.randn(1600, 2)
    dataloader = DataLoader(TensorDataset(points), batch_size=opt.batch_size, shuffle=True)

    generator = mlp(opt.latent_dim, 2)
    critic = mlp(2, 1)
    optimizer_G = torch.optim.RMSprop(generator.parameters(), lr=5e-5)
    optimizer_D = torch.optim.RMSprop(critic.parameters(), lr=5e-5)

    batches_done = 0
    for epoch in range(opt.epochs):
        for i, (real,) in enumerate(dataloader):
            optimizer_D.zero_grad()
            z = torch.randn(real.shape[0], opt.latent_dim)
            fake = generator(z).detach()
            loss_D = critic(fake).mean() - critic(real).mean()
            loss_D = loss_D + opt.lambda_gp * gradient_penalty(critic, real, fake)
            loss_D.backward()
            optimizer_D.step()

            # Train the generator every n_critic iterations
            if i % opt.n_critic == 0:
                optimizer_G.zero_grad()
                loss_G = -critic(generator(z)).mean()
                loss_G.backward()
                optimizer_G.step()
                if batches_done % 40 == 0:
                    print(f"[Epoch {epoch}] [Batch {i}] [D {loss_D.item():.3f}] [G {loss_G.item():.3f}]")
            batches_done += 1
            count(len(real))
