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
    shapes.py    shapes that do not fit together
    values.py    changes in place, conversions, arguments
    arguments.py arguments that are not what a function takes
    functions.py autograd.Function: gradients that do not fit, saved tensors, arguments changed in place
    messages.py  the names that others use

Nothing of it is imported before that either.

May import `_core` and `_dtypes`; inside functions also `ops`, to ask the registry what an operation is called.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from leafgrad.errors.messages import *  # noqa: F403  its __all__ says which

# First sentences that callers choose before anything has gone wrong.
CREATED = "Only Tensors of floating point and complex dtype can require gradients"
ASSIGNED = "only Tensors of floating point and complex dtype can require gradients"
ASKED = "only Tensors of floating point dtype can require gradients"
AS_DATA = "data set to a tensor that requires gradients must be floating point or complex dtype"
NO_GRAD_INPUT = "One of the differentiated Tensors does not require grad"


def __getattr__(name: str) -> Any:
    from importlib import import_module

    messages = import_module("leafgrad.errors.messages")
    if name not in messages.__all__:
        raise AttributeError(f"module 'leafgrad.errors' has no attribute {name!r}")
    globals().update({known: getattr(messages, known) for known in messages.__all__})
    return getattr(messages, name)
