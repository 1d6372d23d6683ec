"""PPO in one file (after CleanRL) on a toy environment: reach a point on the plane."""

import argparse
import random
import time

import numpy as np
import torch
import torch.nn as nn
import torch.optim as optim
from _count import count
from torch.distributions.categorical import Categorical


class PointEnv:
    """Vectorised: `n` agents on the plane, four moves, reward for coming closer to the origin."""

    def __init__(self, n, seed):
        self.rng = np.random.default_rng(seed)
        self.n = n
        self.moves = np.array([[0.1, 0], [-0.1, 0], [0, 0.1], [0, -0.1]])

    def reset(self):
        self.pos = self.rng.uniform(-1, 1, (self.n, 2))
        return self.pos.copy()

    def step(self, action):
        before = np.linalg.norm(self.pos, axis=1)
        self.pos = self.pos + self.moves[action]
        after = np.linalg.norm(self.pos, axis=1)
        done = after < 0.1
        self.pos[done] = self.rng.uniform(-1, 1, (int(done.sum()), 2))
        return self.pos.copy(), before - after, done


def layer_init(layer, std=np.sqrt(2), bias_const=0.0):
    torch.nn.init.orthogonal_(layer.weight, std)
    torch.nn.init.constant_(layer.bias, bias_const)
    return layer


class Agent(nn.Module):
    def __init__(self):
        super().__init__()
        self.critic = nn.Sequential(
            layer_init(nn.Linear(2, 256)),
            nn.Tanh(),
            layer_init(nn.Linear(256, 256)),
            nn.Tanh(),
            layer_init(nn.Linear(256, 1), std=1.0),
        )
        self.actor = nn.Sequential(
            layer_init(nn.Linear(2, 256)),
            nn.Tanh(),
            layer_init(nn.Linear(256, 256)),
            nn.Tanh(),
            layer_init(nn.Linear(256, 4), std=0.01),
        )

    def get_action_and_value(self, x, action=None):
        probs = Categorical(logits=self.actor(x))
        if action is None:
            action = probs.sample()
        return action, probs.log_prob(action), probs.entropy(), self.critic(x).squeeze(-1)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--num-iterations", type=int, default=10, help="rollouts")
    parser.add_argument("--num-envs", type=int, default=16)
    parser.add_argument("--num-steps", type=int, default=32)
    parser.add_argument("--batch-size", type=int, default=128, help="the size of a minibatch")
    parser.add_argument("--update-epochs", type=int, default=4)
    args = parser.parse_args()
    random.seed(1)
    np.random.seed(1)
    torch.manual_seed(1)

    envs = PointEnv(args.num_envs, 1)
    agent = Agent()
    optimizer = optim.Adam(agent.parameters(), lr=2.5e-4, eps=1e-5)
    total = args.num_envs * args.num_steps
    start = time.time()
    next_obs = torch.tensor(envs.reset(), dtype=torch.float32)
    for iteration in range(1, args.num_iterations + 1):
        optimizer.param_groups[0]["lr"] = (1 - (iteration - 1) / args.num_iterations) * 2.5e-4
        obs, actions, logprobs, rewards, dones, values = [], [], [], [], [], []
        for _step in range(args.num_steps):
            with torch.no_grad():
                action, logprob, _, value = agent.get_action_and_value(next_obs)
            n, r, d = envs.step(action.numpy())
            for store, item in zip((obs, actions, logprobs, values), (next_obs, action, logprob, value)):
                store.append(item)
            rewards.append(torch.tensor(r, dtype=torch.float32))
            dones.append(torch.tensor(d, dtype=torch.float32))
            next_obs = torch.tensor(n, dtype=torch.float32)

        # bootstrap value if not done
        with torch.no_grad():
            ret = agent.get_action_and_value(next_obs)[3]
            returns = []
            for t in reversed(range(args.num_steps)):
                ret = rewards[t] + 0.99 * ret * (1 - dones[t])
                returns.insert(0, ret)
        b_obs, b_actions, b_logprobs = torch.cat(obs), torch.cat(actions), torch.cat(logprobs)
        b_returns, b_values = torch.cat(returns), torch.cat(values)
        b_adv = b_returns - b_values

        b_inds = np.arange(total)
        for _epoch in range(args.update_epochs):
            np.random.shuffle(b_inds)
            for s in range(0, total, args.batch_size):
                mb = b_inds[s : s + args.batch_size]
                _, newlogprob, entropy, newvalue = agent.get_action_and_value(b_obs[mb], b_actions[mb])
                ratio = (newlogprob - b_logprobs[mb]).exp()
                adv = (b_adv[mb] - b_adv[mb].mean()) / (b_adv[mb].std() + 1e-8)
                pg_loss = torch.max(-adv * ratio, -adv * torch.clamp(ratio, 0.8, 1.2)).mean()
                loss = pg_loss - 0.01 * entropy.mean() + 0.25 * ((newvalue - b_returns[mb]) ** 2).mean()
                optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(agent.parameters(), 0.5)
                optimizer.step()
                count()
        print(
            f"iteration {iteration} return {b_returns.mean():.3f} SPS {int(iteration * total / (time.time() - start))}"
        )
