from __future__ import print_function
import argparse
import random

import torch
import torch.nn as nn
import torch.optim as optim
import torch.utils.data
from _count import count

parser = argparse.ArgumentParser()
parser.add_argument("--batch-size", type=int, default=32, help="input batch size")
parser.add_argument("--nz", type=int, default=32, help="size of the latent z vector")
parser.add_argument("--ngf", type=int, default=32)
parser.add_argument("--ndf", type=int, default=32)
parser.add_argument("--epochs", type=int, default=3, help="number of epochs to train for")
parser.add_argument("--lr", type=float, default=0.0002, help="learning rate, default=0.0002")
parser.add_argument("--beta1", type=float, default=0.5, help="beta1 for adam. default=0.5")
opt = parser.parse_args()
print(opt)

manualSeed = 999
random.seed(manualSeed)
torch.manual_seed(manualSeed)

dataset = torch.utils.data.TensorDataset(torch.rand(640, 3, 16, 16) * 2 - 1, torch.zeros(640))
dataloader = torch.utils.data.DataLoader(dataset, batch_size=opt.batch_size, shuffle=True)


def weights_init(m):
    classname = m.__class__.__name__
    if classname.find("Conv") != -1:
        torch.nn.init.normal_(m.weight, 0.0, 0.02)
    elif classname.find("BatchNorm") != -1:
        torch.nn.init.normal_(m.weight, 1.0, 0.02)
        torch.nn.init.zeros_(m.bias)


netG = nn.Sequential(
    nn.ConvTranspose2d(opt.nz, opt.ngf * 2, 4, 1, 0, bias=False),
    nn.BatchNorm2d(opt.ngf * 2),
    nn.ReLU(True),
    nn.ConvTranspose2d(opt.ngf * 2, opt.ngf, 4, 2, 1, bias=False),
    nn.BatchNorm2d(opt.ngf),
    nn.ReLU(True),
    nn.ConvTranspose2d(opt.ngf, 3, 4, 2, 1, bias=False),
    nn.Tanh(),
)
netD = nn.Sequential(
    nn.Conv2d(3, opt.ndf, 4, 2, 1, bias=False),
    nn.LeakyReLU(0.2, inplace=True),
    nn.Conv2d(opt.ndf, opt.ndf * 2, 4, 2, 1, bias=False),
    nn.BatchNorm2d(opt.ndf * 2),
    nn.LeakyReLU(0.2, inplace=True),
    nn.Conv2d(opt.ndf * 2, 1, 4, 1, 0, bias=False),
    nn.Sigmoid(),
    nn.Flatten(0),
)
netG.apply(weights_init)
netD.apply(weights_init)

criterion = nn.BCELoss()
fixed_noise = torch.randn(16, opt.nz, 1, 1)
real_label = 1.0
fake_label = 0.0

# setup optimizer
optimizerD = optim.Adam(netD.parameters(), lr=opt.lr, betas=(opt.beta1, 0.999))
optimizerG = optim.Adam(netG.parameters(), lr=opt.lr, betas=(opt.beta1, 0.999))

for epoch in range(opt.epochs):
    for i, data in enumerate(dataloader, 0):
        ############################
        # (1) Update D network: maximize log(D(x)) + log(1 - D(G(z)))
        ###########################
        # train with real
        netD.zero_grad()
        real = data[0]
        batch_size = real.size(0)
        label = torch.full((batch_size,), real_label, dtype=real.dtype)
        errD_real = criterion(netD(real), label)
        errD_real.backward()
        # train with fake
        noise = torch.randn(batch_size, opt.nz, 1, 1)
        fake = netG(noise)
        label.fill_(fake_label)
        output = netD(fake.detach())
        errD_fake = criterion(output, label)
        errD_fake.backward()
        D_G_z1 = output.mean().item()
        errD = errD_real + errD_fake
        optimizerD.step()

        ############################
        # (2) Update G network: maximize log(D(G(z)))
        ###########################
        netG.zero_grad()
        label.fill_(real_label)  # fake labels are real for generator cost
        output = netD(fake)
        errG = criterion(output, label)
        errG.backward()
        D_G_z2 = output.mean().item()
        optimizerG.step()
        count(batch_size)

        if i % 10 == 0:
            print(
                "[%d/%d][%d/%d] Loss_D: %.4f Loss_G: %.4f D(G(z)): %.4f / %.4f"
                % (epoch, opt.epochs, i, len(dataloader), errD.item(), errG.item(), D_G_z1, D_G_z2)
            )
    with torch.no_grad():
        samples = netG(fixed_noise)
    torch.save(netG.state_dict(), "netG_epoch_%d.pth" % epoch)
