"""policy_gradient: an agent learns to balance a pole on a cart, from the rewards of what it tries (REINFORCE).

python examples/training/policy_gradient.py
"""

import math

from running import Progress, arguments, save_plot

import leafgrad as torch
import leafgrad.nn as nn
from leafgrad.distributions import Categorical

LONGEST = 200  # steps of an episode


class CartPole:
    """A cart that is pushed to the left or to the right, and a pole on a joint; many of them side by side.

    The equations of Barto, Sutton and Anderson (1983), in steps of 0.02 seconds.
    """

    GRAVITY, CART, POLE, HALF_LENGTH, FORCE, SECONDS = 9.8, 1.0, 0.1, 0.5, 10.0, 0.02

    def __init__(self, count):
        self.state = 0.1 * torch.rand(count, 4) - 0.05  # place and speed of the cart, angle and speed of the pole

    def step(self, actions):
        """Push, and tell which poles are still up."""
        _, speed, angle, turning = self.state.unbind(1)
        force = self.FORCE * (2.0 * actions - 1.0)
        sine, cosine = torch.sin(angle), torch.cos(angle)
        mass = self.CART + self.POLE
        push = (force + self.POLE * self.HALF_LENGTH * turning**2 * sine) / mass
        falling = self.GRAVITY * sine - cosine * push
        falling = falling / (self.HALF_LENGTH * (4.0 / 3.0 - self.POLE * cosine**2 / mass))
        pull = push - self.POLE * self.HALF_LENGTH * falling * cosine / mass
        changes = torch.stack([speed, pull, turning, falling], 1)
        self.state = self.state + self.SECONDS * changes
        return (self.state[:, 0].abs() < 2.4) & (self.state[:, 2].abs() < 12 * math.pi / 180)


def episodes(policy, count):
    """Log-probabilities of what was done [steps, count], and where it was done while the pole was up."""
    world, up = CartPole(count), torch.ones(count, dtype=torch.bool)
    log_probs, alive = [], []
    while len(alive) < LONGEST and up.any():
        choice = Categorical(logits=policy(world.state))
        actions = choice.sample()
        log_probs.append(choice.log_prob(actions))
        alive.append(up.float())
        up = up & world.step(actions)
    return torch.stack(log_probs), torch.stack(alive)


def train(steps, show=False):
    """The policy, and minus the mean length of its episodes in each step."""
    policy = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 2))
    optimizer = torch.optim.Adam(policy.parameters(), lr=0.01)
    progress = Progress(steps, show)
    for _ in progress:
        log_probs, alive = episodes(policy, 16)
        to_come = alive.flip(0).cumsum(0).flip(0)  # the rewards after each step: one for each step that is left
        baseline = (to_come * alive).sum(1, keepdim=True) / alive.sum(1, keepdim=True).clamp(min=1)
        advantage = (to_come - baseline) * alive
        loss = -(log_probs * advantage / (advantage.std() + 1e-6)).sum() / alive.sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        progress.note(-alive.sum(0).mean().item())
    return policy, progress.losses


def main():
    given = arguments(__doc__, steps=60)
    policy, losses = train(given.steps, show=True)
    with torch.no_grad():
        _, alive = episodes(policy, 20)
    print(f"steps that the pole stays up: {alive.sum(0).mean().item():.0f} of {LONGEST}")
    save_plot(given.plot, losses, title="minus the length of episodes")


if __name__ == "__main__":
    main()
