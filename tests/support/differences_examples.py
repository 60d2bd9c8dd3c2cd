"""The examples of docs/differences.md: what each row says of PyTorch and of leafgrad, as code and result."""

from __future__ import annotations

import importlib
import re
import warnings
from pathlib import Path
from typing import Any, NamedTuple

PAGE = Path(__file__).parents[2] / "docs" / "differences.md"


class Example(NamedTuple):
    row: str
    code: str
    result: str


def rows() -> list[list[str]]:
    """The cells of the table: what, PyTorch, leafgrad, why."""
    lines = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines[1:]]


def examples(column: int) -> list[Example]:
    example = re.compile(r"`([^`]+)` → `([^`]+)`")
    return [Example(row[0], code, result) for row in rows() for code, result in example.findall(row[column])]


def outcome(torch: Any, code: str) -> str:
    """The result of an example as text, or the name of the error."""

    def entropy() -> Any:
        scores = torch.ones(1, 2, requires_grad=True)
        return torch.nn.functional.cross_entropy(scores, torch.tensor([0]))

    def changed_view() -> Any:
        y = torch.ones(2, requires_grad=True) * 1
        y[0].mul_(2)
        return y

    def real_part_of_changed() -> Any:
        z = torch.ones(2, dtype=torch.complex64, requires_grad=True) * 1
        part = z.real
        z.sin_()
        return part

    def gradient_of_var() -> Any:
        x = torch.tensor([1.0, 1.5], requires_grad=True)
        return torch.autograd.grad(x.var(dim=()), x)[0]

    def inference_tensor() -> Any:
        with torch.inference_mode():
            return torch.ones(2)

    def view_left_behind() -> Any:
        y = torch.ones(2, 2, requires_grad=True) * 1
        row = y.unbind()[0]
        y.mul_(2)
        return row

    def derivative_at_inference_tensor() -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return bool(torch.func.linearize(torch.sin, inference_tensor())[1](torch.ones(2)).any())

    def graph_after_detaching() -> Any:
        z = torch.ones(2, dtype=torch.complex64, requires_grad=True) * 1
        part = torch.view_as_real(z)
        z.detach_()
        with torch.no_grad():
            part.mul_(2)
        return part.grad_fn.name()

    def real_view_of_reshaped() -> Any:
        z = torch.ones(2, dtype=torch.complex64, requires_grad=True) * 1
        part = torch.view_as_real(z)
        z.unsqueeze_(0)
        return part.sum().backward()

    def gradient_of_squeezed() -> Any:
        y = torch.ones(1, 3, 2, requires_grad=True) * 1
        part = torch.view_as_complex(y)
        part.retain_grad()
        y.squeeze_()
        torch.view_as_real(part).sum().backward()
        return list(part.grad.shape)

    def hook_after_squeeze() -> Any:
        y, seen = torch.ones(1, 3, requires_grad=True) * 1, []
        y.register_hook(lambda g: None)
        y.squeeze_()
        y.register_hook(lambda g: seen.append(list(g.shape)))
        y.sum().backward()
        return seen[0]

    def calls_of_hook_of_two() -> Any:
        x, y, calls = torch.ones(1, requires_grad=True), torch.ones(1, requires_grad=True) * 1, []
        torch.autograd.graph.register_multi_grad_hook((x, y), calls.append)
        doubled, total = y * 2, y.sum()
        doubled.register_hook(lambda g: torch.autograd.grad(total, y) and None)
        (doubled.sum() + x.sum()).backward()
        return len(calls)

    def two_passes_through_sgn() -> Any:
        x = torch.ones(1, requires_grad=True)
        x.sgn().sum().backward()
        x.sgn().sum().backward()
        return x.grad.tolist()

    def third_derivative_of_batch_norm() -> Any:
        x = torch.tensor([1.14613], dtype=torch.float64, requires_grad=True)
        normed = torch.nn.functional.batch_norm(x * torch.tensor([[1, 2], [-1, 3]]), None, None, training=True, eps=0.1)
        derivative = normed[1] @ torch.tensor([3.0, 4.0], dtype=torch.float64)
        for _ in range(3):
            (derivative,) = torch.autograd.grad(derivative.sum(), x, create_graph=True)
        return float(f"{derivative.item():.4g}")

    def real_value_in_complex(method: str) -> Any:
        value = torch.ones(1, requires_grad=True)
        getattr(torch.zeros(2, dtype=torch.complex64), method)(value[0]).real.sum().backward()
        return value.grad.tolist()

    def gradient_of_wishart() -> Any:
        factor = torch.eye(2, requires_grad=True)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # "Singular sample detected", which is said of all
            drawn = torch.distributions.Wishart(3.0, scale_tril=factor).rsample((2,))
        drawn.sum().backward()
        return factor.grad

    def derivative_of_linearized() -> Any:
        x = torch.ones(1, requires_grad=True)
        tangent = torch.func.linearize(lambda t: t * t, x)[1](torch.ones(1))
        (g,) = torch.autograd.grad(tangent, x, allow_unused=True)
        return g if g is None else g.tolist()

    def changed_after(name: str) -> Any:
        x = torch.ones(2, 2, requires_grad=True) * 1
        zeros = torch.zeros(2, dtype=torch.int64)
        result = x.gather(1, zeros[:, None]) if name == "gather" else torch.nn.functional.cross_entropy(x, zeros)
        x.mul_(2)
        return result.sum().backward()

    def changed_after_product() -> Any:
        x, y = torch.ones(2, 2, 2, 2, requires_grad=True), torch.ones(2, 2, 2)
        product = x @ y
        y.zero_()
        return product.sum().backward()

    def derivative_of_operator() -> Any:
        library = importlib.import_module(f"{torch.__name__}.library")
        double = lambda x: x * 2
        double.__annotations__ = {"x": torch.Tensor, "return": torch.Tensor}
        op = library.custom_op("lgdifference::double", double, mutates_args=())
        op.register_autograd(lambda ctx, g: g * 2)
        return torch.func.grad(lambda x: op(x).sum())(torch.ones(1)).tolist()

    def message(program: str) -> str:
        try:
            eval(program, {"torch": torch, "inference_tensor": inference_tensor, "view_left_behind": view_left_behind})
        except Exception as error:
            return str(error)
        return ""

    def warned(program: str) -> str:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            eval(compile(program, "the line of the caller", "eval"), {"torch": torch})
        return caught[0].filename

    try:
        return repr(eval(code, {**locals()}))
    except Exception as error:
        return type(error).__name__
