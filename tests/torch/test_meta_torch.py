"""Tensors without data beside PyTorch's: the same forms, printed the same way, and the same refusals. Needs PyTorch."""

from __future__ import annotations

import copy
import io
import pickle
import warnings
from typing import Any

import numpy as np
import pytest

from both_libraries import LIBRARIES

EXPRESSIONS = """
E(3, 4)
nn.Parameter(E(3, 4))
E(3, requires_grad=True) * 2
E(()).item()
E(3, 4).item()
E(3, 4).tolist()
E(3, 4).numpy()
bool(E(()))
int(E(1, dtype=torch.long))
1 in E(3)
E(3).cpu()
E(3).to("cpu", torch.float64)
torch.ones(2, 3).t().to("meta").stride()
torch.ones(2, requires_grad=True).to("meta").grad_fn.name()
E(3, 4) + torch.ones(3, 4)
torch.ones(3, 4) + E(3, 4)
torch.ones(3, 4) + E(())
E(3, 4) + torch.tensor(2.0)
E(3, 4) @ torch.ones(4, 3)
torch.cat([E(3), torch.ones(3)])
torch.cat([torch.ones(3), E(3)])
E(3, 4).add_(torch.ones(3, 4))
E(3, 4).copy_(torch.ones(3, 4))
torch.ones(3, 4).copy_(E(3, 4))
F.embedding(torch.zeros(2, dtype=torch.long), E(3, 4))
E(3, 4)[torch.tensor([0, 1])]
E(3, 4)[E(2, dtype=torch.long)]
E(3, 4)[E(3, 4) > 0]
E(3, 4).nonzero()
E(3, 4).unique()
E(3, 4).masked_select(E(3, 4) > 0)
E(3, dtype=torch.long).bincount()
torch.equal(E(3), E(3))
(E(3).is_meta, E(3).is_cpu, E(3).device, E(3).get_device(), E(3).layout)
(E(3).device == torch.device("meta"), E(3).device == torch.device("cpu"), E(3).device == "meta")
torch.empty(2, device="meta:0").device
E(2, 3, 4).transpose(0, 1).stride()
E(2, 3).t().contiguous().stride()
E(2, 3).t().view(6)
E(3).data_ptr()
E(3, 4).untyped_storage().nbytes()
E(3, 4).untyped_storage().device
E(3, 4).storage()
E(3).type()
copy.deepcopy(E(3, 4).t()).stride()
pickle.loads(pickle.dumps(nn.Parameter(E(3))))
saved(E(3), None)
saved(torch.ones(2, 3), "meta")
(E(10**6, 10**6) + 1).shape
torch.tensor([1, 2.0], device="meta")
torch.as_tensor(torch.ones(2), device="meta")
torch.full((2,), True, device="meta")
torch.randint(5, (3,), device="meta")
torch.arange(5, device="meta")
torch.eye(3, device="meta")
torch.empty_strided((2, 3), (1, 2), device="meta").stride()
torch.zeros_like(E(2), device="cpu")
E(2).new_empty(2, device="cpu").device
torch.rand_like(torch.ones(3, 2).t(), device="meta").stride()
setattr(torch.ones(3), "data", E(3))
setattr(nn.Parameter(E(3)), "data", torch.ones(3))
setattr(nn.Parameter(torch.ones(3)), "grad", E(3))
nn.Linear(3, 2, device="meta").to("cpu")
nn.Linear(3, 2, device="meta").cpu()
nn.Linear(3, 2).to("meta").double().weight
nn.utils.skip_init(nn.Linear, 3, 2).weight.shape
nn.Conv2d(3, 8, 3, stride=2, padding=1, device="meta")(E(2, 3, 9, 8)).shape
nn.ConvTranspose1d(3, 4, 3, 2, output_padding=1, device="meta")(E(2, 3, 5)).shape
nn.LSTM(3, 4, device="meta")(E(5, 2, 3))[0].shape
nn.MultiheadAttention(8, 2, device="meta")(E(5, 2, 8), E(5, 2, 8), E(5, 2, 8))[1].shape
F.cross_entropy(E(4, 5), E(4, dtype=torch.long))
F.scaled_dot_product_attention(E(2, 5, 8), E(2, 5, 8), E(2, 5, 8), attn_mask=E(5, 5, dtype=torch.bool)).shape
F.one_hot(E(3, dtype=torch.long), 4)
F.one_hot(E(3, dtype=torch.long))
torch.repeat_interleave(E(3), E(3, dtype=torch.long))
torch.multinomial(E(3, 4), 2)
[t.shape for t in torch.linalg.svd(E(3, 4))]
torch.linalg.inv(E(3, 3)).shape
torch.einsum("bij,bjk->bik", E(2, 3, 4), E(2, 4, 5)).shape
E(3, 4).max(1)
E(3, 4).sort()
E(3, 4).topk(2)
torch.nonzero_static(E(4), size=3)
E(1, 4).expand(3, 4).stride()
E(3, 4).as_strided((2, 2), (1, 2), 1).storage_offset()
E(3, 4)[1:, 2:].storage_offset()
E(2).resize_(5)
E(3).share_memory_()
torch.add(E(3), 1, out=E(3))
torch.vmap(lambda a: a.sum())(E(3, 4)).shape
torch.func.jacrev(lambda a: a * a)(E(3)).shape
torch.utils.checkpoint.checkpoint(lambda a: a * 2, E(2, requires_grad=True), use_reentrant=False)
torch.testing.assert_close(E(3), E(3))
torch.testing.assert_close(E(3), torch.ones(3))
torch.ones(3).type_as(E(3)).device
torch.distributions.Normal(E(2), E(2))
E(3).to_sparse()
E(3, dtype=torch.complex64).conj()
sum([E(3), E(3)])
1 - 2 ** E(3) // 2
in_context(lambda: torch.ones(2))
in_context(lambda: torch.get_default_device())
in_context(lambda: torch.ones_like(torch.ones(2, device="cpu")).device)
in_context(lambda: torch.Tensor([1.0]).device)
in_context(lambda: nn.BatchNorm1d(3).num_batches_tracked)
in_context(lambda: torch.from_numpy(np.ones(2)).device)
trained(nn.Linear(3, 2, device="meta"))
"""


def names(torch: Any) -> dict[str, Any]:
    """What the expressions use."""

    def saved(x: Any, map_location: Any) -> Any:
        buffer = io.BytesIO()
        torch.save(x, buffer)
        buffer.seek(0)
        return torch.load(buffer, map_location=map_location)

    def in_context(function: Any) -> Any:
        with torch.device("meta"):
            return function()

    def trained(module: Any) -> Any:
        optimizer = torch.optim.SGD(module.parameters(), lr=0.1, momentum=0.9)
        module(torch.empty(4, 3, device="meta")).sum().backward()
        optimizer.step()
        return module.weight.grad, optimizer.state_dict()["state"]

    return {
        "torch": torch, "nn": torch.nn, "F": torch.nn.functional, "np": np, "copy": copy, "pickle": pickle,
        "E": lambda *shape, **options: torch.empty(*shape, device="meta", **options),
        "saved": saved, "in_context": in_context, "trained": trained,
    }  # fmt: skip


def outcome(torch: Any, expression: str) -> tuple[str, str]:
    """What an expression prints, or its error: PyTorch's messages go on behind the first sentence."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return "prints", repr(eval(expression, names(torch)))
        except Exception as error:
            return type(error).__name__, str(error).partition("\n")[0]


@pytest.mark.parametrize("expression", EXPRESSIONS.strip().split("\n"))
def test_the_same_as_in_pytorch(expression: str) -> None:
    ours, theirs = [outcome(library, expression) for library in LIBRARIES]
    assert ours[0] == theirs[0], (ours, theirs)
    assert theirs[1].startswith(ours[1])
