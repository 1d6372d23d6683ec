# Actor and critic with an optimizer each. After every rollout the critic is fitted several times, then the actor once.
import argparse

import torch
import torch.nn.functional as F
from _count import count
from torch import nn

p = argparse.ArgumentParser()
p.add_argument("--episodes", type=int, default=30)
p.add_argument("--batch-size", type=int, default=64, help="environments side by side")
p.add_argument("--horizon", type=int, default=20)
p.add_argument("--critic-iters", type=int, default=5)
args = p.parse_args()
torch.manual_seed(543)

actor = nn.Sequential(nn.Linear(4, 128), nn.ReLU(), nn.Linear(128, 2))
critic = nn.Sequential(nn.Linear(4, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 1))
actor_opt = torch.optim.Adam(actor.parameters(), lr=3e-4)
critic_opt = torch.optim.Adam(critic.parameters(), lr=1e-3)


def env_step(state, action):
    """A pole without physics: the state decays and is pushed left or right."""
    push = (action.float() * 2 - 1).unsqueeze(1)
    state = 0.95 * state + 0.1 * push * torch.tensor([1.0, -1.0, 0.5, 0.2])
    return state, -state.pow(2).sum(1)


for ep in range(args.episodes):
    s = torch.randn(args.batch_size, 4)
    states, logps, rewards = [], [], []
    for _ in range(args.horizon):
        dist = torch.distributions.Categorical(logits=actor(s))
        a = dist.sample()
        states.append(s)
        logps.append(dist.log_prob(a))
        s, r = env_step(s, a)
        rewards.append(r)
    R, returns = torch.zeros(args.batch_size), []
    for r in reversed(rewards):
        R = r + 0.98 * R
        returns.append(R)
    returns = torch.cat(returns[::-1])
    states = torch.cat(states)

    for _ in range(args.critic_iters):
        critic_opt.zero_grad()
        v_loss = F.mse_loss(critic(states).squeeze(1), returns)
        v_loss.backward()
        critic_opt.step()
        count()

    adv = (returns - critic(states).squeeze(1)).detach()
    adv = (adv - adv.mean()) / (adv.std() + 1e-6)
    actor_opt.zero_grad()
    (-(torch.cat(logps) * adv).mean()).backward()
    actor_opt.step()
    count()
    if ep % 10 == 0:
        print("Episode {}\tReturn: {:.2f}\tCritic: {:.3f}".format(ep, returns.mean().item(), v_loss.item()))
