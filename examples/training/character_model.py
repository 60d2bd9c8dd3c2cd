"""character_model: a transformer learns to continue a short text, character by character.

python examples/training/character_model.py
"""

from data import text
from running import Progress, arguments, save_plot

import leafgrad as torch
import leafgrad.nn as nn
import leafgrad.nn.functional as F

WINDOW, WIDTH, HEADS = 48, 48, 4


class Block(nn.Module):
    """Attention to what came before, then two layers for each character by itself."""

    def __init__(self):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.attention = nn.MultiheadAttention(WIDTH, HEADS, bias=False, batch_first=True)
        self.layers = nn.Sequential(nn.Linear(WIDTH, 2 * WIDTH), nn.Tanh(), nn.Linear(2 * WIDTH, WIDTH))

    def forward(self, x):
        length = x.shape[1]
        later = torch.ones(length, length, dtype=torch.bool).triu(1)
        normal = self.norm1(x)
        x = x + self.attention(normal, normal, normal, attn_mask=later, need_weights=False)[0]
        return x + self.layers(self.norm2(x))


class CharacterModel(nn.Module):
    def __init__(self, characters):
        super().__init__()
        self.characters = nn.Parameter(0.1 * torch.randn(characters, WIDTH))
        self.places = nn.Parameter(0.1 * torch.randn(WINDOW, WIDTH))
        self.blocks = nn.Sequential(Block(), Block())
        self.norm = nn.LayerNorm(WIDTH)
        self.out = nn.Linear(WIDTH, characters)

    def forward(self, indices):
        x = F.embedding(indices, self.characters) + self.places[: indices.shape[1]]
        return self.out(self.norm(self.blocks(x)))


def train(steps, show=False):
    """The model, and its loss in each step."""
    indices, characters = text()
    model = CharacterModel(len(characters))
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3, weight_decay=0.01)
    progress = Progress(steps, show)
    for _ in progress:
        starts = torch.randint(0, len(indices) - WINDOW - 1, (16,)).tolist()
        batch = torch.stack([indices[start : start + WINDOW + 1] for start in starts])
        scores = model(batch[:, :-1])
        loss = F.cross_entropy(scores.flatten(0, 1), batch[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        progress.note(loss.item())
    return model, progress.losses


@torch.no_grad()
def continued(model, beginning, count):
    """A text that begins so; each character is drawn by its probability."""
    _, characters = text()
    indices = torch.tensor([[characters.index(character) for character in beginning]])
    for _ in range(count):
        scores = model(indices[:, -WINDOW:])[0, -1]
        drawn = torch.distributions.Categorical(logits=scores / 0.7).sample()
        indices = torch.cat([indices, drawn.reshape(1, 1)], 1)
    return "".join([characters[i] for i in indices[0].tolist()])


def main():
    given = arguments(__doc__, steps=600)
    model, losses = train(given.steps, show=True)
    print(continued(model, "The river ", 200))
    save_plot(given.plot, losses, title="characters")


if __name__ == "__main__":
    main()
