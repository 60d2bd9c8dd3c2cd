"""Sequence to sequence with attention: a bidirectional GRU reads packed words, a decoder with attention spells them
backward, with teacher forcing, a padding mask and beam search."""

import argparse
import random
import string

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch import optim
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence
from torch.utils.data import DataLoader, Dataset

PAD, SOS, EOS = 0, 1, 2
LETTERS = string.ascii_lowercase[:10]


class Words(Dataset):
    """Random words, and the same with their letters in reverse order."""

    def __init__(self, count, seed):
        rng = random.Random(seed)
        self.words = ["".join(rng.choices(LETTERS, k=rng.randint(2, 6))) for _ in range(count)]

    def __len__(self):
        return len(self.words)

    def __getitem__(self, index):
        word = [LETTERS.index(letter) + 3 for letter in self.words[index]]
        return torch.tensor(word), torch.tensor([SOS, *word[::-1], EOS])


def collate(batch):
    """Padded words with their lengths; targets as long as the longest."""
    sources, targets = zip(*batch)
    lengths = torch.tensor([len(s) for s in sources])
    return (
        pad_sequence(sources, batch_first=True, padding_value=PAD),
        lengths,
        pad_sequence(targets, batch_first=True, padding_value=PAD),
    )


class Encoder(nn.Module):
    def __init__(self, tokens, width, hidden, dropout):
        super().__init__()
        self.embedding = nn.Embedding(tokens, width, padding_idx=PAD)
        self.dropout = nn.Dropout(dropout)
        self.rnn = nn.GRU(width, hidden, batch_first=True, bidirectional=True)
        self.bridge = nn.Linear(2 * hidden, hidden)

    def forward(self, source, lengths):
        embedded = self.dropout(self.embedding(source))
        packed = pack_padded_sequence(embedded, lengths, batch_first=True, enforce_sorted=False)
        outputs, hidden = self.rnn(packed)
        outputs, _ = pad_packed_sequence(outputs, batch_first=True)
        hidden = torch.tanh(self.bridge(torch.cat([hidden[-2], hidden[-1]], dim=1)))
        return outputs, hidden


class BahdanauAttention(nn.Module):
    def __init__(self, query_size, key_size, hidden):
        super().__init__()
        self.Wa = nn.Linear(query_size, hidden, bias=False)
        self.Ua = nn.Linear(key_size, hidden, bias=False)
        self.Va = nn.Linear(hidden, 1, bias=False)

    def forward(self, query, keys, mask):
        scores = self.Va(torch.tanh(self.Wa(query).unsqueeze(1) + self.Ua(keys))).squeeze(2)
        scores = scores.masked_fill(mask == 0, float("-inf"))
        weights = F.softmax(scores, dim=-1)
        return torch.bmm(weights.unsqueeze(1), keys).squeeze(1), weights


class Decoder(nn.Module):
    def __init__(self, tokens, width, hidden, dropout):
        super().__init__()
        self.embedding = nn.Embedding(tokens, width, padding_idx=PAD)
        self.attention = BahdanauAttention(hidden, 2 * hidden, hidden)
        self.cell = nn.GRUCell(width + 2 * hidden, hidden)
        self.out = nn.Linear(3 * hidden + width, tokens)
        self.dropout = nn.Dropout(dropout)

    def forward(self, token, hidden, keys, mask):
        embedded = self.dropout(self.embedding(token))
        context, weights = self.attention(hidden, keys, mask)
        hidden = self.cell(torch.cat([embedded, context], dim=1), hidden)
        return self.out(torch.cat([hidden, context, embedded], dim=1)), hidden, weights


class Seq2Seq(nn.Module):
    def __init__(self, tokens, width=16, hidden=32, dropout=0.1):
        super().__init__()
        self.encoder = Encoder(tokens, width, hidden, dropout)
        self.decoder = Decoder(tokens, width, hidden, dropout)

    def forward(self, source, lengths, target, teacher_forcing):
        keys, hidden = self.encoder(source, lengths)
        mask = source != PAD
        logits, token = [], target[:, 0]
        for t in range(1, target.size(1)):
            output, hidden, _ = self.decoder(token, hidden, keys, mask)
            logits.append(output)
            token = target[:, t] if torch.rand(()).item() < teacher_forcing else output.argmax(1)
        return torch.stack(logits, dim=1)

    @torch.no_grad()
    def beam_search(self, source, beams=3, limit=9):
        """The best word for a single source."""
        keys, hidden = self.encoder(source, torch.tensor([source.size(1)]))
        alive, finished = [([SOS], 0.0, hidden)], []
        for _ in range(limit):
            candidates = []
            for tokens, score, state in alive:
                mask = torch.ones_like(source)
                logits, state, _ = self.decoder(torch.tensor([tokens[-1]]), state, keys, mask)
                values, indices = F.log_softmax(logits, dim=1).topk(beams, dim=1)
                for value, index in zip(values[0].tolist(), indices[0].tolist()):
                    candidates.append(([*tokens, index], score + value, state))
            candidates.sort(key=lambda c: c[1] / len(c[0]), reverse=True)
            finished += [c for c in candidates[:beams] if c[0][-1] == EOS]
            alive = [c for c in candidates[:beams] if c[0][-1] != EOS]
            if not alive:
                break
        tokens, score, _ = max(finished or alive, key=lambda c: c[1] / len(c[0]))
        return "".join(LETTERS[t - 3] for t in tokens[1:] if t > 2), score / len(tokens)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--words", type=int, default=320)
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--lr", type=float, default=8e-3)
    args = parser.parse_args()

    random.seed(0)
    torch.manual_seed(0)
    train = DataLoader(Words(args.words, 1), args.batch_size, shuffle=True, collate_fn=collate)
    valid = DataLoader(Words(64, 2), 64, collate_fn=collate)
    model = Seq2Seq(len(LETTERS) + 3)
    for name, param in model.named_parameters():
        if "weight" in name and param.dim() > 1:
            nn.init.xavier_normal_(param)
    optimizer = optim.Adam(model.parameters(), lr=args.lr)
    scheduler = optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.8)
    criterion = nn.CrossEntropyLoss(ignore_index=PAD)
    print(f"{sum(p.numel() for p in model.parameters())} parameters")

    for epoch in range(args.epochs):
        model.train()
        total = 0.0
        for source, lengths, target in train:
            optimizer.zero_grad()
            logits = model(source, lengths, target, teacher_forcing=0.8)
            loss = criterion(logits.flatten(0, 1), target[:, 1:].flatten())
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            total += loss.item()
        scheduler.step()
        model.eval()
        with torch.no_grad():
            source, lengths, target = next(iter(valid))
            logits = model(source, lengths, target, teacher_forcing=0.0)
            loss = criterion(logits.transpose(1, 2), target[:, 1:])
            counts = target[:, 1:] != PAD
            accuracy = ((logits.argmax(2) == target[:, 1:]) & counts).sum().item() / counts.sum().item()
        print(f"epoch {epoch}: train {total / len(train):.4f}  valid {loss.item():.4f}  letters right {accuracy:.3f}")

    for word in ("abc", "hidef"):
        spelled, score = model.beam_search(torch.tensor([[LETTERS.index(c) + 3 for c in word]]))
        print(f"{word} -> {spelled} ({score:.3f})")


if __name__ == "__main__":
    main()
