"""What `backward(gradient=v)` does: the Jacobian, the weights `v`, and their product beside `.grad`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from leafgrad import errors
from leafgrad._core.tensor import TensorBase
from leafgrad._explain.backward_walk import freed_behind, pull_back
from leafgrad._explain.quantities import amount, as_list, magnitude, number, plural
from leafgrad._explain.table import Report, Table
from leafgrad.errors.form import mistake, size
from leafgrad.errors.naming import as_code, expression, expression_here, library, name_of, place_of, with_argument

MOST_ROWS = 16  # elements of the output, and
MOST_COLUMNS = 8  # of a leaf, for which the Jacobian is shown
LARGEST = 5  # elements that are shown of a larger product


class LeafProduct(NamedTuple):
    """One leaf: the Jacobian (a row for each element of the output; None if it is too large to be shown), the product
    with the weights, and what is in `.grad`."""

    name: str
    leaf: Any
    jacobian: Any
    product: Any
    comparison: str  # of `.grad` with the product

    def to_dict(self) -> dict[str, Any]:
        grad = self.leaf._grad
        return {
            "name": self.name,
            "shape": tuple(self.product.shape),
            "jacobian": None if self.jacobian is None else as_list(self.jacobian),
            "product": as_list(self.product),
            "grad": None if grad is None else as_list(grad.array),
        }


class VjpReport(Report):
    """What `vjp_report` returns. `leaves` has a LeafProduct for each leaf."""

    def __init__(self, output: Any, gradient: Any, names: tuple[str, str]) -> None:
        self.output, self.gradient = output, gradient
        self.output_name, self.gradient_name = names
        self.leaves = self._products()

    def _products(self) -> list[LeafProduct]:
        y = self.output.array
        found = pull_back(self.output, self.gradient.array.astype(y.dtype))
        small = {leaf for leaf in found if y.size <= MOST_ROWS and leaf.array.size <= MOST_COLUMNS}
        rows: list[dict[Any, Any]] = []
        if small and y.dtype.kind != "c":
            for index in range(y.size):
                unit = np.zeros(y.size, y.dtype)
                unit[index] = 1
                rows.append(pull_back(self.output, unit.reshape(y.shape)))
        leaves = []
        for i, (leaf, product) in enumerate(found.items()):
            name = as_code(name_of(leaf), "leaf" if len(found) == 1 else f"leaf {i + 1}")
            jacobian = None
            if rows and leaf in small and product.dtype.kind != "c":
                jacobian = np.stack([np.asarray(row.get(leaf, np.zeros_like(product))).ravel() for row in rows])
            leaves.append(LeafProduct(name, leaf, jacobian, np.asarray(product), compared(name, leaf, product)))
        return leaves

    def to_dict(self) -> dict[str, Any]:
        return {
            "output": self.output_name,
            "output_shape": tuple(self.output.array.shape),
            "gradient": as_list(self.gradient.array),
            "leaves": [leaf.to_dict() for leaf in self.leaves],
        }

    def parts(self) -> Iterable[str | Table]:
        yield self._first_line()
        for leaf in self.leaves:
            yield self._table(leaf) if leaf.jacobian is not None else self._largest(leaf)

    def _first_line(self) -> str:
        y, v = self.output_name, self.gradient_name
        names = ", ".join([leaf.name for leaf in self.leaves])
        sizes = ", ".join([f"{one.name} of {elements(one.product)}" for one in self.leaves])
        first = f"{y} = f({names}), {sizes}, {y} of {elements(self.output.array)}"
        return f"{first}; backward(gradient={v}) computes {v} @ J"

    def _table(self, one: LeafProduct) -> Table:
        y, v = self.output_name, self.gradient_name
        short = y.isidentifier() and one.name.isidentifier()
        columns = [f"d{y}/d{label}" if short else label for label in labels(one.name, one.product.shape)]
        table = Table("", *columns, v, "", right=[*columns, v])
        rows = zip(labels(y, self.output.array.shape), one.jacobian, self.gradient.array.ravel(), strict=True)
        for label, row, weight in rows:
            table.add(label, *[number(value) for value in row], number(weight))
        table.add(f"{v} @ J", *[number(value) for value in one.product.ravel()], "", one.comparison)
        return table

    def _largest(self, one: LeafProduct) -> Table:
        """The largest elements of a product that is too large for a table of the Jacobian."""
        v = self.gradient_name
        flat = one.product.ravel()
        order = np.argsort(-np.abs(flat), kind="stable")[:LARGEST]
        table = Table("element", f"{v} @ J", "", right=[f"{v} @ J"])
        names = labels(one.name, one.product.shape)
        for rank, index in enumerate(order):
            table.add(names[index], number(flat[index]), one.comparison if rank == 0 else "")
        rest = flat.size - len(order)
        table.below(
            f"shape {size(one.product.shape)}, norm {amount(magnitude(flat))}"
            + (f", and {plural(rest, 'other')}" if rest else "")
        )
        return table


def elements(array: Any) -> str:
    return plural(int(array.size), "element")


def labels(name: str, shape: tuple[int, ...]) -> list[str]:
    """What each element of a tensor is called: x0, x1; w[0, 1] where there are several dimensions."""
    if not shape:
        return [name]
    if len(shape) == 1 and name.isidentifier() and not name[-1].isdigit():
        return [f"{name}{i}" for i in range(shape[0])]
    return [f"{name}[{', '.join(map(str, index))}]" for index in np.ndindex(shape)]


def compared(name: str, leaf: Any, product: Any) -> str:
    """What `.grad` of a leaf has to do with the product."""
    grad = f"{name}.grad"
    if leaf._grad is None:
        return f"{grad} is None so far"
    held = leaf._grad.array
    tolerance = 1e-5 if product.dtype.itemsize < 8 else 1e-9
    scale = max(magnitude(product), np.finfo(np.float64).tiny)
    for times in range(1, 11):
        if magnitude(held - times * product) <= tolerance * times * scale:
            return f"= {grad}" if times == 1 else f"{grad} is {times} times this"
    values = f": {', '.join(map(number, held.ravel()))}" if held.size <= MOST_COLUMNS else ""
    return f"{grad} holds something else{values}"


def vjp_report(output: Any, gradient: Any = None) -> VjpReport:
    """vjp_report(output, gradient=None): what `output.backward(gradient)` does, or did, with `gradient`.

        >>> x = torch.tensor([1.0, 2.0], requires_grad=True)
        >>> y = torch.stack([2 * x[0], x[1] ** 2])
        >>> v = torch.tensor([1.0, 0.1])
        >>> leafgrad.vjp_report(y, gradient=v)
        y = f(x), x of 2 elements, y of 2 elements; backward(gradient=v) computes v @ J
        <BLANKLINE>
                dy/dx0   dy/dx1     v
        y0           2        0     1
        y1           0        4   0.1
        v @ J        2      0.4         x.grad is None so far

    Of larger tensors the largest elements of the product are shown. Neither `.grad` nor the graph changes.
    """
    if not isinstance(output, TensorBase):
        raise errors.mistake(
            TypeError,
            f"vjp_report(): output must be a tensor, not {type(output).__name__}",
            fix=f"{library()}.vjp_report(y, gradient=v)   # the tensor y whose backward() is meant",
        )
    if not output.requires_grad:  # type: ignore[attr-defined]
        raise errors.needs_graph("vjp_report(): output does not require grad", output)
    name = as_code(name_of(output), "output")
    if gradient is None:
        if output.array.size != 1:
            call = with_argument(expression_here(), f"gradient={library()}.ones_like({name})")
            raise mistake(
                RuntimeError,
                "vjp_report(): gradient can be left out only for scalar outputs",
                ("tensor", f"'{name}', shape {size(output.array.shape)}"),
                fix=f"{call}   # how much each element counts",
            )
        gradient = output.new_ones(output.array.shape)  # type: ignore[attr-defined]
    elif not isinstance(gradient, TensorBase):
        raise mistake(
            TypeError,
            f"vjp_report(): gradient must be a tensor, not {type(gradient).__name__}",
            fix=f"{library()}.vjp_report({name}, gradient={library()}.ones_like({name}))",
        )
    elif gradient.array.shape != output.array.shape:
        raise errors.gradient_mismatch(gradient, output, 0)
    refuse_freed(output, name)
    return VjpReport(output, gradient, (name, as_code(name_of(gradient), "gradient")))


def refuse_freed(output: Any, name: str) -> None:
    """Raise if a backward pass has freed what is needed, and say which."""
    freed = freed_behind(output)
    if freed is None:
        return
    call = expression(freed.code, freed.lasti)
    raise mistake(
        RuntimeError,
        f"vjp_report(): the graph behind '{name}' was freed by a backward pass",
        ("freed", place_of(freed.code, freed.lasti)),
        fix=f"{with_argument(call, 'retain_graph=True')}   # or vjp_report before it",
    )
