"""The error messages: PyTorch's type and first sentence, then what leafgrad knows and PyTorch does not say.

Below the sentence stand rows: the tensor, by its name in the user's program, and its shape; the line that recorded it
and the line of the mistake; the fix, as code.

    RuntimeError: grad can be implicitly created only for scalar outputs
      tensor    'y', shape [3]
      recorded  train.py:4   y = x * 2
      at        train.py:5   y.backward()
      fix       y.sum().backward()   # or y.mean().backward()
                y.backward(gradient=torch.ones_like(y))   # how much each element counts

Everything here runs only when something has gone wrong. The functions return the exception, raising it is the caller's:

    form.py      how a message looks
    naming.py    what the user's program calls a tensor, and which line it is at
    backward.py  starting a backward pass, graphs that were cut, freed or changed
    values.py    changes in place, conversions, arguments that do not fit together
"""

from leafgrad.errors.backward import (
    complex_root,
    function_input_changed,
    grad_of_non_leaf,
    gradient_kind,
    gradient_mismatch,
    gradient_of_wrong_shape,
    graph_was_freed,
    input_without_grad,
    needs_graph,
    no_graph,
    not_scalar,
    saved_tensor_changed,
    unused_input,
)
from leafgrad.errors.form import describe, describe_array, explain, lines, mistake, recorded, size
from leafgrad.errors.naming import as_code, here, library, name_of
from leafgrad.errors.values import (
    ASKED,
    ASSIGNED,
    C_NAMES,
    broadcast_mismatch,
    dtype_refused,
    grad_dtype,
    grad_shape,
    in_place_dtype,
    in_place_shape,
    integer_requires_grad,
    leaf_in_place,
    not_a_tensor,
    not_one_element,
    numpy_needs_detach,
    view_in_place,
)

__all__ = [
    "ASKED", "ASSIGNED", "C_NAMES", "as_code", "broadcast_mismatch", "complex_root", "describe",
    "describe_array", "dtype_refused", "explain", "function_input_changed", "grad_dtype", "grad_of_non_leaf",
    "grad_shape", "gradient_kind", "gradient_mismatch", "gradient_of_wrong_shape", "graph_was_freed", "here",
    "in_place_dtype", "in_place_shape", "input_without_grad", "integer_requires_grad", "leaf_in_place",
    "library", "lines", "mistake", "name_of", "needs_graph", "no_graph", "not_a_tensor", "not_one_element",
    "not_scalar", "numpy_needs_detach", "recorded", "saved_tensor_changed", "size", "unused_input",
    "view_in_place",
]  # fmt: skip
