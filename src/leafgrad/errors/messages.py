"""All error messages by name, for `from leafgrad import errors`. Imported when the first of them is needed."""

from leafgrad.errors.arguments import WrongCall, forms_of, keywords_here
from leafgrad.errors.backward import (
    complex_root,
    grad_of_non_leaf,
    gradient_kind,
    gradient_mismatch,
    gradient_of_wrong_shape,
    graph_was_freed,
    hook_changed,
    hook_returned,
    name_in_loop,
    needs_graph,
    no_graph,
    not_scalar,
    on_a_copy,
    saved_tensor_changed,
    unused_input,
)
from leafgrad.errors.form import describe, describe_array, explain, lines, mistake, recorded, size
from leafgrad.errors.naming import as_code, here, library, name_of
from leafgrad.errors.shapes import (
    broadcast_mismatch,
    dimension_range,
    expand_mismatch,
    not_sizes,
    view_needs_copy,
    wrong_count,
)
from leafgrad.errors.values import (
    C_NAMES,
    deepcopy_of_non_leaf,
    detached_view,
    flag_of_non_leaf,
    grad_dtype,
    grad_shape,
    in_place_dtype,
    in_place_shape,
    inference_changed,
    inference_requires_grad,
    inference_saved,
    integer_requires_grad,
    leaf_in_place,
    not_a_tensor,
    not_one_element,
    numpy_needs_detach,
    only_for_leaves,
    subject,
    view_in_place,
)

__all__ = [
    "inference_changed", "inference_requires_grad", "inference_saved",
    "C_NAMES", "WrongCall", "forms_of", "keywords_here", "as_code", "broadcast_mismatch",
    "complex_root", "deepcopy_of_non_leaf", "describe", "describe_array", "detached_view", "dimension_range",
    "expand_mismatch", "explain", "flag_of_non_leaf", "grad_dtype",
    "grad_of_non_leaf", "grad_shape", "gradient_kind", "gradient_mismatch", "gradient_of_wrong_shape",
    "graph_was_freed", "here", "hook_changed", "hook_returned", "in_place_dtype", "in_place_shape",
    "integer_requires_grad", "leaf_in_place", "library", "lines", "mistake", "name_in_loop", "name_of",
    "needs_graph", "no_graph", "not_a_tensor", "not_one_element", "not_scalar", "not_sizes",
    "numpy_needs_detach", "on_a_copy", "only_for_leaves", "recorded", "saved_tensor_changed", "size", "subject",
    "unused_input", "view_in_place", "view_needs_copy", "wrong_count",
]  # fmt: skip
