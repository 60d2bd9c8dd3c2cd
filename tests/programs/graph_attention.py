"""Nodes of a random graph are classified: by convolution with a sparse matrix, and by attention over its edges."""

import math

import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.parameter import Parameter

NODES, FEATURES, CLASSES = 24, 8, 3


def random_graph(generator):
    ends = torch.randint(0, NODES, (2, 60), generator=generator)
    adjacency = torch.zeros(NODES, NODES)
    adjacency[ends[0], ends[1]] = 1
    adjacency = ((adjacency + adjacency.T) > 0).float().fill_diagonal_(1)
    x = torch.randn(NODES, FEATURES, generator=generator)
    scores = adjacency @ x / adjacency.sum(1, keepdim=True)
    y = torch.bucketize(scores[:, 0].contiguous(), torch.tensor([-0.15, 0.15]))
    return adjacency, x, y


class GraphConvolution(nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.in_features, self.out_features = in_features, out_features
        self.weight = Parameter(torch.FloatTensor(in_features, out_features))
        self.bias = Parameter(torch.FloatTensor(out_features))
        bound = 1.0 / math.sqrt(out_features)
        self.weight.data.uniform_(-bound, bound)
        self.bias.data.uniform_(-bound, bound)

    def forward(self, x, adjacency):
        return torch.spmm(adjacency, torch.mm(x, self.weight)) + self.bias

    def __repr__(self):
        return f"{self.__class__.__name__} ({self.in_features} -> {self.out_features})"


class GCN(nn.Module):
    def __init__(self, hidden, dropout):
        super().__init__()
        self.first = GraphConvolution(FEATURES, hidden)
        self.second = GraphConvolution(hidden, CLASSES)
        self.dropout = dropout

    def forward(self, x, adjacency):
        x = F.relu(self.first(x, adjacency))
        x = F.dropout(x, self.dropout, training=self.training)
        return F.log_softmax(self.second(x, adjacency), dim=1)


class GAT(nn.Module):
    """Attention of each node to those that have an edge to it, with several heads."""

    def __init__(self, out_features, heads):
        super().__init__()
        self.heads, self.out_features = heads, out_features
        self.project = nn.Linear(FEATURES, heads * out_features, bias=False)
        self.attention = Parameter(torch.empty(1, heads, 2 * out_features))
        self.classify = nn.Linear(heads * out_features, CLASSES)
        nn.init.xavier_uniform_(self.attention, gain=1.414)

    def forward(self, x, edges):
        source, target = edges
        z = self.project(x).view(-1, self.heads, self.out_features)
        pairs = torch.cat([z[source], z[target]], dim=-1)
        scores = F.leaky_relu((pairs * self.attention).sum(-1), 0.2)
        where = target[:, None].expand(-1, self.heads)
        largest = torch.full((len(x), self.heads), -1e9).scatter_reduce(0, where, scores, "amax")
        weights = (scores - largest[target]).exp()
        total = torch.zeros(len(x), self.heads).index_add(0, target, weights)
        weights = weights / total[target]
        out = torch.zeros(len(x), self.heads, self.out_features)
        out = out.index_add_(0, target, weights.unsqueeze(-1) * z[source])
        return F.log_softmax(self.classify(F.elu(out.flatten(1))), dim=1), weights


def train(name, model, optimizer, forward, y, known):
    for epoch in range(1, 31):
        model.train()
        optimizer.zero_grad()
        loss = F.nll_loss(forward()[known], y[known])
        loss.backward()
        optimizer.step()
        if epoch % 10 == 0:
            model.eval()
            with torch.no_grad():
                found = forward()[~known].max(1)[1].type_as(y)
            right = found.eq(y[~known]).double().sum() / (~known).sum()
            print(f"{name} {epoch:3d} loss {loss.item():.4f} right {right.item():.4f}")


def main():
    torch.manual_seed(42)
    adjacency, x, y = random_graph(torch.Generator().manual_seed(1))
    scale = adjacency.sum(1).pow(-0.5)
    normalized = (scale[:, None] * adjacency * scale[None]).to_sparse()
    print(normalized.shape, normalized._nnz(), normalized.is_sparse, normalized.coalesce().values()[:4])
    print(torch.bincount(y, minlength=CLASSES), torch.sparse.sum(normalized, 1).to_dense()[:4])
    known = torch.arange(NODES) < 16

    gcn = GCN(8, 0.5)
    print(gcn)
    optimizer = torch.optim.Adam(gcn.parameters(), lr=0.05, weight_decay=5e-4)
    train("gcn", gcn, optimizer, lambda: gcn(x, normalized), y, known)

    gat = GAT(4, heads=2)
    edges = adjacency.nonzero(as_tuple=False).t()
    optimizer = torch.optim.RAdam(gat.parameters(), lr=0.05)
    train("gat", gat, optimizer, lambda: gat(x, edges)[0], y, known)
    weights = gat(x, edges)[1]
    print(torch.zeros(NODES).scatter_add(0, edges[1], weights[:, 0].detach())[:5])
    print(weights[:3], weights.shape)


if __name__ == "__main__":
    main()
