"""A character model: an LSTM reads a text in pieces, carries its state from piece to piece, and writes."""

import argparse
import math

import torch
import torch.nn as nn

TEXT = (
    "the fox and the crow met in the old wood. the crow had a piece of bread, and the fox had none. "
    "sing for me, said the fox, for i have heard that no bird sings as you do. "
    "the crow opened her beak to sing, and the bread fell down. the fox took the bread and ran. "
    "when the snow came, the fox met the crow again. this time the crow had nothing, and the fox had a bone. "
    "dance for me, said the crow, for i have heard that no beast dances as you do. "
) * 3


class Corpus:
    def __init__(self, text):
        self.characters = sorted(set(text))
        self.index = {c: i for i, c in enumerate(self.characters)}
        self.data = torch.tensor([self.index[c] for c in text], dtype=torch.long)

    def __len__(self):
        return len(self.characters)

    def decode(self, indices):
        return "".join(self.characters[int(i)] for i in indices)


def batchify(data, batch_size):
    """The text in columns, side by side."""
    rows = data.size(0) // batch_size
    return data.narrow(0, 0, rows * batch_size).view(batch_size, -1).t().contiguous()


def get_batch(source, i, bptt):
    length = min(bptt, len(source) - 1 - i)
    return source[i : i + length], source[i + 1 : i + 1 + length].reshape(-1)


def repackage_hidden(h):
    """Hidden states cut off from their history."""
    if isinstance(h, torch.Tensor):
        return h.detach()
    return tuple(repackage_hidden(v) for v in h)


class RNNModel(nn.Module):
    """Embedding, recurrent layers, and a decoder that may share its weights with the embedding."""

    def __init__(self, kind, tokens, width, hidden, layers, dropout=0.2, tie_weights=False):
        super().__init__()
        self.drop = nn.Dropout(dropout)
        self.encoder = nn.Embedding(tokens, width)
        self.rnn = getattr(nn, kind)(width, hidden, layers, dropout=dropout)
        self.decoder = nn.Linear(hidden, tokens)
        if tie_weights:
            if hidden != width:
                raise ValueError("When using the tied flag, nhid must be equal to emsize")
            self.decoder.weight = self.encoder.weight
        self.kind, self.hidden, self.layers = kind, hidden, layers
        self.init_weights()

    def init_weights(self):
        nn.init.uniform_(self.encoder.weight, -0.1, 0.1)
        nn.init.zeros_(self.decoder.bias)
        for name, parameter in self.rnn.named_parameters():
            if "weight_hh" in name:
                nn.init.orthogonal_(parameter)
            elif "bias_hh" in name:
                parameter.data.zero_()

    def forward(self, tokens, hidden):
        emb = self.drop(self.encoder(tokens))
        output, hidden = self.rnn(emb, hidden)
        decoded = self.decoder(self.drop(output))
        return decoded.view(-1, decoded.size(-1)), hidden

    def init_hidden(self, batch):
        weight = next(self.parameters())
        state = weight.new_zeros(self.layers, batch, self.hidden)
        return (state, state.clone()) if self.kind == "LSTM" else state


def evaluate(model, source, bptt, criterion):
    model.eval()
    total = 0.0
    hidden = model.init_hidden(source.size(1))
    with torch.no_grad():
        for i in range(0, source.size(0) - 1, bptt):
            data, targets = get_batch(source, i, bptt)
            output, hidden = model(data, hidden)
            total += len(data) * criterion(output, targets).item()
    return total / (len(source) - 1)


def generate(model, corpus, start, length, temperature=0.7):
    model.eval()
    hidden = model.init_hidden(1)
    written = [corpus.index[c] for c in start]
    with torch.no_grad():
        for c in written[:-1]:
            _, hidden = model(torch.tensor([[c]]), hidden)
        for _ in range(length):
            output, hidden = model(torch.tensor([[written[-1]]]), hidden)
            weights = output.squeeze().div(temperature).exp()
            written.append(torch.multinomial(weights, 1)[0].item())
    return corpus.decode(written)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", default="LSTM", choices=["LSTM", "GRU", "RNN"])
    parser.add_argument("--emsize", type=int, default=24)
    parser.add_argument("--nhid", type=int, default=48)
    parser.add_argument("--nlayers", type=int, default=2)
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--bptt", type=int, default=16)
    parser.add_argument("--clip", type=float, default=0.5)
    parser.add_argument("--tied", action="store_true")
    args = parser.parse_args()

    torch.manual_seed(1111)
    corpus = Corpus(TEXT)
    split = int(0.9 * len(corpus.data))
    train_data, valid_data = batchify(corpus.data[:split], 8), batchify(corpus.data[split:], 2)
    width = args.nhid if args.tied else args.emsize
    model = RNNModel(args.model, len(corpus), width, args.nhid, args.nlayers, tie_weights=args.tied)
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.RMSprop(model.parameters(), lr=5e-3)
    scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, factor=0.5, patience=0)
    print(model)

    for epoch in range(1, args.epochs + 1):
        model.train()
        hidden = model.init_hidden(train_data.size(1))
        total, batches = 0.0, 0
        for i in range(0, train_data.size(0) - 1, args.bptt):
            data, targets = get_batch(train_data, i, args.bptt)
            hidden = repackage_hidden(hidden)
            model.zero_grad()
            output, hidden = model(data, hidden)
            loss = criterion(output, targets)
            loss.backward()
            norm = torch.nn.utils.clip_grad_norm_(model.parameters(), args.clip)
            optimizer.step()
            total += loss.item()
            batches += 1
        valid = evaluate(model, valid_data, args.bptt, criterion)
        scheduler.step(valid)
        print(
            f"| epoch {epoch} | train {total / batches:.4f} | last norm {norm:.3f} "
            f"| valid {valid:.4f} | ppl {math.exp(valid):.2f}"
        )

    print(generate(model, corpus, "the fox ", 32))


if __name__ == "__main__":
    main()
