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
    source.py    single statements of the program: where something is assigned, a line with a part replaced
    dataflow.py  which statements of the program a value comes from
    resolution.py  what names in the source mean at run time
    cuts.py      where a graph was cut, the same for errors and for leafgrad.explain
    rewriting.py lines of the program as they should be
    backward.py  starting a backward pass, graphs that were cut, freed or changed
    shapes.py    shapes that do not fit together
    values.py    changes in place, conversions, arguments
    arguments.py arguments that are not what a function takes
    warning.py   warnings
    functions.py autograd.Function: gradients that do not fit, saved tensors, arguments changed in place

Nothing of it is imported before that either: `errors.name` looks for the name in these files, but for functions.py.

May import `_core` and `_dtypes`; inside functions also `ops`, to ask the registry what an operation is called.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from leafgrad.errors.arguments import *  # noqa: F403
    from leafgrad.errors.backward import *  # noqa: F403
    from leafgrad.errors.form import *  # noqa: F403
    from leafgrad.errors.naming import *  # noqa: F403
    from leafgrad.errors.shapes import *  # noqa: F403
    from leafgrad.errors.values import *  # noqa: F403
    from leafgrad.errors.warning import *  # noqa: F403

# First sentences that callers choose before anything has gone wrong.
CREATED = "Only Tensors of floating point and complex dtype can require gradients"
ASSIGNED = "only Tensors of floating point and complex dtype can require gradients"
ASKED = "only Tensors of floating point dtype can require gradients"
AS_DATA = "data set to a tensor that requires gradients must be floating point or complex dtype"
NO_GRAD_INPUT = "One of the differentiated Tensors does not require grad"


def __getattr__(name: str) -> Any:
    for file in ("form", "naming", "warning", "backward", "shapes", "values", "arguments"):
        found = getattr(import_module(f"leafgrad.errors.{file}"), name, None)
        if found is not None:
            globals()[name] = found
            return found
    raise AttributeError(f"module 'leafgrad.errors' has no attribute {name!r}")
