"""REINFORCE with a baseline on a pole that wants to fall: returns, an entropy bonus, and a policy that learns from its
own actions."""

import argparse
import math
from collections import namedtuple

import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim
from torch.distributions import Categorical

SavedAction = namedtuple("SavedAction", ["log_prob", "value", "entropy"])


class Pole:
    """A cart with a pole on it. It ends when the pole falls or the cart runs off, or after `limit` steps."""

    gravity, length, mass, force, step_time = 9.8, 0.5, 0.1, 10.0, 0.02

    def __init__(self, seed, limit=60):
        self.generator = torch.Generator().manual_seed(seed)
        self.limit = limit

    def reset(self):
        self.state = ((torch.rand(4, generator=self.generator) - 0.5) * 0.1).tolist()
        self.steps = 0
        return torch.tensor(self.state)

    def step(self, action):
        x, speed, angle, turn = self.state
        push = self.force if action == 1 else -self.force
        total = 1.0 + self.mass
        inertia = (push + self.mass * self.length * turn**2 * math.sin(angle)) / total
        pull = self.gravity * math.sin(angle) - math.cos(angle) * inertia
        turning = pull / (self.length * (4.0 / 3.0 - self.mass * math.cos(angle) ** 2 / total))
        acceleration = inertia - self.mass * self.length * turning * math.cos(angle) / total
        dt = self.step_time
        self.state = [x + dt * speed, speed + dt * acceleration, angle + dt * turn, turn + dt * turning]
        self.steps += 1
        fallen = abs(self.state[0]) > 2.4 or abs(self.state[2]) > 12 * 2 * math.pi / 360
        return torch.tensor(self.state), 1.0, fallen or self.steps >= self.limit


class Policy(nn.Module):
    """Actor and critic share their first layer."""

    def __init__(self, hidden):
        super().__init__()
        self.affine1 = nn.Linear(4, hidden)
        self.norm = nn.LayerNorm(hidden)
        self.action_head = nn.Linear(hidden, 2)
        self.value_head = nn.Linear(hidden, 1)
        self.saved_actions = []
        self.rewards = []

    def forward(self, x):
        x = F.relu(self.norm(self.affine1(x)))
        return F.softmax(self.action_head(x), dim=-1), self.value_head(x).squeeze(-1)


def select_action(model, state):
    probs, value = model(state)
    m = Categorical(probs)
    action = m.sample()
    model.saved_actions.append(SavedAction(m.log_prob(action), value, m.entropy()))
    return action.item()


def finish_episode(model, optimizer, gamma, entropy_weight):
    """One step of gradient descent, from what an episode has brought."""
    returns, R = [], 0.0
    for r in reversed(model.rewards):
        R = r + gamma * R
        returns.insert(0, R)
    returns = torch.tensor(returns)
    returns = (returns - returns.mean()) / (returns.std() + torch.finfo(returns.dtype).eps)
    policy_losses, value_losses, entropies = [], [], []
    for (log_prob, value, entropy), R in zip(model.saved_actions, returns):
        advantage = R - value.item()
        policy_losses.append(-log_prob * advantage)
        value_losses.append(F.smooth_l1_loss(value, R))
        entropies.append(entropy)
    optimizer.zero_grad()
    loss = torch.stack(policy_losses).sum() + torch.stack(value_losses).sum()
    loss = loss - entropy_weight * torch.stack(entropies).sum()
    loss.backward()
    nn.utils.clip_grad_value_(model.parameters(), 5.0)
    optimizer.step()
    del model.rewards[:]
    del model.saved_actions[:]
    return loss.item()


@torch.no_grad()
def play_greedily(model, env):
    state, done, total = env.reset(), False, 0.0
    while not done:
        probs, _ = model(state)
        state, reward, done = env.step(int(probs.argmax()))
        total += reward
    return total


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--episodes", type=int, default=40)
    parser.add_argument("--gamma", type=float, default=0.97)
    parser.add_argument("--entropy", type=float, default=0.01)
    parser.add_argument("--hidden", type=int, default=32)
    parser.add_argument("--seed", type=int, default=543)
    args = parser.parse_args()

    torch.manual_seed(args.seed)
    env = Pole(args.seed)
    model = Policy(args.hidden)
    optimizer = optim.Adam(model.parameters(), lr=1e-2)
    running_reward = 10.0
    for episode in range(1, args.episodes + 1):
        state, done, ep_reward = env.reset(), False, 0.0
        while not done:
            action = select_action(model, state)
            state, reward, done = env.step(action)
            model.rewards.append(reward)
            ep_reward += reward
        running_reward = 0.05 * ep_reward + (1 - 0.05) * running_reward
        loss = finish_episode(model, optimizer, args.gamma, args.entropy)
        if episode % 8 == 0:
            print(f"episode {episode}: last {ep_reward:.0f}, average {running_reward:.3f}, loss {loss:.4f}")

    print(f"greedy: {[play_greedily(model, Pole(seed)) for seed in (1, 2, 3)]}")
    probs, value = model(torch.tensor([0.0, 0.0, 0.1, 0.0]))
    print(f"pole leans right: push right with {probs[1].item():.4f}, value {value.item():.4f}")


if __name__ == "__main__":
    main()
